// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_TIMES_H
#define SCALEACROSS_SCHEDULE_TIMES_H

#include "core/pipeline/pipeline-shape.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <vector>

namespace scaleacross
{

/// The pipeline of a job: m = globalBatch / (dp x microbatch), rounded down and at least 1; of
/// replicas that differ, MicrobatchesOf() knows more. Without times.
PipelineShape PipelineShapeOf(const JobSpec& job);

/// The same with the times that its schedule is made for, if it asks for any. Task graph and memory
/// have to agree on the order, hence on this.
PipelineShape PipelineShapeOf(const Scenario& scenario, const RankLayout& layout);

/// Bytes of one pipeline message between two ranks: 2 s b h / (cp tp), sequence parallel.
Bytes PipelineMessageBytes(const JobSpec& job);

/// What the whole model computes for a microbatch where each layer, and each kind of pass over it,
/// is on that of the accelerators that takes least. Domain: there is one at least.
PassTimes LeastModelTimes(const JobSpec& job, const std::vector<const GpuSpec*>& gpus);

/// PipelineTimes::passes of PipelineTimesOf().
std::vector<PassTimes> PassTimesOf(const Scenario& scenario, const RankLayout& layout);

/**
 * What a schedule is made for: of every position, what its layers compute (on the GPU of the
 * building of the stage's first rank; collectives inside a pass are left out), and of every
 * boundary the way from the first rank of one stage to that of the next: delay of the links, and
 * the message at the rate of the slowest of them, or over NVLink inside a server. A good order only
 * needs the proportions; what a run takes is up to the engines.
 *
 * Domain: a job that CheckJob() accepts.
 */
PipelineTimes PipelineTimesOf(const Scenario& scenario, const RankLayout& layout);

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_TIMES_H
