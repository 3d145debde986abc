// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_HELPER_H
#define SCALEACROSS_CLUSTER_HELPER_H

#include "core/engine/run-report.h"
#include "core/program/rank-group.h"
#include "core/spec/scenario.h"
#include "core/topology/fabric-graph.h"
#include "foreign-traffic.h"

#include "ns3/cluster-transport.h"
#include "ns3/fabric-helper.h"

#include <string>

namespace ns3
{

/**
 * Builds the cluster of a scenario in ns-3: a Node per server with one NIC per GPU and an
 * NvlinkDomain, and every switch and wire of BuildFabricGraph, so that the simulated links are
 * those whose capacity the analytical engine computes with.
 *
 * Throws ConfigError where a switch's buffer cannot hold the headroom of its links.
 */
class ClusterHelper
{
  public:
    /// `clock`: what the job in it goes by; none: the Simulator's.
    explicit ClusterHelper(const scaleacross::Scenario& scenario, Ptr<JobClock> clock = nullptr);
    ~ClusterHelper();

    /// GPUs, all buildings together.
    scaleacross::Rank GetRanks() const;
    /// The server of a rank (rank r is GPU r).
    Ptr<Node> GetNode(scaleacross::Rank rank) const;
    Ptr<ClusterTransport> GetTransport() const;
    FabricHelper& GetFabric();
    /// What it was built from, and its parts by their indices in there.
    const scaleacross::FabricGraph& GetGraph() const;
    Ptr<FabricWire> GetWire(uint32_t link) const;
    Ptr<FabricSwitch> GetSwitch(uint32_t vertex) const;
    const FabricHelper& GetFabric() const;

    /// Called with sender, receiver and the reason if a connection fails for good.
    void SetFailureCallback(ClusterTransport::FailureCallback callback);

    int64_t AssignStreams(int64_t stream);

    /// Others' traffic of the scenario's events, with the random streams behind those of
    /// AssignStreams. ScheduleEvents does this.
    void AddForeignTraffic(const scaleacross::Scenario& scenario);

    /// Counters of all NICs, switches and wires so far.
    void FillNetwork(scaleacross::NetworkReport& report) const;

  private:
    void BuildServers(const scaleacross::ClusterSpec& cluster, Ptr<JobClock> clock);
    void BuildFabric(const scaleacross::Scenario& scenario);
    double CollisionFactor() const;

    FabricHelper m_fabric;
    ForeignTraffic m_foreign;
    int64_t m_nextStream{-1}; //!< behind those of AssignStreams; -1: they are ns-3's to choose
    scaleacross::FabricGraph m_graph;
    std::vector<Ptr<Node>> m_nodes; //!< by rank
    Ptr<ClusterTransport> m_transport;
    /// Ports that are equal choices of one switch towards the same neighbours.
    std::vector<std::vector<Ptr<FabricPort>>> m_choices;
};

} // namespace ns3

#endif // SCALEACROSS_CLUSTER_HELPER_H
