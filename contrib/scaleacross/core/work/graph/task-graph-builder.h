// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TASK_GRAPH_BUILDER_H
#define SCALEACROSS_TASK_GRAPH_BUILDER_H

#include "core/base/errors.h"
#include "core/pipeline/pipeline-order.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"
#include "core/spec/stack-words.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/lowering.h"
#include "core/work/cost/schedule-times.h"

#include <optional>
#include <variant>

namespace scaleacross
{

/// Whether all buildings are alike in all that the time of a program or of a transfer depends on:
/// accelerator, servers and fabric, and no event, which may hit the fabric of one of them.
bool BuildingsAreAlike(const Scenario& scenario);

/**
 * Whether ranks of one stage may do different things, or the same with others: where buildings make
 * them differ in what they compute, or in how far they send where the buildings that one group
 * spans are not all buildings. Else a stage is one class.
 *
 * Domain: CheckJob() refuses nothing.
 */
bool RanksOfStagesDiffer(const Scenario& scenario,
                         const RankLayout& layout,
                         const LoweringRules& rules);

/**
 * Whether a job can be built at all.
 *
 * Infeasible: whatever MicrobatchesOf() says ("batch", "schedule", "balance"), "sharding" (zero2
 * with accumulated gradients), "plan" (ParallelPlan::FindConflict()), "layers" (CheckLayers()),
 * and what CheckModel() says ("heads", "recompute", "sequence", "ffn", "layers", "experts").
 */
std::optional<Infeasible> CheckJob(const Scenario& scenario, const RankLayout& layout);

/**
 * The work of one iteration of the scenario's job: everything an engine executes. Infeasible as
 * CheckJob() says. Memory is not checked here.
 *
 * There is one class per stage, or one per stage and kind of block (BlockKinds) where a stage spans
 * buildings that are not alike, or groups span some buildings and not all.
 *
 * Program of a rank: gathers of all its parameter units in order of first use (sharded, no
 * resharding) or of the first prefetched ones (resharding); the actions of PipelineOrder(), each as
 * Receive, Run, Send, with PostReceive before the action that the plan says where receives are
 * planned; waits for all gradient reductions; the exchange of a tied embedding's
 * gradients; Run of the optimizer. What is inside a Run stands in body-builder.h, layer-program.h
 * and parameter-collectives.h.
 */
std::variant<TaskGraph, Infeasible> BuildTaskGraph(const Scenario& scenario,
                                                   const RankLayout& layout,
                                                   CollectiveTimer seconds = {});

/// Times and transfers of a pipeline that stands alone, for validation against published tables.
struct UniformPipeline
{
    PipelineShape shape;
    Duration forward; //!< of one chunk and microbatch
    Duration inputGradient;
    Duration weightGradient;
    Bytes bytes; //!< of one activation or gradient message
    /// Of a forward and a backward overlapped with each other; none: as long as both take.
    std::optional<Duration> forwardBackward{};
    Receives receives{};
};

/// One rank per stage, rank = stage; F, I, W are compute, no other communication. B = I + W in
/// schedules that do not split the backward.
TaskGraph BuildUniformPipeline(const UniformPipeline& pipeline);

} // namespace scaleacross

#endif // SCALEACROSS_TASK_GRAPH_BUILDER_H
