// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FIRST_LOOK_H
#define SCALEACROSS_FIRST_LOOK_H

#include "core/engine/closed-form.h"
#include "core/engine/least-passes.h"
#include "core/engine/pass-ends.h"
#include "core/pipeline/pipeline-shape.h"
#include "core/pipeline/pipeline-times.h"
#include "core/spec/plan-depth.h"

#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * What the layers of a pipeline compute, at least (rung 0): an admissible bound for every engine,
 * in microseconds and without any program. In seconds.
 *
 * With F_q, I_q and W_q what position q computes for a microbatch forward and in the two halves of
 * backward, a rank r has its own work, m times the sum of F + I + W over its positions. And from
 * one beginning of an iteration of the first position to the next, the first microbatch has to come
 * to r, through all positions before q(r), the first one of r, and its last gradient has to come
 * back through them:
 *
 *     T >= m sum_r (F + I [+ W]) + sum_{q < q(r)} (F_q + I_q [+ W_q]),
 *
 * where W counts unless the schedule may put it off until the gradient is on its way; then the
 * first position's last one still follows. And one microbatch has to come through all positions,
 * there and back. What stands at the ends of the first position's passes
 * comes before and behind. And the first position's rank has to gather, and to reduce, all that it
 * does, one after the other: streams are in order, and each begins an iteration as long after the
 * last one as the rank does in the long run. Messages and what is not in the passes only add to it.
 *
 * Worked case: p = 4 alike, one position each, m = 8, F = I = W = 1. Rank 3 has 8 x 3 between 3 x 3
 * before and behind it: 33, which 1F1B takes. Where W may be put off: 8 x 2 + 3 x 2 + 1 = 23, less
 * than its own 24.
 */
double ComputeBound(const PipelineShape& shape,
                    const std::vector<PassTimes>& passes,
                    const PassEnds& ends = {});

/**
 * Whether a plan can run, as PrepareRun() says, with the bound of what it computes and its memory;
 * what it sends across is not looked at.
 *
 * Up to a depth, it is said of all plans that agree with this one in the fields up to there; what
 * is refused here, all of them are for the same reason. Of fields behind, the values count that
 * take the least:
 *  - Degrees: every rank's share of the work, batch / (dp b) times what the model computes for a
 *    microbatch on the fastest GPU over p: the slowest has no less than the mean; and all layers of
 *    one microbatch, there and back;
 *  - Order: ComputeBound() with nothing computed again, nor in parts beside communication; where
 *    layers are dealt out by time, which depends on that, the least of all ways to deal them;
 *  - Kernels: ComputeBound(), and memory with all states sharded over a whole data-parallel group
 *    and nothing gathered;
 *  - Shards and Network: everything.
 *
 * With `passes`, ComputeBound() is of what they say, with collectives inside layers, where no
 * passes overlap, and from Shards on with gathers, reductions and the optimizer at both ends; not
 * down to Order where tokens are sent to experts or the host is slow: what is computed again may
 * then stand beside a collective that nothing else hides. Then, as long as what is known is worth
 * more, come from Kernels on
 *  - what the fullest span has to carry (LeastPasses::SpanSeconds);
 *  - the schedule's order replayed with these passes (ReplayPasses);
 *  - from Shards on, gathers and reductions on a span, with what is between these
 *    (LeastPasses::WindowSeconds).
 */
std::variant<ClosedForm, Infeasible> FirstLook(const Scenario& scenario,
                                               PlanDepth depth = PlanDepth::Network,
                                               const LeastPasses* passes = nullptr,
                                               const IsWorthMore& isWorthMore = Always);

} // namespace scaleacross

#endif // SCALEACROSS_FIRST_LOOK_H
