// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/cluster-spec.h"

#include "core/base/errors.h"
#include "core/spec/check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

const Duration g_longestDelay = Duration::Seconds(10);

void
CheckDelay(const std::string& key, Duration delay)
{
    if (delay < Duration() || delay > g_longestDelay)
    {
        throw ConfigError(key,
                          ToString(delay) + " is out of range",
                          "0s to " + ToString(g_longestDelay),
                          "");
    }
}

void
CheckFabric(const std::string& key, const BuildingSpec& building)
{
    const FabricSpec& fabric = building.fabric;
    CheckWhole(key + ".spines", fabric.spines, 1, 4096);
    CheckRange(key + ".oversubscription", fabric.oversubscription, 1.0, 1000.0);
    CheckDelay(key + ".nic_delay", fabric.nicDelay);
    CheckDelay(key + ".leaf_delay", fabric.leafDelay);
    if (fabric.nodesPerPod != 0 && building.Nodes() % fabric.nodesPerPod != 0)
    {
        throw ConfigError(key + ".nodes_per_pod",
                          std::to_string(fabric.nodesPerPod) + " does not divide the " +
                              std::to_string(building.Nodes()) + " servers of the building",
                          "a divisor of gpus / gpus_per_node, or 0 for one pod",
                          "");
    }
}

void
CheckBuilding(const std::string& key, const BuildingSpec& building)
{
    CheckWhole(key + ".gpus", building.gpus, 1, 1U << 22);
    CheckWhole(key + ".gpus_per_node", building.gpusPerNode, 1, 1024);
    if (building.gpus % building.gpusPerNode != 0)
    {
        throw ConfigError(key + ".gpus",
                          std::to_string(building.gpus) + " is not a multiple of gpus_per_node " +
                              std::to_string(building.gpusPerNode),
                          "a multiple of gpus_per_node",
                          "");
    }
    try
    {
        building.gpu.Validate();
    }
    catch (const ConfigError& error)
    {
        throw error.At(key + "." + error.Where());
    }
    CheckFabric(key + ".fabric", building);
}

void
CheckLink(const ClusterSpec& cluster, const CrossLinkSpec& link)
{
    const std::string& a = cluster.buildings[link.a].name;
    const std::string& b = cluster.buildings[link.b].name;
    const std::string key = "cluster.cross";
    const std::string span = " between " + a + " and " + b;
    // Once round the Earth: nothing on land is farther.
    if (!(link.distance.Value() >= 0 && link.distance.Value() <= 40000))
    {
        throw ConfigError(key + ".distance",
                          ToString(link.distance) + span + " is out of range",
                          "0km to 40000km",
                          "");
    }
    CheckDelay(key + ".latency", link.latency);
    const double capacity = link.capacity.Value();
    if (!std::isfinite(capacity) || capacity < 1e6 || capacity > 1e19)
    {
        throw ConfigError(key + ".capacity",
                          ToString(link.capacity) + span + " is out of range",
                          "1Mbps to 10000000Tbps",
                          "");
    }
    // 1 in 10 is beyond repair for every transport here; 1 would never end.
    CheckRange(key + ".loss", link.loss, 0.0, 0.5);
    if (cluster.buildings[link.a].fabric.spines != cluster.buildings[link.b].fabric.spines)
    {
        throw ConfigError("cluster.buildings",
                          a + " has " + std::to_string(cluster.buildings[link.a].fabric.spines) +
                              " spines and " + b + " has " +
                              std::to_string(cluster.buildings[link.b].fabric.spines),
                          "equal spines, since spine i of one building meets spine i of the other",
                          "");
    }
}

} // namespace

BitRate
BuildingSpec::NicCapacity() const
{
    return gpu.nicRate * static_cast<double>(gpus);
}

uint32_t
ClusterSpec::Gpus() const
{
    uint32_t sum = 0;
    for (const auto& building : buildings)
    {
        sum += building.gpus;
    }
    return sum;
}

uint32_t
ClusterSpec::BuildingOf(uint32_t gpu) const
{
    for (uint32_t i = 0; i < buildings.size(); i++)
    {
        if (gpu < buildings[i].gpus)
        {
            return i;
        }
        gpu -= buildings[i].gpus;
    }
    InvariantBroken("gpu < Gpus()", __FILE__, __LINE__, std::to_string(gpu) + " beyond the last");
}

uint32_t
ClusterSpec::FirstGpu(uint32_t building) const
{
    SCALEACROSS_INVARIANT(building < buildings.size(), std::to_string(building));
    uint32_t first = 0;
    for (uint32_t i = 0; i < building; i++)
    {
        first += buildings[i].gpus;
    }
    return first;
}

const CrossLinkSpec*
ClusterSpec::Between(uint32_t a, uint32_t b) const
{
    for (const auto& link : crossLinks)
    {
        if ((link.a == a && link.b == b) || (link.a == b && link.b == a))
        {
            return &link;
        }
    }
    return nullptr;
}

void
ClusterSpec::Validate() const
{
    if (buildings.empty())
    {
        throw ConfigError("cluster.buildings", "there is no building", "at least one", "");
    }
    CheckWhole("cluster.buildings", buildings.size(), 1, kMostBuildings);
    std::set<std::string> names;
    for (size_t i = 0; i < buildings.size(); i++)
    {
        const std::string key = "cluster.buildings." + std::to_string(i);
        CheckBuilding(key, buildings[i]);
        if (buildings[i].name.empty() || !names.insert(buildings[i].name).second)
        {
            throw ConfigError(key + ".name",
                              "the name '" + buildings[i].name + "' is empty or used twice",
                              "a name of its own for every building",
                              "");
        }
    }
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const auto& link : crossLinks)
    {
        if (link.a >= buildings.size() || link.b >= buildings.size() || link.a == link.b)
        {
            throw ConfigError("cluster.links",
                              "a span joins building " + std::to_string(link.a) + " and " +
                                  std::to_string(link.b),
                              "two different buildings of the cluster",
                              "");
        }
        CheckLink(*this, link);
        if (!pairs.insert(std::minmax(link.a, link.b)).second)
        {
            throw ConfigError("cluster.links",
                              "two spans between " + buildings[link.a].name + " and " +
                                  buildings[link.b].name,
                              "one span for a pair",
                              "add their capacities");
        }
    }
    for (uint32_t a = 0; a < buildings.size(); a++)
    {
        for (uint32_t b = a + 1; b < buildings.size(); b++)
        {
            if (Between(a, b) == nullptr)
            {
                throw ConfigError("cluster.links",
                                  "no span between " + buildings[a].name + " and " +
                                      buildings[b].name,
                                  "a direct span for every pair of buildings",
                                  "give cluster.cross, which describes all pairs, or add the link");
            }
        }
    }
}

} // namespace scaleacross
