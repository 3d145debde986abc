// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_BUILDING_HELPER_H
#define SCALEACROSS_FABRIC_BUILDING_HELPER_H

#include "core/spec/cluster-spec.h"
#include "rdma-nic-container.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{

class FabricHelper;
class FabricWire;

/**
 * Whole buildings of servers, NICs and switches from a few numbers, and the spans between them.
 *
 * \code
 *   FabricHelper fabric;
 *   FabricBuildingHelper buildings;
 *   buildings.AddBuilding(4, 2, DataRate("400Gbps"));              // 4 servers of 2 NICs
 *   buildings.AddBuilding(4, 2, DataRate("400Gbps"));
 *   buildings.AddSpan(0, 1, DataRate("400Gbps"), MilliSeconds(1)); // one way
 *   std::vector<RdmaNicContainer> nics = buildings.Install(fabric);
 * \endcode
 *
 * A building is a leaf-spine fabric, and what is built of it is what studies build
 * (scaleacross::FabricSpec, BuildFabricGraph): with rails, which is the default, NIC i of every
 * server of a pod is on one leaf, so that equal positions meet without a spine; without, all NICs
 * of a pod share a leaf. Each leaf has a link to each spine, of the rate
 *
 *     sum of the NIC rates below the leaf / (oversubscription x spines)
 *
 * Switches and NICs are named for messages and samples (FabricHelper::NameOf): building0/leaf1,
 * building1/nic4, the latter counted over the servers of the building.
 *
 * A span joins spine i of one building to spine i of the other, by `lanes` wires each, which share
 * the span's capacity equally.
 *
 * Setters are for buildings, or spans, that are added afterwards. Attributes of switches, ports and
 * NICs are those of the FabricHelper.
 */
class FabricBuildingHelper
{
  public:
    /// Servers under one set of leaves, a divisor of the servers of the building; 0, the default:
    /// all of them.
    void SetServersPerPod(uint32_t servers);
    /// Spines of a building, 1 unless set; the same for all buildings.
    void SetSpines(uint32_t spines);
    /// NIC rates below a leaf over its rate to all spines, 1 or more; 1 unless set.
    void SetOversubscription(double ratio);
    /// One leaf for each NIC position of a pod, or one for all.
    void SetRails(bool rails);
    /// One way, NIC to leaf (750 ns unless set) and leaf to spine (4.5 us): cable and switch.
    void SetDelays(Time nicToLeaf, Time leafToSpine);

    /// Wires of a span between each two spines, 1 unless set.
    void SetLanes(uint32_t lanes);
    /// Whether packets that arrive over a span may be lossless, which takes headroom of a round
    /// trip in the switches at its ends. True unless set.
    void SetSpanPfc(bool pfc);

    /// Adds a building, and returns its number, from 0.
    uint32_t AddBuilding(uint32_t servers, uint32_t nicsPerServer, DataRate nicRate);

    /**
     * Joins two buildings. `capacity`: of all its wires together, in each direction. `delay`: one
     * way; light in fibre takes 5 us per km. `loss`: probability that a packet is lost, in each
     * direction.
     *
     * Throws ConfigError if there is no such building, or unless `capacity` is 1 Mb/s to 10 Eb/s,
     * `delay` up to 200 ms (light, once round the Earth) and `loss` up to 0.5.
     */
    void AddSpan(uint32_t a, uint32_t b, DataRate capacity, Time delay, double loss = 0);

    /**
     * Builds all of it, installs the routes, and returns the NICs of every building, server by
     * server. To be called once; links, switches and hosts that are added to the fabric later need
     * FabricHelper::InstallRoutes again.
     *
     * Throws ConfigError if there is no building, if a number is out of its range or does not
     * divide another, if no spans lead from one building to another, or as InstallRoutes does.
     */
    std::vector<RdmaNicContainer> Install(FabricHelper& fabric);

    /// The wires of a span, after Install. Throws ConfigError if there is no such span.
    const std::vector<Ptr<FabricWire>>& GetSpanWires(uint32_t a, uint32_t b) const;

  private:
    scaleacross::FabricSpec m_fabric;
    scaleacross::CrossLinkSpec m_span;
    scaleacross::ClusterSpec m_cluster;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Ptr<FabricWire>>> m_spanWires;
    bool m_installed{false};
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_BUILDING_HELPER_H
