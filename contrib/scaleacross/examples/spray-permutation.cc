// SPDX-License-Identifier: GPL-2.0-only

// Every host sends to one under another leaf, at the same time, over spines with as much capacity
// as the hosts need. Hashed flows meet on some wires while others idle; sprayed packets use all of
// them, and arrive out of order. --PrintHelp lists the options.

#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/path-selector.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    uint32_t leaves{4}; //!< as many hosts under each, and as many spines
    uint64_t size{1 << 20};
    DataRate rate{"100Gbps"};
};

void
Build(const Options& options, FabricHelper& fabric)
{
    std::vector<Ptr<FabricSwitch>> leaves;
    for (uint32_t i = 0; i < options.leaves; ++i)
    {
        leaves.push_back(fabric.AddSwitch());
        for (uint32_t j = 0; j < options.leaves; ++j)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, leaves[i], options.rate, MicroSeconds(1));
        }
    }
    for (uint32_t i = 0; i < options.leaves; ++i)
    {
        Ptr<FabricSwitch> spine = fabric.AddSwitch();
        for (const auto& leaf : leaves)
        {
            fabric.Connect(leaf, spine, options.rate, MicroSeconds(1));
        }
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(1);
}

void
Simulate(const Options& options, const std::string& selector)
{
    FabricHelper fabric;
    fabric.SetLookAhead(true);
    fabric.SetSwitchAttribute("PathSelector", TypeIdValue(TypeId::LookupByName(selector)));
    // Whatever the order in which packets arrive, they are placed and not taken for lost.
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(100'000));
    Build(options, fabric);

    std::vector<double> done; // us
    const auto& nics = fabric.Nics();
    for (size_t i = 0; i < nics.size(); ++i)
    {
        auto connection =
            fabric.CreateConnection(nics[i], nics[(i + nics.size() / 2) % nics.size()]);
        connection->SetCompletionCallback(
            RdmaMessageCallback([&done](scaleacross::Bytes, uint64_t) {
                done.push_back(Simulator::Now().ToDouble(Time::US));
            }));
        connection->Send(scaleacross::Bytes(options.size), i);
    }
    Simulator::Run();
    CheckConservation(fabric);
    uint64_t reordered = 0;
    for (const auto& nic : nics)
    {
        reordered += nic->GetQueuePair(0)->GetCounters().outOfOrder;
    }
    const std::string name = fabric.Switches()[0]->GetPathSelector()->GetName();
    std::printf("%-18s %10.3f %10.3f %10.3f %10lu\n",
                name.c_str(),
                done.front(),
                done[done.size() / 2],
                done.back(),
                static_cast<unsigned long>(reordered));
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("leaves", "Leaves, hosts under each, and spines", options.leaves);
    cmd.AddValue("size", "Bytes that each host sends", options.size);
    cmd.AddValue("rate", "Rate of every wire", options.rate);
    cmd.Parse(argc, argv);

    std::printf("us                      first     median       last  reordered\n");
    for (const std::string selector : {"ns3::EcmpSelector",
                                       "ns3::FlowletSelector",
                                       "ns3::RandomSpraySelector",
                                       "ns3::RoundRobinSpraySelector",
                                       "ns3::AdaptiveSpraySelector"})
    {
        Simulate(options, selector);
    }
    return 0;
}
