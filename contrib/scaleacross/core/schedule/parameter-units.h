// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARAMETER_UNITS_H
#define SCALEACROSS_PARAMETER_UNITS_H

#include "core/program/rank-group.h"
#include "core/schedule/layer-split.h"
#include "core/spec/model-spec.h"
#include "core/topology/rank-layout.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Bytes of a parameter in BF16, as it is stored and gathered.
constexpr uint32_t kParameterBytes = 2;

/**
 * What data parallelism gathers and reduces as one: the embedding, one layer or the output head.
 *
 * Counts of parameters held by one rank, split by tp and (routed experts) by ep, rounded up, before
 * any data-parallel sharding. Dense parameters belong to RankLayout::dense, routed
 * experts to experts, so a MoE layer has a collective for each.
 */
struct ParameterUnit
{
    uint64_t dense{0};
    uint64_t expert{0};
};

/**
 * The units of one virtual stage in the order of its forward pass.
 *
 * With a tied embedding and pp > 1 the last stage holds a copy of the embedding as part of its
 * head. The sum of both copies' gradients, one all-reduce of V h between first and last stage per
 * iteration, is left out.
 */
std::vector<ParameterUnit> UnitsOf(const ModelSpec& model,
                                   const ParallelPlan& plan,
                                   const StageLayers& stage);

/// How a data-parallel group shares parameters: sharded over `shard`, repeated over `replicas`.
struct DataGroups
{
    RankGroup shard;
    RankGroup replicas;
};

/// DDP: no shards. FSDP: shards over the whole group. HSDP: shards within a block of
/// RankLayout::buildingSpan ranks (a building, where all are equal), replicas across blocks.
DataGroups DataGroupsOf(const RankGroup& group, const RankLayout& layout);

/// Parameters of a unit at rest on one rank, after data-parallel sharding, rounded up.
uint64_t ShardOf(const ParameterUnit& unit, const RankLayout& layout);

} // namespace scaleacross

#endif // SCALEACROSS_PARAMETER_UNITS_H
