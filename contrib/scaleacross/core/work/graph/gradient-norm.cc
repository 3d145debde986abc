// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/gradient-norm.h"

#include "core/work/collectives/lowering.h"

#include <algorithm>
#include <vector>

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

/// Over the ranks of a stage that have different gradients when these have been reduced: over one
/// family of groups after the other.
std::vector<RankGroup>
FamiliesOf(const RankLayout& layout)
{
    if (layout.plan.sharding->optimizer)
    {
        return {layout.tensor, layout.dense};
    }
    return layout.plan.FoldsExperts()
               ? std::vector<RankGroup>{layout.tensor, layout.expertTensor, layout.expert}
               : std::vector<RankGroup>{layout.tensor, layout.expert};
}

} // namespace

GradientNorm::GradientNorm(const RankLayout& layout,
                           uint32_t message,
                           uint32_t handle,
                           bool rendezvous,
                           CollectiveTable& table)
    : m_pipeline(layout.pipeline),
      m_rendezvous(rendezvous),
      m_message(message),
      m_handle(handle)
{
    for (const RankGroup& family : FamiliesOf(layout))
    {
        m_collectives.push_back(table.Add(SumOver(family, layout)));
    }
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
    // An edge of the tree is known by its lower end: message 2 (stage - 1) goes up it, the next one
    // comes down.
    const auto up = [](uint32_t lower) { return 2 * (lower - 1); };
    const auto down = [](uint32_t lower) { return 2 * (lower - 1) + 1; };
    const uint32_t stages = m_pipeline.Size();
    const uint32_t stage = m_pipeline.IndexOf(rank);
    std::vector<uint32_t> children; // 1, 2, 4, ... stages further on, below the stage's lowest bit
    uint32_t reach = 1;
    for (; reach < stages && (stage & reach) == 0; reach *= 2)
    {
        if (stage + reach < stages)
        {
            children.push_back(stage + reach);
        }
    }
    const uint32_t parent = stage - (stage > 0 ? reach : 0);
    const auto append = [&](OpKind kind, uint32_t peer, uint32_t message) {
        AppendMessage(kind, rank, peer, message, program);
    };
    if (m_rendezvous)
    {
        // The kernel that adds up is there before any of the numbers.
        for (const uint32_t child : children)
        {
            append(OpKind::PostReceive, child, up(child));
        }
        if (stage > 0)
        {
            append(OpKind::PostReceive, parent, down(stage));
        }
    }
    for (const uint32_t collective : m_collectives)
    {
        AppendCollective(collective, Stream::Reduce, m_handle, program);
    }
    AppendWait(m_handle, program);
    for (const uint32_t child : children)
    {
        append(OpKind::Receive, child, up(child));
    }
    if (stage > 0)
    {
        append(OpKind::Send, parent, up(stage));
        append(OpKind::Receive, parent, down(stage));
    }
    std::for_each(children.rbegin(), children.rend(), [&](uint32_t child) {
        append(OpKind::Send, child, down(child));
    });
}

} // namespace scaleacross
