// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARAMETER_WINDOW_H
#define SCALEACROSS_PARAMETER_WINDOW_H

#include "core/engine/class-costs.h"
#include "core/engine/least-replay.h"
#include "core/engine/network-model.h"
#include "core/engine/resource-use.h"
#include "core/pipeline/pipeline-shape.h"
#include "core/program/program.h"

namespace scaleacross
{

/**
 * What an iteration takes at least by the analytical engine since one cut has to carry all gathers
 * and reductions of all stages in a part of it, in seconds; 0: nothing is said.
 *
 * Where parameters are gathered once and gradients reduced at the end, a stage has nothing of
 * either under way from when its last gather is awaited, in the first forward of its last chunk, to
 * when its first reduction is posted. Let A(k) be when the last class of all is through with its
 * gathers of iteration k, and B(k) when the first reduction is posted. Gathers and reductions use
 * the cut only from B(k) to A(k + 1), for which they need its bytes over its capacity, C. So
 *
 *     A(k + 1) - A(k) >= C + min B(k) - A(k).
 *
 * The last class is one that has the last position: the forward of a microbatch comes there last,
 * and what a stage has gathered by then it has awaited before. Without gathers on the cut, all
 * reductions of an iteration are over before any stage's first forward of the next, of which that
 * of the last stage comes last. The rest of the iteration is LeastUntilPosted() from there. Of
 * a collective that several classes post the one that posts last decides, so that every one on the
 * cut has to have a member among the classes that are joined with the last.
 *
 * It is no bound of engines whose members of a collective begin and end by themselves. There a
 * member of a ring goes on when it has received all, though what it has sent waits before a scarce
 * span, and it sends what it has to a neighbour that has not posted yet: the cut carries some while
 * everybody computes. Flows over a span of 50 Gbps between two buildings with rings of four take
 * 7.90 s where this says 7.97 s.
 *
 * The steady state has that period. Of a measured iteration it is a bound as far as classes are as
 * far behind each other at its end as at its beginning.
 *
 * Worked case: two stages, four microbatches, forward 1 and backward 2, no hops, reductions of 6 of
 * the cut by each stage as soon as its last backward is done, no gathers. The last stage computes
 * for 12, then there is 12 to move: 24. By the chain of stage 0 alone it is 1 + 12 + 2 + 6.
 *
 * It is of the cut that gathers and reductions need for longest.
 *
 * @param shape of the pipeline
 * @param times below those of the engine that the bound is of
 */
double ParameterWindowBound(const TaskGraph& graph,
                            const PipelineShape& shape,
                            ClassCosts& costs,
                            const ResourceUse& use,
                            const NetworkModel& network,
                            LeastTimes& times);

} // namespace scaleacross

#endif // SCALEACROSS_PARAMETER_WINDOW_H
