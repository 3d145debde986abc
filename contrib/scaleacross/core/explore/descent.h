// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DESCENT_H
#define SCALEACROSS_DESCENT_H

#include "core/explore/search.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What a descent has found.
struct DescentResult
{
    std::vector<Ranked> ran; //!< plans of the space that have a time, in the order of their runs
    uint64_t engineRuns{0};  //!< evaluations that it made; the others were stored
    bool interrupted{false};
};

/**
 * Improves plans by small steps: a local search, which has a good answer long before anything is
 * proven, and proves nothing.
 *
 * The starts run first, as the plans of the space that are nearest to them
 * (SearchSpace::NumberOf), and the best of each crossing that is stored of the search. From the
 * best of each crossing on, the neighbours of a plan are looked at: the plans that differ from it
 * in one axis. Those that can run and whose bound is below the best value of the crossing so far
 * are run, least bound first; the first run that is better is the next centre. Where no neighbour
 * is left that could be better, those that differ in two axes are tried: where degrees have a given
 * product, or a smaller microbatch pays only with less recomputation, one axis alone leads nowhere.
 *
 * Crossings have valleys of their own: what is best where pipelines cross is no way to what is best
 * where replicas do. The best two crossings go down in turns, one that is far behind seldom, and a
 * further one when one of these is at its end. Of a crossing that no start has, plans are found as
 * by FindFirst(), in several families that may have the best plan of all. Neighbours of another
 * crossing, and in the end those of the other starts, have to beat the best of all. It ends there,
 * or when the options' `stop` is set.
 *
 * Every evaluation is handed to the sink at its position in the search of the same options, and
 * committed with the frontier that the sink has: BestFirstSearch finds it stored when it comes to
 * the plan, so that no plan runs twice. Goals, jobs, filter, glance, run, stop and progress of the
 * options count; what runs does not depend on the number of threads. Nothing is done in a search
 * that is finished.
 *
 * Worked case: axes a and b from 1 to 3, time 10 + (a - b)^2 - a, start (1, 1) at 9. Of its
 * neighbours (2, 1) takes 9, (3, 1) 11, (1, 2) 10, (1, 3) 13: none is better. In two axes (3, 3)
 * takes 7, and nothing takes less.
 */
DescentResult Descend(const SearchSpace& space,
                      const Engine& engine,
                      const SearchOptions& options,
                      const std::vector<Plan>& starts,
                      ResultSink& sink);

/// Runs plans until one has a time: the best that is stored of the search, or else plans of a
/// sample of the families of the first level, from the one with the least bound on: a few of each,
/// at every level first of the part with the least bound and then of drawn ones. All else is as
/// above.
DescentResult FindFirst(const SearchSpace& space,
                        const Engine& engine,
                        const SearchOptions& options,
                        ResultSink& sink);

} // namespace scaleacross

#endif // SCALEACROSS_DESCENT_H
