// SPDX-License-Identifier: GPL-2.0-only

// The flow engine's ways are those that the packet engine's switches give a queue pair, link by
// link.

#include "../volumes/volume-plans.h"
#include "core/engine/flow/flow-paths.h"
#include "core/io/read-study.h"
#include "helper/engine/cluster-helper.h"

#include "ns3/fabric-path.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// What a study says, in buildings of eight servers of two with several ways.
Scenario
StudyWith(const std::string& fabric, const std::string& cross, const std::string& network)
{
    return ParseStudy("study: paths\n"
                      "model: {layers: 2, hidden: 1024, heads: 8, dense_ffn: 4096, vocabulary: "
                      "1024}\nworkload: {sequence: 1024, global_batch: 32}\n"
                      "cluster: {buildings: {count: 2, gpus: 16, gpus_per_node: 2, gpu: h100, "
                      "fabric: {" +
                          fabric + "}}, cross: {distance: 3km, " + cross + "}}\nnetwork: {" +
                          network + "}\n",
                      "paths.yaml",
                      {},
                      StudyScope::Training)
        .scenario;
}

class PathsOfPackets
{
  public:
    PathsOfPackets(const Scenario& scenario, uint32_t seed)
        : m_helper((ns3::RngSeedManager::SetRun(seed), scenario)),
          m_ports(scenario.cluster.PortsPerNic())
    {
        for (uint32_t l = 0; l < m_helper.GetGraph().links.size(); l++)
        {
            m_links[m_helper.GetWire(l)->GetDevice(0)] = 2 * l;
            m_links[m_helper.GetWire(l)->GetDevice(1)] = 2 * l + 1;
        }
        m_helper.AssignStreams(0);
    }

    ~PathsOfPackets()
    {
        ns3::Simulator::Destroy();
    }

    /// Of the queue pairs of a new connection, one path each.
    std::vector<std::vector<DirectedLink>> Connect(Rank from, Rank to, uint32_t pairs)
    {
        ns3::FabricHelper& fabric = m_helper.GetFabric();
        fabric.SetConnectionAttribute("QueuePairs", ns3::UintegerValue(pairs));
        std::vector<std::pair<ns3::Ptr<ns3::RdmaNic>, ns3::Ptr<ns3::RdmaNic>>> nics;
        for (uint32_t port = 0; port < m_ports; port++)
        {
            nics.emplace_back(fabric.Nics()[from * m_ports + port],
                              fabric.Nics()[to * m_ports + port]);
        }
        const auto connection = fabric.CreateConnection(nics);
        std::vector<std::vector<DirectedLink>> paths;
        for (uint32_t i = 0; i < pairs; i++)
        {
            paths.emplace_back();
            for (const auto& port : ns3::PathOf(*connection->GetQueuePair(i)))
            {
                paths.back().push_back(m_links.at(port));
            }
        }
        return paths;
    }

  private:
    ns3::ClusterHelper m_helper;
    uint32_t m_ports;
    std::map<ns3::Ptr<ns3::NetDevice>, DirectedLink> m_links;
};

} // namespace

TEST(FlowPaths, AreThoseOfThePacketEnginesSwitches)
{
    const std::vector<std::string> fabrics = {
        "spines: 4, nodes_per_pod: 2",
        "rails: true, spines: 3, nodes_per_pod: 4",
        "planes: 2, spines: 2, nodes_per_pod: 2",
        "dual_tor: true, spines: 4, nodes_per_pod: 4",
        "spines: 2, aggregations: 4, pods_per_zone: 2, nodes_per_pod: 2",
        "shape: full-mesh, spines: 2, nodes_per_pod: 2"};
    std::mt19937 random(7);
    for (const std::string& fabric : fabrics)
    {
        for (const char* const multipath : {"ecmp", "e-ecmp", "ucmp", "d-mod-k"})
        {
            for (const uint32_t seed : {1U, 5U})
            {
                const std::string text = fabric + ", " + multipath + ", " + std::to_string(seed);
                SCOPED_TRACE(text);
                if (fabric.find("full-mesh") != std::string::npos &&
                    Multipath(multipath)->owner == PathOwner::Destination)
                {
                    continue; // refused: all to one destination would take the same detour
                }
                const Scenario scenario =
                    StudyWith(fabric,
                              "oversubscription: 2, lanes: 2",
                              std::string("pfc: false, multipath: ") + multipath);
                const uint32_t ports = scenario.cluster.PortsPerNic();
                PathsOfPackets packets(scenario, seed);
                const FlowPaths flows(scenario, seed - 1);
                std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairsAt; // by ports of NICs
                for (uint32_t i = 0; i < 40; i++)
                {
                    const Rank from = random() % 32;
                    const Rank to = random() % 32;
                    if (from / 2 == to / 2)
                    {
                        continue;
                    }
                    const uint32_t pairs = 1 + random() % 4;
                    const auto paths = packets.Connect(from, to, pairs);
                    for (uint32_t pair = 0; pair < pairs; pair++)
                    {
                        const uint32_t fromNic = from * ports + pair % ports;
                        const uint32_t toNic = to * ports + pair % ports;
                        uint32_t& number = pairsAt[{fromNic, toNic}];
                        const FlowWay way = flows.OfQueuePair(fromNic, toNic, number++);
                        std::vector<DirectedLink> links;
                        for (const WayLink& link : way.links)
                        {
                            links.push_back(link.link);
                        }
                        ASSERT_EQ(links, paths[pair]) << from << " to " << to;
                    }
                }
            }
        }
    }
}

TEST(FlowPaths, SharesOfAllWaysComeTogetherAgain)
{
    // What leaves the sender's NIC arrives at the receiver's; at every switch between them as much
    // comes in as goes out.
    for (const char* const fabric :
         {"spines: 4, nodes_per_pod: 2",
          "spines: 2, aggregations: 4, pods_per_zone: 2, nodes_per_pod: 2",
          "shape: full-mesh, spines: 2, nodes_per_pod: 2"})
    {
        const Scenario scenario = StudyWith(fabric, "oversubscription: 2, lanes: 2", "pfc: false");
        const FlowPaths flows(scenario, 0);
        for (const uint32_t to : {2U, 9U, 20U, 31U})
        {
            std::map<uint32_t, double> balance; // by vertex: in less out
            for (const WayLink& part : flows.OfAll(0, to).links)
            {
                const FabricLink& link = flows.Graph().links[part.link / 2];
                const bool back = part.link % 2 == 1;
                balance[back ? link.b : link.a] -= part.share;
                balance[back ? link.a : link.b] += part.share;
            }
            for (const auto& [vertex, rest] : balance)
            {
                EXPECT_NEAR(rest,
                            vertex == 0    ? -1
                            : vertex == to ? 1
                                           : 0,
                            1e-12)
                    << fabric << " to " << to << " at " << vertex;
            }
        }
    }
}

} // namespace scaleacross
