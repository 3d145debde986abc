// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/collectives/parameter-units.h"

#include "core/pipeline/pipeline-shape.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

uint64_t
DivideUp(uint64_t count, uint64_t by)
{
    return (count + by - 1) / by;
}

/// The embedding, every layer and the head by itself, in order of forward.
std::vector<ParameterUnit>
PiecesOf(const JobSpec& job, const StageLayers& stage)
{
    const ModelSpec& model = job.model;
    const ParallelPlan& plan = job.plan;
    std::vector<ParameterUnit> pieces;
    if (stage.embedding)
    {
        pieces.push_back({DivideUp(model.EmbeddingParameters(), plan.tp), 0});
    }
    for (uint32_t i = 0; i < stage.count; i++)
    {
        const uint32_t layer = stage.first + i;
        const uint64_t experts = model.ExpertParametersOfLayer(layer);
        pieces.push_back({DivideUp(model.DenseParametersOfLayer(layer), plan.tp),
                          DivideUp(experts, uint64_t{plan.ExpertTensor()} * plan.ep)});
    }
    if (stage.head)
    {
        const uint64_t copy = CopiesEmbedding(job) ? model.EmbeddingParameters() : 0;
        pieces.push_back({DivideUp(model.HeadParameters() + copy, plan.tp), 0});
    }
    return pieces;
}

} // namespace

std::vector<ParameterUnit>
UnitsOf(const JobSpec& job, const StageLayers& stage)
{
    const auto pieces = PiecesOf(job, stage);
    std::vector<ParameterUnit> units;
    bool full = true;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
    {
        if (full)
        {
            units.push_back({0, 0, 0});
        }
        ParameterUnit& unit = units.back();
        unit.dense += piece->dense;
        unit.expert += piece->expert;
        unit.pieces++;
        full = Bytes((unit.dense + unit.expert) * job.workload.gradientBytes) >= job.plan.bucket;
    }
    std::reverse(units.begin(), units.end());
    return units;
}

bool
CopiesEmbedding(const JobSpec& job)
{
    PipelineShape shape;
    shape.schedule = job.plan.schedule;
    shape.ranks = job.plan.pp;
    shape.chunks = job.plan.chunks;
    return (job.model.tiedEmbedding || job.model.mtpLayers > 0) &&
           RankOf(shape, 0) != RankOf(shape, Positions(shape) - 1);
}

DataGroups
DataGroupsOf(const RankGroup& group, const RankLayout& layout)
{
    const ShardingFacts& sharding = *layout.plan.sharding;
    if (!sharding.optimizer)
    {
        return {RankGroup(), group};
    }
    if (!sharding.insideBuildings)
    {
        return {group, RankGroup()};
    }
    const auto halves = group.SplitAt(layout.ShardSpan());
    return {halves.inner, halves.outer};
}

ShardSizes
ShardSizesOf(const RankLayout& layout)
{
    return {DataGroupsOf(layout.dense, layout).shard.Size(),
            DataGroupsOf(layout.experts, layout).shard.Size()};
}

uint64_t
ShardOf(const ParameterUnit& unit, const ShardSizes& shards)
{
    return DivideUp(unit.dense, shards.dense) + DivideUp(unit.expert, shards.expert);
}

Bytes
TiedGradients(const JobSpec& job, const RankLayout& layout)
{
    if (!CopiesEmbedding(job))
    {
        return {};
    }
    const uint32_t shards = DataGroupsOf(layout.dense, layout).shard.Size();
    const uint64_t held = DivideUp(job.model.EmbeddingParameters(), job.plan.tp);
    return Bytes(DivideUp(held, shards) * job.workload.gradientBytes);
}

} // namespace scaleacross
