// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARAMETER_UNITS_H
#define SCALEACROSS_PARAMETER_UNITS_H

#include "core/program/rank-group.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/partition/layer-split.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Bytes of a parameter in BF16, as it is stored and gathered.
constexpr uint32_t kParameterBytes = 2;

/**
 * What data parallelism gathers and reduces as one: neighbouring pieces of a virtual stage, which
 * are the embedding, single layers and the output head.
 *
 * Counts of parameters held by one rank, split by tp, routed experts by etp and ep, rounded up,
 * before any data-parallel sharding. Dense parameters belong to RankLayout::dense, routed experts
 * to RankLayout::experts, so a unit with experts has a collective for each.
 */
struct ParameterUnit
{
    uint64_t dense{0};
    uint64_t expert{0};
    uint32_t pieces{1}; //!< embedding, layers and head that it is made of
};

/**
 * The units of one virtual stage in the order of its forward pass.
 *
 * Every piece is a unit if ParallelPlan::bucket is 0. Else pieces are joined in the order of
 * backward, in which their gradients are done, until a unit has that many bytes of gradients; a
 * piece that has more is not cut.
 *
 * Worked case: eight layers of 100 MB of gradients and a bucket of 250 MB: units of 2, 3 and 3
 * layers, of which the last three are reduced first.
 *
 * An embedding that the head shares, or modules of multi-token prediction, is part of the head as
 * well where another rank holds that (CopiesEmbedding()).
 */
std::vector<ParameterUnit> UnitsOf(const JobSpec& job, const StageLayers& stage);

/// Whether the embedding is held twice: by the rank of the first virtual stage and by another,
/// which has the last, with a tied head or modules of multi-token prediction.
bool CopiesEmbedding(const JobSpec& job);

/// How a data-parallel group shares parameters: sharded over `shard`, repeated over `replicas`.
struct DataGroups
{
    RankGroup shard;
    RankGroup replicas;
};

/// DDP: no shards. ZeRO, FSDP: shards over the whole group. HSDP: shards within a block of
/// RankLayout::ShardSpan() ranks (a building, where all are equal), replicas across blocks.
DataGroups DataGroupsOf(const RankGroup& group, const RankLayout& layout);

/// Ranks that share parameters, of either kind.
struct ShardSizes
{
    uint32_t dense{1};
    uint32_t expert{1};
};

ShardSizes ShardSizesOf(const RankLayout& layout);

/// Parameters of a unit at rest on one rank, after data-parallel sharding, rounded up.
uint64_t ShardOf(const ParameterUnit& unit, const ShardSizes& shards);

/**
 * Gradients of a tied embedding that each of its two holders, first and last stage, sends to the
 * other once per iteration, after both have been reduced over data parallelism and before the
 * optimizer: those that a rank steps on. All of them, V h / tp, with DDP, else its shard of the
 * dense data-parallel group; 0 where there is no copy.
 */
Bytes TiedGradients(const JobSpec& job, const RankLayout& layout);

} // namespace scaleacross

#endif // SCALEACROSS_PARAMETER_UNITS_H
