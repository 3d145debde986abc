// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STAGE_SWITCHES_H
#define SCALEACROSS_STAGE_SWITCHES_H

#include "core/program/rank-group.h"
#include "core/spec/cluster-spec.h"
#include "core/topology/cluster-paths.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What a stage has on one switch of a kind.
struct SwitchShare
{
    uint32_t kind{0}; //!< number among the kinds of the whole cluster
    double share{0};  //!< ranks on one such switch over all that the stage has in the building
};

/**
 * On which switches, or groups of switches, with a cut of one level (FabricShape) the ranks of each
 * stage are: leaves, or zones.
 *
 * Switches of a building on which the same stages have equally many ranks are of one kind: what
 * stages do alike loads them alike, so that one stands for all. Stages that have ranks on switches
 * of one kind share their uplinks, those that have not share nothing.
 *
 * Worked case: leaves of 32 NICs, stages in turns of 8 GPUs, 8 of them: the first leaf of each 64
 * GPUs holds stages 0 to 3, the second 4 to 7. Two kinds; on one leaf of its kind a stage has 8 of
 * the ranks of a building, the others on as many leaves as there are turns.
 */
class StageSwitches
{
  public:
    /// Of one building, where switches are told apart by more than their stages: each is one more
    /// resource for transfers to name.
    static constexpr size_t kMostKinds = 256;

    /// For the GPUs of a cluster, whose stages are their indices in `pipeline`. `isActive` tells
    /// which take part; empty: all do. Switches whose first ranks are not the same modulo `period`
    /// are of different kinds as well, unless that made too many (kMostKinds). Cost: linear in the
    /// GPUs.
    StageSwitches(const ClusterSpec& cluster,
                  const ClusterPaths& paths,
                  const RankGroup& pipeline,
                  const std::vector<bool>& isActive,
                  uint32_t level,
                  uint32_t period = 1);

    /// Kinds of switches of the whole cluster.
    uint32_t Kinds() const
    {
        return m_kinds;
    }

    /// Of a stage in a building; empty if it has no rank there.
    const std::vector<SwitchShare>& Of(uint32_t building, uint32_t stage) const
    {
        return m_shares[building * m_stages + stage];
    }

    /// Of a switch, by its number in its building. Domain: ranks that take part are on it.
    uint32_t KindOf(uint32_t building, uint32_t which) const
    {
        return m_kindOf[building][which];
    }

    /// Switches of a kind.
    uint32_t CountOf(uint32_t kind) const
    {
        return m_counts[kind];
    }

    /// Building of a kind.
    uint32_t BuildingOf(uint32_t kind) const
    {
        return m_buildings[kind];
    }

  private:
    /// What is on a switch.
    struct Content
    {
        std::vector<uint32_t> stages; //!< of its ranks
        Rank first{0};                //!< the lowest rank that may be on it
    };

    void AddBuilding(const std::vector<Content>& contents, uint32_t period);

    uint32_t m_stages;
    uint32_t m_kinds{0};
    std::vector<std::vector<SwitchShare>> m_shares; //!< by building x stage
    std::vector<uint32_t> m_buildings;              //!< by kind
    std::vector<uint32_t> m_counts;                 //!< by kind
    std::vector<std::vector<uint32_t>> m_kindOf;    //!< by building and switch
};

} // namespace scaleacross

#endif // SCALEACROSS_STAGE_SWITCHES_H
