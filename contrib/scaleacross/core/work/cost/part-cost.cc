// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/part-cost.h"

#include <algorithm>
#include <numeric>

namespace scaleacross
{

ComputeCost
CostOf(const PassTime& time)
{
    return {Duration::Seconds(time.forward),
            Duration::Seconds(time.inputGradient),
            Duration::Seconds(time.weightGradient),
            Duration::Seconds(time.again)};
}

PartCost::PartCost(const WorkloadSpec& workload, const ParallelPlan& plan, const GpuSpec& gpu)
    : m_kernels(gpu, workload.stack),
      m_workload(workload),
      m_stack(workload.stack),
      m_tokens(static_cast<double>(workload.sequence) * plan.microbatch / plan.cp),
      m_tp(plan.tp),
      m_cp(plan.cp),
      m_parts(plan.asyncTensor ? plan.tp : 1),
      m_sequences(plan.microbatch)
{
}

double
PartCost::Tokens() const
{
    return m_tokens;
}

double
PartCost::OwnTokens() const
{
    return m_stack.sequenceParallel ? m_tokens / m_tp : m_tokens;
}

double
PartCost::Tp() const
{
    return m_tp;
}

void
PartCost::AddLinear(double m, double n, double k, Split split, double count)
{
    AddMatrices(m, n, k, count, m_workload.precision, split);
    m_time.forward += CastOperands(count, m, n, k);
    m_time.inputGradient += Cast(count * m * n, 1);
}

void
PartCost::AddProjections(double m,
                         const std::vector<double>& outputs,
                         double k,
                         Split split,
                         double count)
{
    if (m_stack.joinedProjections)
    {
        AddLinear(m, std::accumulate(outputs.begin(), outputs.end(), 0.0), k, split, count);
        return;
    }
    for (const double n : outputs)
    {
        AddLinear(m, n, k, split, count);
    }
    const auto terms = static_cast<double>(outputs.size());
    AddElementwise(0, 0, terms > 1 ? count * m * 2 * k * (terms + 1) : 0, 1);
}

void
PartCost::AddUpProjection(double m, double n, double k)
{
    const double before = m_time.forward;
    AddLinear(m, n, k, Split::Columns);
    m_upProjections += m_time.forward - before;
}

void
PartCost::RepeatUpProjections()
{
    m_time.inputGradient += m_upProjections;
}

void
PartCost::DoAgainSince(const PassTime& before)
{
    m_time.again += m_time.forward - before.forward;
}

void
PartCost::RepeatSince(const PassTime& before)
{
    m_time.inputGradient += m_time.forward - before.forward - m_stalls;
}

void
PartCost::AddLinearBf16(double m, double n, double k)
{
    AddMatrices(m, n, k, 1, Bf16(), Split::Tokens);
}

void
PartCost::AddElementwise(double forward,
                         double forwardKernels,
                         double backward,
                         double backwardKernels)
{
    m_time.forward += m_kernels.Elementwise(forward, forwardKernels);
    m_time.inputGradient += m_kernels.Elementwise(backward, backwardKernels);
}

void
PartCost::AddCopies(double forward, double forwardKernels, double backward, double backwardKernels)
{
    m_time.forward += m_kernels.Given(forward, forwardKernels);
    m_time.inputGradient += m_kernels.Given(backward, backwardKernels);
}

void
PartCost::AddPermutation(double bytes, double kernels)
{
    m_time.forward += m_kernels.Permutation(bytes, kernels);
    m_time.inputGradient += m_kernels.Permutation(bytes, kernels);
}

void
PartCost::AddHostOfExperts(double experts, bool biases)
{
    if (m_stack.cudaGraphs->experts)
    {
        return;
    }
    const double each = m_stack.hostPerExpert.S() * (biases && !m_stack.fusesExperts ? 2 : 1);
    m_hostOfExperts += experts * each;
    if (m_workload.capacityFactor == 0)
    {
        const double stall = m_stack.routingStall.S();
        m_stalls += stall > 0 ? stall + experts * each : 0;
        m_time.forward += stall > 0 ? stall + experts * each : 0;
    }
}

void
PartCost::AddUnfusedExperts(const ModelSpec& model, double copies, double f)
{
    if (m_stack.fusesExperts)
    {
        return;
    }
    const double h = model.hidden;
    if (model.clampedMlp)
    {
        AddCopies(copies * 16 * f, 3, copies * 30 * f, 7);
    }
    if (model.mlpBias)
    {
        AddCopies(copies * 28 * h, 4, copies * 40 * h, 7);
    }
}

void
PartCost::AddLoss(double logits)
{
    const double bytes = m_stack.lossBytes * logits;
    m_time.forward += m_kernels.Given(bytes / 3, 1);
    m_time.inputGradient += m_kernels.Given(2 * bytes / 3, 1);
}

void
PartCost::AddToWeightGradient(double bytes)
{
    m_time.weightGradient += m_kernels.Elementwise(bytes, 1);
}

void
PartCost::AddNorm(double width)
{
    AddElementwise(OwnTokens() * 4 * width, 1, OwnTokens() * 6 * width, 1);
}

void
PartCost::AddResidual(double width)
{
    AddElementwise(OwnTokens() * 6 * width, 1, OwnTokens() * 6 * width, 1);
}

void
PartCost::RepeatClamps(const ModelSpec& model, double copies, double f)
{
    if (model.clampedMlp && !m_stack.fusesExperts)
    {
        AddCopies(0, 0, copies * 16 * f, 3);
    }
}

void
PartCost::Repeat(double bytes, double kernels)
{
    m_time.inputGradient += m_kernels.Elementwise(bytes, kernels);
}

void
PartCost::Repeat(const LinearLayer& linear)
{
    const double m = linear.split == Split::Tokens ? m_tokens / m_tp : m_tokens;
    const double n = linear.split == Split::Columns ? linear.out / m_tp : linear.out;
    const double k = linear.split == Split::Rows ? linear.in / m_tp : linear.in;
    m_time.inputGradient += m_kernels.Gemm(1, m, n, k, m_workload.precision);
    m_time.inputGradient += CastOperands(1, m, n, k);
}

void
PartCost::AddCore(const ModelSpec& model, uint32_t layer, double heads)
{
    const double d = model.headDim;
    const double v = model.ValueDim();
    if (m_stack.flashAttention)
    {
        const double pairs =
            model.AttentionPairs(m_workload.sequence, layer) * (m_workload.causalAttention ? 1 : 2);
        const double flops = m_sequences * pairs / m_cp * heads * 2 * (d + v);
        m_time.forward += m_kernels.FlashAttention(flops);
        m_time.inputGradient += m_kernels.FlashAttention(2.5 * flops);
        return;
    }
    const double s = m_workload.sequence;
    const double count = m_sequences * heads;
    const auto gemm = [&](double m, double n, double k) {
        return m_kernels.Gemm(count, m, n, k, Bf16());
    };
    m_time.forward += gemm(s / m_cp, s, d) + gemm(s / m_cp, v, s);
    m_time.inputGradient +=
        gemm(s / m_cp, d, s) + gemm(s, d, s / m_cp) + gemm(s / m_cp, s, v) + gemm(s, v, s / m_cp);
    const double passes = 2 * m_stack.scorePasses * count * s * s / m_cp;
    AddElementwise(passes, 2, passes, 2);
}

PassTime
PartCost::HalfLayer(const RecomputedParts& recompute, bool mlp) const
{
    PassTime time = m_time;
    const double host = HostOfHalf(m_stack.hostPerLayer);
    time.forward = std::max(time.forward, host);
    // Both gradients alike: where weight gradients are a pass of their own it is issued by
    // itself.
    const double gradients = time.inputGradient + time.weightGradient;
    const double backward = HostOfHalf(m_stack.hostPerLayerBackward);
    if (gradients > 0 && backward > gradients)
    {
        time.inputGradient *= backward / gradients;
        time.weightGradient *= backward / gradients;
    }
    if (mlp)
    {
        time.again = std::max(time.again, host);
    }
    return WithAgain(time, recompute);
}

PassTime
PartCost::PartOfHalf(const RecomputedParts& recompute) const
{
    return WithAgain(m_time, recompute);
}

void
PartCost::DoNotRepeat(const PassTime& before)
{
    m_notRepeated += m_time.forward - before.forward;
}

const PassTime&
PartCost::Time() const
{
    return m_time;
}

PassTime
PartCost::WithAgain(PassTime time, const RecomputedParts& recompute) const
{
    if (recompute.layers)
    {
        time.again = time.forward - (recompute.keepsProjections ? m_notRepeated : 0);
    }
    time.inputGradient += time.again;
    return time;
}

double
PartCost::HostOfHalf(Duration ofLayer) const
{
    return (m_stack.cudaGraphs->sameShapes ? 0 : ofLayer.S() / 2) + m_hostOfExperts;
}

double
PartCost::Cast(double elements, double kernels) const
{
    const double bytes = m_workload.precision->castBytes * elements;
    return m_kernels.Given(m_stack.castShare * bytes, kernels);
}

double
PartCost::CastOperands(double count, double m, double n, double k) const
{
    return m_stack.castsWeights ? Cast(count * (m * k + n * k), 2) : Cast(count * m * k, 1);
}

void
PartCost::AddMatrices(double m, double n, double k, double count, Precision precision, Split split)
{
    const double forward = split == Split::Tokens ? 1 : m_parts;
    const double backward = split == Split::Rows ? m_parts : 1;
    m_time.forward += forward * m_kernels.Gemm(count, m / forward, n, k, precision);
    m_time.inputGradient += backward * m_kernels.Gemm(count, m / backward, k, n, precision);
    m_time.weightGradient += m_kernels.Gemm(count, n, k, m, precision);
    m_time.weightGradient += m_kernels.Elementwise(m_stack.accumulation * count * n * k, 1);
}

} // namespace scaleacross
