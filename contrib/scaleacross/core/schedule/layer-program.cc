// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/layer-program.h"

#include <cmath>

namespace scaleacross
{

namespace
{

/// Bytes times a factor, rounded; a factor of 1 changes nothing.
Bytes
Scaled(Bytes bytes, double factor)
{
    return factor == 1 ? bytes : Bytes(std::llround(static_cast<double>(bytes.Count()) * factor));
}

} // namespace

LayerProgram::LayerProgram(const JobSpec& job,
                           const RankLayout& layout,
                           CollectiveAlgorithm algorithm,
                           CollectiveTable& table)
    : m_shared(job.model.sharedFfn > 0)
{
    const ModelSpec& model = job.model;
    const ParallelPlan& plan = job.plan;
    const uint64_t tokens = uint64_t{job.workload.sequence} * plan.microbatch;
    const Bytes activation(2 * tokens * model.hidden / plan.cp);
    const Bytes keys(2 * tokens * model.kvHeads * (model.headDim + model.ValueDim()) / plan.tp);
    const Bytes routed = Scaled(activation * model.topK, job.workload.expertImbalance);
    const Bytes combined(routed.Count() / plan.tp);
    const bool fp8 = job.workload.precision == Precision::Fp8;
    const Bytes dispatched = fp8 ? Bytes(combined.Count() / 2) : combined;
    const auto add = [&](CollectiveOp op, CommClass comm, Bytes bytes, const RankGroup& group) {
        return table.Add(Lower(op, comm, bytes, group, layout, algorithm));
    };
    const RankGroup tensor = layout.tensor;
    const RankGroup context = layout.context;
    m_gather = add(CollectiveOp::AllGather, CommClass::Tensor, activation, tensor);
    m_scatter = add(CollectiveOp::ReduceScatter, CommClass::Tensor, activation, tensor);
    m_keyGather = add(CollectiveOp::AllGather, CommClass::Context, keys, context);
    m_keyScatter = add(CollectiveOp::ReduceScatter, CommClass::Context, keys, context);
    m_dispatch = m_combine = m_expertGather = m_expertScatter = CollectiveTable::kNone;
    if (model.IsMoe() && plan.ep > 1)
    {
        m_dispatch = add(CollectiveOp::AllToAll, CommClass::Expert, dispatched, layout.expert);
        m_combine = add(CollectiveOp::AllToAll, CommClass::Expert, combined, layout.expert);
        m_expertGather = add(CollectiveOp::AllGather, CommClass::Tensor, routed, tensor);
        m_expertScatter = add(CollectiveOp::ReduceScatter, CommClass::Tensor, routed, tensor);
    }
}

void
LayerProgram::Append(uint32_t collective, Program& program) const
{
    if (collective != CollectiveTable::kNone)
    {
        AppendCollective(collective, Stream::Inline, kHandle, program);
        AppendWait(kHandle, program);
    }
}

void
LayerProgram::Attention(Duration compute, bool gatherKeys, bool scatterKeys, Program& program) const
{
    Append(m_gather, program);
    if (gatherKeys)
    {
        Append(m_keyGather, program);
    }
    AppendCompute(compute, program);
    if (scatterKeys)
    {
        Append(m_keyScatter, program);
    }
    Append(m_scatter, program);
}

void
LayerProgram::Mlp(bool moe, Duration compute, Program& program) const
{
    const bool dispatches = moe && m_dispatch != CollectiveTable::kNone;
    const bool whole = !dispatches || m_shared; // something works on the gathered sequence
    if (whole)
    {
        Append(m_gather, program);
    }
    if (dispatches)
    {
        Append(m_dispatch, program);
        Append(m_expertGather, program);
    }
    AppendCompute(compute, program);
    if (dispatches)
    {
        Append(m_expertScatter, program);
        Append(m_combine, program);
    }
    if (whole)
    {
        Append(m_scatter, program);
    }
}

void
LayerProgram::EmbeddingForward(Duration compute, Program& program) const
{
    AppendCompute(compute, program);
    Append(m_scatter, program);
}

void
LayerProgram::EmbeddingBackward(Duration compute, Program& program) const
{
    Append(m_gather, program);
    AppendCompute(compute, program);
}

void
LayerProgram::HeadForward(Duration compute, Program& program) const
{
    Append(m_gather, program);
    AppendCompute(compute, program);
}

void
LayerProgram::HeadBackward(Duration compute, Program& program) const
{
    AppendCompute(compute, program);
    Append(m_scatter, program);
}

} // namespace scaleacross
