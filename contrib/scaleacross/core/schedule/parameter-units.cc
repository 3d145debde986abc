// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/parameter-units.h"

namespace scaleacross
{

namespace
{

uint64_t
DivideUp(uint64_t count, uint64_t by)
{
    return (count + by - 1) / by;
}

} // namespace

std::vector<ParameterUnit>
UnitsOf(const ModelSpec& model, const ParallelPlan& plan, const StageLayers& stage)
{
    std::vector<ParameterUnit> units;
    if (stage.embedding)
    {
        units.push_back({DivideUp(model.EmbeddingParameters(), plan.tp), 0});
    }
    for (uint32_t i = 0; i < stage.count; i++)
    {
        const uint32_t layer = stage.first + i;
        const uint64_t experts = model.ExpertParametersOfLayer(layer);
        units.push_back({DivideUp(model.DenseParametersOfLayer(layer), plan.tp),
                         DivideUp(experts, uint64_t{plan.tp} * plan.ep)});
    }
    if (stage.head)
    {
        const uint64_t copy = model.tiedEmbedding && plan.pp > 1 ? model.EmbeddingParameters() : 0;
        units.push_back({DivideUp(model.HeadParameters() + copy, plan.tp), 0});
    }
    return units;
}

DataGroups
DataGroupsOf(const RankGroup& group, const RankLayout& layout)
{
    switch (layout.plan.sharding)
    {
    case Sharding::Ddp:
        return {RankGroup(), group};
    case Sharding::Fsdp:
        return {group, RankGroup()};
    case Sharding::Hsdp: {
        const auto halves = group.SplitAt(layout.buildingSpan);
        return {halves.inner, halves.outer};
    }
    }
    return {};
}

uint64_t
ShardOf(const ParameterUnit& unit, const RankLayout& layout)
{
    const uint32_t dense = DataGroupsOf(layout.dense, layout).shard.Size();
    const uint32_t expert = DataGroupsOf(layout.experts, layout).shard.Size();
    return DivideUp(unit.dense, dense) + DivideUp(unit.expert, expert);
}

} // namespace scaleacross
