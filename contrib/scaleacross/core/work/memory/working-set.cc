// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/memory/working-set.h"

#include "core/work/cost/linear-layers.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

/// A: an activation of a token of a rank, or, without sequence parallelism, of every token of its
/// group.
double
ActivationBytes(const JobSpec& job)
{
    return 2.0 * job.model.hidden * (job.workload.stack.sequenceParallel ? 1 : job.plan.tp);
}

/// Gathered input, and an output or input gradient that is not reduced yet.
double
Gathered(const JobSpec& job)
{
    return job.plan.tp > 1 ? 2.0 * job.plan.tp * 2 * job.model.hidden : 0;
}

/// The columns of Q, K and V of all tokens, where KV heads are repeated: as they are gathered and
/// in order of the heads, or in backward their gradient and the same in order of the ranks.
double
GatheredColumns(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const double columns = (model.heads + 2.0 * model.kvHeads) * model.headDim;
    return model.RepeatsKvHeads(job.plan.tp) ? 2 * 2.0 * job.plan.tp * columns : 0;
}

double
OfAttention(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const double keys =
        static_cast<double>(model.KvHeadsOver(job.plan.tp)) * (model.headDim + model.ValueDim());
    const double context = job.plan.cp > 1 ? 4.0 * job.plan.cp * keys : 0;
    return context + std::max(Gathered(job), GatheredColumns(job));
}

/// Of an MLP of this width, of which the ranks of tp have a part each.
double
OfMlp(const JobSpec& job, double width)
{
    const double a = ActivationBytes(job);
    const double gathered = job.plan.tp > 1 ? 2.0 * job.plan.tp * job.model.hidden : 0;
    return a + std::max({(job.model.gatedMlp ? 4 : 2) * width,
                         gathered + 2 * width,
                         Gathered(job) - job.workload.precision->operandBytes * width});
}

double
OfExperts(const JobSpec& job)
{
    const ParallelPlan& plan = job.plan;
    const double a = 2.0 * job.model.hidden;
    const double copies = job.model.topK * job.workload.ExpertLoad(plan.ep);
    double bytes = 2 * a;
    if (plan.ep > 1)
    {
        // Half of them are on the way there, half on the way back.
        const double there = job.workload.precision->narrowDispatch ? 0.5 : 1;
        bytes += copies * a * job.workload.stack.dispatchCopies * (there + 1) / 2;
    }
    if (plan.ExpertsApart() && plan.ExpertTensor() > 1)
    {
        bytes += copies * a * plan.ExpertTensor();
    }
    const double backward =
        a + (job.model.gatedMlp ? 4 : 2) * copies * static_cast<double>(job.model.expertFfn);
    return std::max(bytes, backward);
}

double
OfLayer(const JobSpec& job, uint32_t layer)
{
    const ModelSpec& model = job.model;
    const bool moe = model.IsMoeLayer(layer);
    const auto width = static_cast<double>(moe ? model.sharedFfn : model.denseFfn);
    return std::max(
        {OfAttention(job), width > 0 ? OfMlp(job, width) : 0, moe ? OfExperts(job) : 0});
}

} // namespace

WorkingSet
WorkingSetOf(const Scenario& scenario, const std::vector<StageLayers>& chunks)
{
    const JobSpec& job = scenario.Job();
    const double a = ActivationBytes(job);
    WorkingSet set;
    for (const auto& chunk : chunks)
    {
        for (uint32_t i = 0; i < chunk.count; i++)
        {
            set.layers = std::max(set.layers, OfLayer(job, chunk.first + i));
        }
        if (chunk.head)
        {
            set.head = std::max(a, Gathered(job)) +
                       job.workload.stack.lossBuffer * static_cast<double>(job.model.vocabulary);
        }
    }
    return set;
}

Bytes
StandInsOf(const Scenario& scenario, const std::vector<StageLayers>& chunks)
{
    const JobSpec& job = scenario.Job();
    const ModelSpec& model = job.model;
    if (!job.workload.stack.gradientStandIns)
    {
        return Bytes(0);
    }
    const double tp = job.plan.tp;
    std::set<std::pair<double, double>> shapes; // inputs and outputs
    const auto add = [&shapes](const LinearLayer& linear, double split) {
        const bool columns = linear.split == LinearLayer::Split::Columns;
        const bool rows = linear.split == LinearLayer::Split::Rows;
        shapes.insert({linear.in / (rows ? split : 1), linear.out / (columns ? split : 1)});
    };
    for (const auto& chunk : chunks)
    {
        for (uint32_t i = 0; i < chunk.count; i++)
        {
            const uint32_t layer = chunk.first + i;
            for (const auto& linear : JoinedLinears(model, layer))
            {
                add(linear, tp);
            }
            if (model.IsMoeLayer(layer))
            {
                const double h = model.hidden;
                const auto f = static_cast<double>(model.expertFfn);
                const double etp = job.plan.ExpertTensor();
                add({h, (model.gatedMlp ? 2 : 1) * f, LinearLayer::Split::Columns}, etp);
                add({f, h, LinearLayer::Split::Rows}, etp);
            }
        }
        if (chunk.head)
        {
            add({static_cast<double>(model.hidden),
                 static_cast<double>(model.vocabulary),
                 LinearLayer::Split::Columns},
                tp);
        }
    }
    double elements = 0;
    for (const auto& [in, out] : shapes)
    {
        elements += in * out;
    }
    return Bytes(2 * static_cast<uint64_t>(elements));
}

} // namespace scaleacross
