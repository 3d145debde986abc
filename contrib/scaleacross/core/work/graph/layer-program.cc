// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/layer-program.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

namespace
{

Duration
Part(Duration whole, double share)
{
    return Duration::Picoseconds(static_cast<int64_t>(static_cast<double>(whole.Ps()) * share));
}

/// Part i of n of a time; all of them add up to it.
Duration
Part(Duration whole, uint32_t i, uint32_t n)
{
    return Duration::Picoseconds(whole.Ps() * (i + 1) / n - whole.Ps() * i / n);
}

/// Bytes times a factor, rounded; a factor of 1 changes nothing.
Bytes
Scaled(Bytes bytes, double factor)
{
    return factor == 1 ? bytes : Bytes(std::llround(static_cast<double>(bytes.Count()) * factor));
}

} // namespace

HalfTime
ForwardTime(const ComputeCost& cost, double columnShare)
{
    // The weight gradient is the same two GEMMs and nothing else. What they take longer in parts
    // counts with the rest.
    const Duration matrix = std::min(cost.forward, cost.weightGradient);
    HalfTime time;
    time.column = Part(matrix, columnShare);
    time.row = matrix - time.column;
    time.rest = cost.forward - matrix;
    return time;
}

HalfTime
BackwardTime(const ComputeCost& cost, double columnShare, bool weights)
{
    const Duration input = cost.inputGradient - cost.again;
    // The two GEMMs once more, in the other order: rows first, then columns.
    const Duration matrix = std::min(input, cost.weightGradient);
    HalfTime time;
    time.column = Part(matrix, columnShare);
    time.row = matrix - time.column;
    time.rest = input - matrix;
    if (weights)
    {
        time.columnWeights = Part(cost.weightGradient, columnShare);
        time.rest += cost.weightGradient - time.columnWeights;
    }
    return time;
}

LayerProgram::LayerProgram(const JobSpec& job,
                           const RankLayout& layout,
                           const LoweringRules& rules,
                           CollectiveTable& table)
    : m_apart(job.model.IsMoe() && job.plan.ExpertsApart()),
      m_shared(job.model.sharedFfn > 0),
      m_inSteps(job.plan.asyncTensor && job.plan.tp > 1),
      m_tensor(job.plan.tp),
      m_besideScatter(job.workload.stack.overlapsTensorReduction),
      m_gathersInput(job.workload.stack.sequenceParallel &&
                     (job.workload.stack.gathersForWeights || job.plan.recompute->norms)),
      m_gathersBeside(m_inSteps || job.workload.stack.gathersForWeights)
{
    const ModelSpec& model = job.model;
    const ParallelPlan& plan = job.plan;
    const uint64_t tokens = uint64_t{job.workload.sequence} * plan.microbatch;
    const Bytes activation(2 * tokens * model.hidden / plan.cp);
    const uint64_t ownKeys = model.KvHeadsOver(plan.tp) / plan.tp;
    const Bytes keys(2 * tokens * ownKeys * (model.headDim + model.ValueDim()));
    const uint64_t columns =
        (model.heads + 2 * uint64_t{model.kvHeads}) * model.headDim; // of Q, K and V
    const Bytes joint(2 * tokens * columns / plan.cp);
    const Bytes copies = Scaled(activation * model.topK, job.workload.ExpertLoad(plan.ep));
    const Bytes combined(copies.Count() / plan.tp);
    const Bytes dispatched =
        job.workload.precision->narrowDispatch ? Bytes(combined.Count() / 2) : combined;
    const auto add = [&](CollectiveOp op, CommClass comm, Bytes bytes, const RankGroup& group) {
        return table.Add(Lower(op, comm, bytes, group, layout, rules));
    };
    const RankGroup tensor = layout.tensor;
    const RankGroup context = layout.context;
    m_gather = add(CollectiveOp::AllGather, CommClass::Tensor, activation, tensor);
    m_scatter = add(CollectiveOp::ReduceScatter, CommClass::Tensor, activation, tensor);
    m_step = m_inSteps ? add(CollectiveOp::SendReceive,
                             CommClass::Tensor,
                             Bytes(activation.Count() / plan.tp),
                             tensor)
                       : CollectiveTable::kNone;
    m_keyGather = add(CollectiveOp::AllGather, CommClass::Context, keys, context);
    m_keyScatter = add(CollectiveOp::ReduceScatter, CommClass::Context, keys, context);
    m_columnGather = m_columnScatter = CollectiveTable::kNone;
    if (model.RepeatsKvHeads(plan.tp))
    {
        m_columnGather = add(CollectiveOp::AllGather, CommClass::Tensor, joint, tensor);
        m_columnScatter = add(CollectiveOp::ReduceScatter, CommClass::Tensor, joint, tensor);
    }
    m_dispatch = m_combine = m_expertGather = m_expertScatter = CollectiveTable::kNone;
    if (m_apart)
    {
        const Bytes gathered(copies.Count() * plan.ExpertTensor() / plan.tp);
        const RankGroup& split = layout.expertTensor;
        const auto routed = [&](Bytes bytes, bool back) {
            const uint64_t element = !back && job.workload.precision->narrowDispatch ? 1 : 2;
            const RoutedTokens tokens{bytes,
                                      model.experts,
                                      model.topK,
                                      back,
                                      Bytes(element * model.hidden),
                                      model.expertGroups,
                                      model.topKGroups};
            return table.Add(LowerRouted(tokens, layout.expert, layout, rules));
        };
        m_dispatch = routed(dispatched, false);
        m_combine = routed(combined, true);
        m_expertGather = add(CollectiveOp::AllGather, CommClass::Tensor, gathered, split);
        m_expertScatter = add(CollectiveOp::ReduceScatter, CommClass::Tensor, gathered, split);
    }
}

void
LayerProgram::Post(uint32_t collective, Stream stream, Program& program) const
{
    AppendCollective(collective, stream, static_cast<uint32_t>(stream), program);
}

void
LayerProgram::Await(uint32_t collective, Stream stream, Program& program) const
{
    if (collective != CollectiveTable::kNone)
    {
        AppendWait(static_cast<uint32_t>(stream), program);
    }
}

void
LayerProgram::Block(uint32_t collective, Stream stream, Program& program) const
{
    Post(collective, stream, program);
    Await(collective, stream, program);
}

/// The gather of a half's input for the weight gradient of its first GEMM, unless every rank has
/// all of it: without sequence parallelism, or where the software keeps it.
void
LayerProgram::PostInput(Program& program) const
{
    if (m_gathersInput)
    {
        Post(m_gather, Stream::Tensor, program);
        if (!m_gathersBeside)
        {
            Await(m_gather, Stream::Tensor, program);
        }
    }
}

void
LayerProgram::AwaitInput(Program& program) const
{
    if (m_gathersInput && m_gathersBeside)
    {
        Await(m_gather, Stream::Tensor, program);
    }
}

/// The gather of S before a GEMM.
void
LayerProgram::GatherThenCompute(Duration compute, bool inSteps, Program& program) const
{
    if (!inSteps)
    {
        Block(m_gather, Stream::Tensor, program);
        AppendCompute(compute, program);
        return;
    }
    // Each step passes on what the one before it brought: it is posted when that has arrived, and
    // is under way while that part is computed.
    Post(m_step, Stream::Tensor, program);
    AppendCompute(Part(compute, 0, m_tensor), program);
    for (uint32_t i = 1; i < m_tensor; i++)
    {
        Await(m_step, Stream::Tensor, program);
        if (i + 1 < m_tensor)
        {
            Post(m_step, Stream::Tensor, program);
        }
        AppendCompute(Part(compute, i, m_tensor), program);
    }
}

/// The scatter of S after a GEMM.
void
LayerProgram::ComputeThenScatter(Duration compute, bool inSteps, Program& program) const
{
    if (!inSteps)
    {
        AppendCompute(compute, program);
        Block(m_scatter, Stream::Tensor, program);
        return;
    }
    // A part is added to what the step before it brought, and passed on.
    AppendCompute(Part(compute, 0, m_tensor), program);
    for (uint32_t i = 1; i < m_tensor; i++)
    {
        Post(m_step, Stream::Tensor, program);
        AppendCompute(Part(compute, i, m_tensor), program);
        Await(m_step, Stream::Tensor, program);
    }
}

/// The scatter of backward, beside the weight gradient of the GEMM whose input gradient it is.
void
LayerProgram::ScatterBeside(Duration weights, Program& program) const
{
    Post(m_scatter, Stream::Tensor, program);
    if (!m_besideScatter)
    {
        Await(m_scatter, Stream::Tensor, program);
        AppendCompute(weights, program);
        return;
    }
    AppendCompute(weights, program);
    Await(m_scatter, Stream::Tensor, program);
}

void
LayerProgram::AttentionForward(const HalfTime& time, bool gatherColumns, Program& program) const
{
    GatherThenCompute(time.column, m_inSteps, program);
    if (gatherColumns)
    {
        Block(m_columnGather, Stream::Tensor, program);
    }
    Block(m_keyGather, Stream::Context, program);
    AppendCompute(time.rest, program);
    ComputeThenScatter(time.row, m_inSteps, program);
}

void
LayerProgram::AttentionBackward(const HalfTime& time, bool gatherKeys, Program& program) const
{
    GatherThenCompute(time.row, m_inSteps, program);
    if (gatherKeys)
    {
        Block(m_keyGather, Stream::Context, program);
    }
    PostInput(program);
    AppendCompute(time.rest, program);
    Block(m_keyScatter, Stream::Context, program);
    Block(m_columnScatter, Stream::Tensor, program);
    AppendCompute(time.column, program);
    AwaitInput(program);
    ScatterBeside(time.columnWeights, program);
}

void
LayerProgram::MlpForward(const HalfTime& time, Program& program) const
{
    GatherThenCompute(time.column, m_inSteps, program);
    AppendCompute(time.rest, program);
    ComputeThenScatter(time.row, m_inSteps, program);
}

void
LayerProgram::MlpBackward(const HalfTime& time, Program& program) const
{
    GatherThenCompute(time.row, m_inSteps, program);
    PostInput(program);
    AppendCompute(time.rest + time.column, program);
    AwaitInput(program);
    ScatterBeside(time.columnWeights, program);
}

void
LayerProgram::MoeForward(const HalfTime& shared, Duration routed, Program& program) const
{
    Post(m_dispatch, Stream::Expert, program);
    if (m_shared)
    {
        GatherThenCompute(shared.column, m_inSteps, program);
        AppendCompute(shared.rest, program);
    }
    Await(m_dispatch, Stream::Expert, program);
    Block(m_expertGather, Stream::Tensor, program);
    AppendCompute(routed, program);
    Block(m_expertScatter, Stream::Tensor, program);
    Post(m_combine, Stream::Expert, program);
    if (m_shared)
    {
        ComputeThenScatter(shared.row, m_inSteps, program);
    }
    Await(m_combine, Stream::Expert, program);
}

void
LayerProgram::MoeBackward(const HalfTime& shared, Duration routed, Program& program) const
{
    Post(m_dispatch, Stream::Expert, program);
    if (m_shared)
    {
        GatherThenCompute(shared.row, m_inSteps, program);
        AppendCompute(shared.rest, program);
    }
    Await(m_dispatch, Stream::Expert, program);
    Block(m_expertGather, Stream::Tensor, program);
    AppendCompute(routed, program);
    Block(m_expertScatter, Stream::Tensor, program);
    Post(m_combine, Stream::Expert, program);
    if (m_shared)
    {
        PostInput(program);
        AppendCompute(shared.column, program);
        AwaitInput(program);
        ScatterBeside(shared.columnWeights, program);
    }
    Await(m_combine, Stream::Expert, program);
}

void
LayerProgram::EmbeddingForward(Duration compute, Program& program) const
{
    AppendCompute(compute, program);
    Block(m_scatter, Stream::Tensor, program);
}

void
LayerProgram::EmbeddingBackward(Duration compute, Program& program) const
{
    Block(m_gather, Stream::Tensor, program);
    AppendCompute(compute, program);
}

void
LayerProgram::HeadForward(Duration compute, Program& program) const
{
    Block(m_gather, Stream::Tensor, program);
    AppendCompute(compute, program);
}

void
LayerProgram::HeadBackward(Duration input, Duration weights, Program& program) const
{
    PostInput(program);
    AppendCompute(input, program);
    AwaitInput(program);
    ScatterBeside(weights, program);
}

} // namespace scaleacross
