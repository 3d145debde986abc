// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_PATHS_H
#define SCALEACROSS_CLUSTER_PATHS_H

#include "core/spec/cluster-spec.h"
#include "core/topology/fabric-path.h"
#include "core/topology/shapes/fabric-shape.h"
#include "core/topology/site-route.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace scaleacross
{

/**
 * All kinds of path of a cluster, found once: what TierBetween(), PathBetween() and
 * RouteBetweenSites() say, as often as one likes. Immutable, so that threads may share it.
 */
class ClusterPaths
{
  public:
    explicit ClusterPaths(const ClusterSpec& cluster);

    const ClusterSpec& Cluster() const
    {
        return m_cluster;
    }

    Tier TierBetween(uint32_t gpuA, uint32_t gpuB) const;

    /// Throws ConfigError if no spans lead from one GPU's building to the other's.
    const FabricPath& Between(uint32_t gpuA, uint32_t gpuB) const;

    /// From one building to another. Throws ConfigError if no spans lead there.
    const SiteRoute& Route(uint32_t from, uint32_t to) const;

    const FabricShape& Shape(uint32_t building) const
    {
        return *m_shapes[building];
    }

    /// Number of a GPU in its building modulo the TierPeriod() of that.
    uint32_t TierOffset(uint32_t gpu) const;

    /// Whether GPUs of a building, whose TierOffset() is between `lowest` and `highest`, are as far
    /// from each other as before when all of them go on by `by` without leaving the building.
    bool KeepsTiers(uint32_t building, uint32_t lowest, uint32_t highest, int64_t by) const;

  private:
    size_t PairOf(uint32_t from, uint32_t to) const
    {
        return size_t{from} * m_shapes.size() + to;
    }

    ClusterSpec m_cluster;
    std::vector<std::shared_ptr<const FabricShape>> m_shapes;
    std::vector<std::vector<FabricPath>> m_within;  //!< by building and tier, Tier::Cross left out
    std::vector<std::optional<SiteRoute>> m_routes; //!< by pair of buildings; none: not joined
    std::vector<FabricPath> m_across;               //!< by pair of buildings
};

} // namespace scaleacross

#endif // SCALEACROSS_CLUSTER_PATHS_H
