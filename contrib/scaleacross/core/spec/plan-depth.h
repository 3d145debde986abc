// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_DEPTH_H
#define SCALEACROSS_PLAN_DEPTH_H

#include <array>
#include <string>

namespace scaleacross
{

/**
 * The order in which a search decides the fields of a plan: each group says something of the time
 * or the memory of all plans that agree up to it, whatever the groups behind.
 */
enum class PlanDepth
{
    Degrees, //!< where the ranks are, and how many sequences each sees at a time: its work
    Order,   //!< which layers a rank has and when it runs them: the bubble
    Kernels, //!< what of a layer is computed again, kept elsewhere or beside communication
    Shards,  //!< what the ranks of a data-parallel group share: memory
    Network  //!< how it is sent
};

constexpr std::array<PlanDepth, 5> kPlanDepths = {PlanDepth::Degrees,
                                                  PlanDepth::Order,
                                                  PlanDepth::Kernels,
                                                  PlanDepth::Shards,
                                                  PlanDepth::Network};

/// Where the field with this key is decided. Domain: a key of PlanFields().
PlanDepth DepthOf(const std::string& key);

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_DEPTH_H
