// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/gradient-norm.h"

#include "core/work/collectives/lowering.h"

namespace scaleacross
{

namespace
{

constexpr Bytes g_number{4}; //!< FP32

/// Over a family of groups; every part of the buffer is one number.
Collective
SumOver(const RankGroup& group, const RankLayout& layout)
{
    return Lower(CollectiveOp::AllReduce,
                 CommClass::Data,
                 g_number * group.Size(),
                 group,
                 layout,
                 CollectiveAlgorithm("halving-doubling"));
}

} // namespace

GradientNorm::GradientNorm(const RankLayout& layout,
                           uint32_t message,
                           uint32_t handle,
                           CollectiveTable& table)
    : m_pipeline(layout.pipeline),
      m_message(message),
      m_handle(handle),
      m_collective(table.Add(Joined(SumOver(layout.tensor, layout), SumOver(layout.dense, layout))))
{
}

void
GradientNorm::AppendMessage(OpKind kind,
                            Rank rank,
                            uint32_t peer,
                            uint32_t message,
                            Program& program) const
{
    Op op;
    op.kind = kind;
    op.index = m_message + message;
    op.peer = static_cast<int32_t>(int64_t{m_pipeline.Member(rank, peer)} - rank);
    op.bytes = g_number;
    program.ops.push_back(op);
}

void
GradientNorm::Append(Rank rank, Program& program) const
{
    if (m_collective != CollectiveTable::kNone)
    {
        AppendCollective(m_collective, Stream::Reduce, m_handle, program);
        AppendWait(m_handle, program);
    }
    // An edge of the tree is known by its lower end: message 2 (stage - 1) goes up it, the next one
    // comes down.
    const uint32_t stages = m_pipeline.Size();
    const uint32_t stage = m_pipeline.IndexOf(rank);
    uint32_t reach = 1; // children are 1, 2, 4, ... stages further on, below `reach`
    for (; reach < stages && (stage & reach) == 0; reach *= 2)
    {
        if (stage + reach < stages)
        {
            const uint32_t child = stage + reach;
            AppendMessage(OpKind::Receive, rank, child, 2 * (child - 1), program);
        }
    }
    if (stage > 0)
    {
        AppendMessage(OpKind::Send, rank, stage - reach, 2 * (stage - 1), program);
        AppendMessage(OpKind::Receive, rank, stage - reach, 2 * (stage - 1) + 1, program);
    }
    while (reach > 1)
    {
        reach /= 2;
        if (stage + reach < stages)
        {
            const uint32_t child = stage + reach;
            AppendMessage(OpKind::Send, rank, child, 2 * (child - 1) + 1, program);
        }
    }
}

} // namespace scaleacross
