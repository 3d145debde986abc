// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SAME_WORK_H
#define SCALEACROSS_SAME_WORK_H

#include "core/explore/outcome.h"
#include "core/spec/scenario.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace scaleacross
{

/**
 * For each plan the position of the first one that does the same work, its own if none before does.
 *
 * Two plans do the same work if they say the same but for their algorithms (network.collective,
 * network.all_to_all), and every one of their collectives is made of the same phases, in as many
 * chunks and channels. Every engine then does the same for both, and so does a cluster.
 *
 * Worked case: under FSDP parameters are gathered and gradients scattered; `tree` has trees for
 * all-reduce only, and does as `ring` does.
 *
 * @param plans by time, since only plans that take equally long are compared
 * @param with the scenario of a plan; domain: it has run
 */
std::vector<size_t> FirstsOfSameWork(const std::vector<Ranked>& plans,
                                     const std::function<Scenario(const Plan&)>& with);

} // namespace scaleacross

#endif // SCALEACROSS_SAME_WORK_H
