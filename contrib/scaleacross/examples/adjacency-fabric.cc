// SPDX-License-Identifier: GPL-2.0-only

// A fabric from an adjacency file, the plain text in which HPCC describes its topologies, and a
// permutation over it: every NIC sends to the one half of all further on. Without --topology, a
// small fabric that is part of this program.

#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/graph-fabric.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/route-table.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>

using namespace ns3;

namespace
{

/// Eight hosts on two leaves (8 and 9), each of which has two parallel links to two spines.
const char* const g_topology = "12 4 16\n"
                               "8 9 10 11\n"
                               "0 8 100Gbps 1us 0\n"
                               "1 8 100Gbps 1us 0\n"
                               "2 8 100Gbps 1us 0\n"
                               "3 8 100Gbps 1us 0\n"
                               "4 9 100Gbps 1us 0\n"
                               "5 9 100Gbps 1us 0\n"
                               "6 9 100Gbps 1us 0\n"
                               "7 9 100Gbps 1us 0\n"
                               "8 10 100Gbps 1us 0\n"
                               "8 10 100Gbps 1us 0\n"
                               "8 11 100Gbps 1us 0\n"
                               "8 11 100Gbps 1us 0\n"
                               "9 10 100Gbps 1us 0\n"
                               "9 10 100Gbps 1us 0\n"
                               "9 11 100Gbps 1us 0\n"
                               "9 11 100Gbps 1us 0\n";

/// Longest table of any switch, in ranges of addresses.
size_t
LongestTable(const FabricHelper& fabric)
{
    size_t longest = 0;
    for (const auto& fabricSwitch : fabric.Switches())
    {
        longest = std::max(longest, fabricSwitch->Routes().Ranges().size());
    }
    return longest;
}

void
Simulate(const scaleacross::AdjacencyFabric& adjacency, uint64_t size, uint32_t queuePairs)
{
    FabricHelper fabric;
    fabric.SetLookAhead(true);
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(1 << 30));
    fabric.SetConnectionAttribute("QueuePairs", UintegerValue(queuePairs));
    BuildGraph(fabric, adjacency);
    fabric.InstallRoutes();
    const auto& nics = fabric.Nics();
    std::printf("%zu NICs, %zu switches, %zu wires; at most %zu ranges in a table\n",
                nics.size(),
                fabric.Switches().size(),
                fabric.Wires().size(),
                LongestTable(fabric));

    std::vector<double> times; // us
    for (size_t i = 0; i < nics.size() && nics.size() > 1; ++i)
    {
        const auto connection =
            fabric.CreateConnection(nics[i], nics[(i + nics.size() / 2) % nics.size()]);
        connection->SetCompletionCallback(
            RdmaMessageCallback([&times](scaleacross::Bytes, uint64_t) {
                times.push_back(Simulator::Now().GetSeconds() * 1e6);
            }));
        connection->Send(scaleacross::Bytes(size), i);
    }
    Simulator::Run();
    CheckConservation(fabric);
    std::printf("%zu of %zu flows of %lu bytes complete",
                times.size(),
                fabric.Connections().size(),
                static_cast<unsigned long>(size));
    if (!times.empty())
    {
        std::printf(": first %.3f us, last %.3f us", times.front(), times.back());
    }
    std::printf("\n");
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    std::string topology;
    uint64_t size = 1 << 20;
    uint32_t queuePairs = 16;
    CommandLine cmd(__FILE__);
    cmd.AddValue("topology", "Adjacency file; empty: a small one of eight hosts", topology);
    cmd.AddValue("size", "Bytes of each flow", size);
    cmd.AddValue("queue-pairs", "Queue pairs of each flow", queuePairs);
    cmd.Parse(argc, argv);
    Simulate(topology.empty() ? scaleacross::ParseAdjacency(g_topology, "built in")
                              : ReadAdjacencyFile(topology),
             size,
             queuePairs);
    return 0;
}
