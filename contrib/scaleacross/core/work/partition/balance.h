// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BALANCE_H
#define SCALEACROSS_BALANCE_H

#include "core/base/errors.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/partition/layer-split.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * The layers of every virtual stage. Given, or apportion: even: SplitLayers(). apportion: time: the
 * consecutive parts whose slowest takes least time to compute a microbatch forward and backward,
 * each on the slowest accelerator of the buildings that hold it; embedding and head count. With
 * chunks, those of which the slowest rank has least in all (PartitionOverRanks()).
 * Communication does not. Embedding and head as layers: the first, or last, may have nothing else.
 * Empty where CheckLayers() refuses.
 *
 * Worked case: 126 equal layers on two stages, the second in a building whose accelerators are half
 * as fast: 84 and 42.
 */
std::vector<StageLayers> LayersOf(const Scenario& scenario, const RankLayout& layout);

/**
 * Microbatches of a replica, by building. apportion: even: globalBatch / (dp x microbatch).
 * apportion: time, where buildings hold whole replicas: as many as make the greatest (m + p - 1)
 * t least, t the time of the slowest stage there for one microbatch, such that all replicas
 * together have the global batch. A building that takes no part in data parallelism across has what
 * the others have.
 *
 * Infeasible: "batch" if no numbers add up to the global batch, "schedule" if the schedule has no
 * order for them; "balance" if replicas would differ that gather or reduce for every microbatch
 * together.
 *
 * Worked case: 96 sequences, microbatch 1, p = 1, one replica in each of two buildings of which one
 * is half as fast: 64 and 32.
 */
std::variant<std::vector<uint32_t>, Infeasible> MicrobatchesOf(const Scenario& scenario,
                                                               const RankLayout& layout);

} // namespace scaleacross

#endif // SCALEACROSS_BALANCE_H
