// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/cluster-paths.h"

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
            within.push_back(PathWithin(building, tier));
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
                m_across[PairOf(a, b)] = PathAcross(cluster, a, b, *route);
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
    return TierWithin(m_cluster.buildings[a], m_shapes[a], gpuA - first, gpuB - first);
}

uint32_t
ClusterPaths::TierOffset(uint32_t gpu) const
{
    const uint32_t building = m_cluster.BuildingOf(gpu);
    return (gpu - m_cluster.FirstGpu(building)) % TierPeriodOf(building);
}

bool
ClusterPaths::KeepsTiers(uint32_t building, uint32_t lowest, uint32_t highest, int64_t by) const
{
    // Whole nodes further on, or pods where there are zones; nobody comes over an edge of those.
    const BuildingSpec& spec = m_cluster.buildings[building];
    const int64_t period = TierPeriodOf(building);
    const int64_t unit = m_shapes[building].aggregations > 0
                             ? period / m_shapes[building].podsPerZone
                             : int64_t{spec.gpusPerNode};
    if (by % unit != 0)
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
