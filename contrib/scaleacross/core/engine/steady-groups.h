// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STEADY_GROUPS_H
#define SCALEACROSS_STEADY_GROUPS_H

#include "core/engine/class-costs.h"
#include "core/engine/program-repetition.h"
#include "core/engine/resource-use.h"
#include "core/program/program.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Classes that act on each other while their programs repeat themselves, and on no others.
struct SteadyGroup
{
    std::vector<uint32_t> classes; //!< ascending
    std::vector<uint32_t> cuts;    //!< that can hold back what they send then
};

/**
 * The groups of a graph whose programs repeat themselves so, by their lowest classes.
 *
 * In a period of its program a class acts on those that it sends messages to or has them from, on
 * those that take part in its collectives, and, through a cut that can hold anything back, on all
 * that use the cut. Its ports are used by itself and by messages to it. So replicas that meet only
 * at the end of the iteration are groups of their own. Classes without a program are in none.
 */
std::vector<SteadyGroup> SteadyGroupsOf(const TaskGraph& graph,
                                        ClassCosts& costs,
                                        const ResourceUse& use,
                                        const Repetition& repetition);

} // namespace scaleacross

#endif // SCALEACROSS_STEADY_GROUPS_H
