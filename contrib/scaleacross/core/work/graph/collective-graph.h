// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_GRAPH_H
#define SCALEACROSS_COLLECTIVE_GRAPH_H

#include "core/base/errors.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/lowering.h"

#include <variant>

namespace scaleacross
{

/// Where the ranks of a job that is a collective are, one on every GPU. Infeasible: as LayOut().
std::variant<RankLayout, Infeasible> LayOutCollective(const ClusterSpec& cluster);

/**
 * The groups that a collective's family means on this layout.
 *
 * A building is a block of RankLayout::buildingSpan ranks, as it is to Lower(): with buildings of
 * 8, 4 and 4 GPUs the families `across` have four members, two of them in the first building.
 *
 * Infeasible: "group" where there is only one member, or where buildings differ in size and their
 * groups would; the detail gives the values.
 *
 * Worked case: two buildings of 16 ranks, 8 per node. all {1, 32}, across {16, 2}, building {1,
 * 16}, rail {8, 4}, node {1, 8} as (stride, count).
 */
std::variant<RankGroup, Infeasible> GroupOf(CollectiveGroup group, const RankLayout& layout);

/**
 * What the members of a group send where the job is a dispatch or combine: T tokens each, with a
 * copy for each of their k experts. For low latency a token on its way to an expert has a header of
 * 16 bytes (DeepEP).
 *
 * Infeasible: "experts" where they do not lie evenly over the members, "max_nodes" where so few
 * servers have fewer experts than a token goes to.
 */
std::variant<RoutedTokens, Infeasible> RoutedTokensOf(const CollectiveSpec& spec,
                                                      const RankGroup& group,
                                                      const RankLayout& layout,
                                                      const LoweringRules& rules);

/**
 * The work of a job that is a collective: an iteration is the collective and the wait for its end,
 * back to back without a barrier, as nccl-tests measures. An empty forward marks its beginning.
 *
 * Ranks of groups that take no part form a class with an empty program. There is one class of ranks
 * that do, or one per building where they are not alike (BuildingsAreAlike).
 *
 * Infeasible: as GroupOf() and RoutedTokensOf(), and "groups" where the family has fewer groups
 * than asked for.
 */
std::variant<TaskGraph, Infeasible> BuildCollectiveGraph(const Scenario& scenario,
                                                         const RankLayout& layout,
                                                         const LoweringRules& rules);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_GRAPH_H
