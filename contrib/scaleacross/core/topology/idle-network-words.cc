// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/idle-network-words.h"

#include "core/spec/plan-fields.h"
#include "core/topology/cluster-paths.h"
#include "core/topology/shapes/fabric-shape.h"

#include <algorithm>
#include <array>
#include <utility>

namespace scaleacross
{

bool
HasTier(const ClusterSpec& cluster, Tier tier)
{
    if (tier == Tier::Cross)
    {
        return !cluster.crossLinks.empty();
    }
    return std::any_of(cluster.buildings.begin(),
                       cluster.buildings.end(),
                       [tier](const BuildingSpec& building) {
                           const auto shape = ShapeOf(building);
                           for (uint32_t gpu = 1; gpu < building.gpus; gpu++)
                           {
                               if (shape->TierBetween(0, gpu) == tier)
                               {
                                   return true;
                               }
                           }
                           return false;
                       });
}

namespace
{

/// The tiers with packets, and what a study calls them.
constexpr std::array<std::pair<Tier, const char*>, 4> kTiers{{{Tier::Leaf, "leaf"},
                                                              {Tier::Zone, "zone"},
                                                              {Tier::Building, "building"},
                                                              {Tier::Cross, "cross"}}};

/// Whether there are two paths of a port between any two GPUs.
bool
HasTwoPaths(const ClusterSpec& cluster)
{
    const ClusterPaths paths(cluster);
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const uint32_t first = cluster.FirstGpu(b);
        for (uint32_t gpu = 1; gpu < cluster.buildings[b].gpus; gpu++)
        {
            if (paths.Between(first, first + gpu).paths > 1)
            {
                return true;
            }
        }
        for (uint32_t other = 0; other < b; other++)
        {
            if (paths.Between(first, cluster.FirstGpu(other)).paths > 1)
            {
                return true;
            }
        }
    }
    return false;
}

} // namespace

std::vector<std::string>
WarningsOfIdleNetworkWords(const ClusterSpec& cluster, const NetworkPlan& network)
{
    Plan plan;
    plan.network = network;
    const std::string all = "network.";
    std::vector<std::string> warnings;
    std::vector<std::string> present; // what fields of tiers that there are begin with
    for (const auto& [tier, word] : kTiers)
    {
        const std::string begin = all + "tiers." + word + ".";
        const auto ofTier = [&begin](const PlanField& field) {
            return field.key.rfind(begin, 0) == 0;
        };
        if (HasTier(cluster, tier))
        {
            present.push_back(begin);
            continue;
        }
        for (const PlanField& field : PlanFields())
        {
            if (ofTier(field) && !field.usual(plan))
            {
                warnings.push_back(field.key + " changes nothing: no two GPUs of this cluster are "
                                               "so far apart");
            }
        }
    }
    for (const char* word : {"qps", "balance", "outstanding", "window"})
    {
        const bool isIdle =
            !present.empty() && std::all_of(present.begin(), present.end(), [&](const auto& begin) {
                return !FindPlanField(begin + word)->usual(plan);
            });
        if (isIdle && !FindPlanField(all + word)->usual(plan))
        {
            warnings.push_back(all + word +
                               " changes nothing: every tier of this cluster has its own");
        }
    }
    if (network.multipath != NetworkPlan().multipath && !HasTwoPaths(cluster))
    {
        warnings.push_back(all + "multipath: " + network.multipath->word +
                           " changes nothing: there is one path between any two NICs");
    }
    return warnings;
}

} // namespace scaleacross
