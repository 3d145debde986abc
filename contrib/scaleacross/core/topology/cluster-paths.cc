// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/cluster-paths.h"

#include "core/topology/fabric-graph.h"

namespace scaleacross
{

ClusterPaths::ClusterPaths(const ClusterSpec& cluster)
    : m_cluster(cluster)
{
    const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
    for (const BuildingSpec& building : cluster.buildings)
    {
        m_shapes.push_back(ShapeOf(building));
        std::vector<FabricPath>& within = m_within.emplace_back();
        for (const Tier tier : {Tier::Node, Tier::Leaf, Tier::Zone, Tier::Building})
        {
            within.push_back(m_shapes.back()->Within(tier));
        }
    }
    m_routes.resize(PairOf(buildings, 0));
    m_across.resize(m_routes.size());
    for (uint32_t a = 0; a < buildings; a++)
    {
        for (uint32_t b = 0; b < buildings; b++)
        {
            std::optional<SiteRoute>& route = m_routes[PairOf(a, b)];
            route = a == b ? std::nullopt : FindSiteRoute(cluster, a, b);
            if (route)
            {
                m_across[PairOf(a, b)] = PathAcross(cluster, Shape(a), Shape(b), *route);
            }
        }
    }
}

Tier
ClusterPaths::TierBetween(uint32_t gpuA, uint32_t gpuB) const
{
    const uint32_t a = m_cluster.BuildingOf(gpuA);
    if (a != m_cluster.BuildingOf(gpuB))
    {
        return Tier::Cross;
    }
    const uint32_t first = m_cluster.FirstGpu(a);
    return Shape(a).TierBetween(gpuA - first, gpuB - first);
}

uint32_t
ClusterPaths::TierOffset(uint32_t gpu) const
{
    const uint32_t building = m_cluster.BuildingOf(gpu);
    return (gpu - m_cluster.FirstGpu(building)) % Shape(building).TierPeriod();
}

bool
ClusterPaths::KeepsTiers(uint32_t building, uint32_t lowest, uint32_t highest, int64_t by) const
{
    const int64_t period = Shape(building).TierPeriod();
    if (by % int64_t{Shape(building).TierUnit()} != 0)
    {
        return false;
    }
    const int64_t within = (by % period + period) % period;
    return highest + within < period || lowest + within >= period;
}

const FabricPath&
ClusterPaths::Between(uint32_t gpuA, uint32_t gpuB) const
{
    const uint32_t a = m_cluster.BuildingOf(gpuA);
    const Tier tier = TierBetween(gpuA, gpuB);
    if (tier != Tier::Cross)
    {
        return m_within[a][static_cast<size_t>(tier)];
    }
    const uint32_t b = m_cluster.BuildingOf(gpuB);
    Route(a, b);
    return m_across[PairOf(a, b)];
}

const SiteRoute&
ClusterPaths::Route(uint32_t from, uint32_t to) const
{
    const std::optional<SiteRoute>& route = m_routes[PairOf(from, to)];
    if (!route)
    {
        RouteBetweenSites(m_cluster, from, to); // says what is missing
    }
    return *route;
}

} // namespace scaleacross
