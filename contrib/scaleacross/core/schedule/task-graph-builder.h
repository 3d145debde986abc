// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TASK_GRAPH_BUILDER_H
#define SCALEACROSS_TASK_GRAPH_BUILDER_H

#include "core/base/errors.h"
#include "core/program/program.h"
#include "core/schedule/pipeline-order.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <variant>

namespace scaleacross
{

/**
 * The work of one iteration of the scenario's job: everything an engine executes.
 *
 * Infeasible: whatever LayOut() and CheckPipeline() say, "batch" (global batch not divisible by dp x
 * microbatch), "layers" (fewer layers than virtual stages), "heads" (tp does not divide heads or
 * KV heads...), "experts" (ep does not divide E), "sequence" (cp does not divide s). Memory is not
 * checked here.
 */
std::variant<TaskGraph, Infeasible> BuildTaskGraph(const Scenario& scenario,
                                                   const RankLayout& layout);

/// Times and transfers of a pipeline that stands alone, for validation against published tables.
struct UniformPipeline
{
    PipelineShape shape;
    Duration forward; //!< of one chunk and microbatch
    Duration inputGradient;
    Duration weightGradient;
    Bytes bytes; //!< of one activation or gradient message
};

/// One rank per stage, rank = stage; F, I, W are compute, no other communication. B = I + W in
/// schedules that do not split the backward.
TaskGraph BuildUniformPipeline(const UniformPipeline& pipeline);

} // namespace scaleacross

#endif // SCALEACROSS_TASK_GRAPH_BUILDER_H
