// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/lowering.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// A family of groups and the S that its collective works on.
struct Level
{
    RankGroup group;
    Bytes bytes;
};

/**
 * The group cut at the node and, if asked for, at the building, innermost first.
 *
 * A member that has reduced (or not yet gathered) level i works on its 1/n_i part at level i+1, the
 * part rounded up to whole bytes. Levels of one member are left out.
 */
std::vector<Level>
LevelsOf(Bytes bytes, const RankGroup& group, const RankLayout& layout, bool cutAtBuilding)
{
    std::vector<uint32_t> spans{layout.gpusPerNode};
    if (cutAtBuilding)
    {
        spans.push_back(layout.buildingSpan);
    }
    std::vector<Level> levels;
    RankGroup rest = group;
    const auto add = [&levels, &bytes](const RankGroup& part) {
        if (part.Size() > 1)
        {
            levels.push_back({part, bytes});
            bytes = Bytes((bytes.Count() + part.Size() - 1) / part.Size());
        }
    };
    for (const uint32_t span : spans)
    {
        if (rest.CanSplitAt(span))
        {
            const auto halves = rest.SplitAt(span);
            add(halves.inner);
            rest = halves.outer;
        }
    }
    add(rest);
    return levels;
}

void
AppendReduceScatter(const std::vector<Level>& levels, std::vector<Phase>& phases)
{
    for (const auto& level : levels)
    {
        phases.push_back({Pattern::RingReduceScatter, level.group, level.bytes});
    }
}

void
AppendAllGather(const std::vector<Level>& levels, std::vector<Phase>& phases)
{
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    {
        phases.push_back({Pattern::RingAllGather, level->group, level->bytes});
    }
}

/// Direct, or by two hops: what goes to the same position in any building is first collected on the
/// building's member in that position, so that R-1 large messages leave instead of many small ones.
void
AppendAllToAll(Bytes bytes,
               const RankGroup& group,
               const RankLayout& layout,
               bool cutAtBuilding,
               std::vector<Phase>& phases)
{
    if (cutAtBuilding && group.CanSplitAt(layout.buildingSpan))
    {
        const auto halves = group.SplitAt(layout.buildingSpan);
        for (const auto& part : {halves.inner, halves.outer})
        {
            if (part.Size() > 1)
            {
                phases.push_back({Pattern::DirectAllToAll, part, bytes});
            }
        }
        return;
    }
    if (group.Size() > 1)
    {
        phases.push_back({Pattern::DirectAllToAll, group, bytes});
    }
}

} // namespace

Collective
Lower(CollectiveOp op,
      CommClass comm,
      Bytes bytes,
      const RankGroup& group,
      const RankLayout& layout,
      CollectiveAlgorithm algorithm)
{
    const bool hierarchical = algorithm == CollectiveAlgorithm::Hierarchical;
    const auto levels = LevelsOf(bytes, group, layout, hierarchical);
    Collective collective;
    collective.comm = comm;
    switch (op)
    {
    case CollectiveOp::AllReduce:
        collective.name = "all_reduce";
        AppendReduceScatter(levels, collective.phases);
        AppendAllGather(levels, collective.phases);
        break;
    case CollectiveOp::AllGather:
        collective.name = "all_gather";
        AppendAllGather(levels, collective.phases);
        break;
    case CollectiveOp::ReduceScatter:
        collective.name = "reduce_scatter";
        AppendReduceScatter(levels, collective.phases);
        break;
    case CollectiveOp::AllToAll:
        collective.name = "all_to_all";
        AppendAllToAll(bytes, group, layout, hierarchical, collective.phases);
        break;
    case CollectiveOp::SendReceive:
        collective.name = "sendrecv";
        if (group.Size() > 1)
        {
            collective.phases.push_back({Pattern::SendToNext, group, bytes});
        }
        break;
    }
    return collective;
}

} // namespace scaleacross
