// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SIMPLEST_SHAPE_H
#define SCALEACROSS_SIMPLEST_SHAPE_H

#include "core/pipeline/pipeline-shape.h"

namespace scaleacross
{

/**
 * The simplest shape whose ranks hold the same positions and run the same actions in the same
 * order: of the usual schedule, else of the first that is registered, those with a number of chunks
 * of their own before the others; in its usual rounds, else in one of all microbatches, else as
 * `shape` has them. With the same ranks, microbatches and chunks.
 *
 * Worked case: a single microbatch goes forward and back under any schedule that does not split
 * its backward, so all of these mean 1F1B with one chunk and `interleaved` with several. A single
 * rank awaits nothing: zb-h1, zb-h2 and latency-aware run alike there.
 *
 * What a schedule that is made for times does with several ranks is not known without them, so
 * that it stays what it is there.
 *
 * Domain: the schedule has nothing to say against the shape. Without limits and times, which are
 * dropped where another schedule is meant.
 */
PipelineShape SimplestShape(const PipelineShape& shape);

} // namespace scaleacross

#endif // SCALEACROSS_SIMPLEST_SHAPE_H
