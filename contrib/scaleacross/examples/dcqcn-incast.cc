// SPDX-License-Identifier: GPL-2.0-only

// Several hosts send to one, and a bystander sends to another over the same wire between two
// switches. With PFC alone that wire is paused for the sake of the one port, and the bystander
// waits with the others; with DCQCN the senders slow down instead. --PrintHelp lists the options.

#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    uint32_t senders{4};
    uint64_t size{32 << 20};
    uint64_t buffer{16 << 20};
};

void
Simulate(const Options& options, bool dcqcn)
{
    FabricHelper fabric;
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(options.buffer));
    if (dcqcn)
    {
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
        fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::Dcqcn"));
    }
    Ptr<FabricSwitch> near = fabric.AddSwitch();
    Ptr<FabricSwitch> far = fabric.AddSwitch();
    fabric.Connect(near, far, DataRate("800Gbps"), MicroSeconds(1));
    auto addHost = [&fabric](Ptr<FabricSwitch> leaf) {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, leaf, DataRate("100Gbps"), MicroSeconds(1));
        return nic;
    };
    std::vector<Ptr<RdmaNic>> senders;
    for (uint32_t i = 0; i <= options.senders; ++i) // the last one is the bystander
    {
        senders.push_back(addHost(near));
    }
    Ptr<RdmaNic> crowded = addHost(far);
    Ptr<RdmaNic> quiet = addHost(far);
    fabric.InstallRoutes();
    fabric.AssignStreams(1);

    Time incast;
    Time bystander;
    for (const auto& sender : senders)
    {
        const bool isBystander = sender == senders.back();
        auto connection = fabric.CreateConnection(sender, isBystander ? quiet : crowded);
        Time& done = isBystander ? bystander : incast;
        connection->SetCompletionCallback(RdmaMessageCallback(
            [&done](scaleacross::Bytes, uint64_t) { done = Simulator::Now(); }));
        connection->Send(scaleacross::Bytes(options.size), 0);
    }
    Simulator::Run();
    FabricBalance balance = CheckConservation(fabric);
    uint64_t cnps = 0;
    for (const auto& connection : fabric.Connections())
    {
        cnps += connection->GetQueuePair(0)->GetCounters().cnpsReceived;
    }
    std::printf("%s\n", dcqcn ? "PFC and DCQCN" : "PFC alone");
    std::printf("  bystander done after  %12.3f us\n", bystander.ToDouble(Time::US));
    std::printf("  last sender after     %12.3f us\n", incast.ToDouble(Time::US));
    std::printf("  pauses sent           %12lu\n",
                static_cast<unsigned long>(near->GetPauses() + far->GetPauses()));
    std::printf("  packets marked        %12lu\n",
                static_cast<unsigned long>(near->GetEcnMarked() + far->GetEcnMarked()));
    std::printf("  CNPs                  %12lu\n", static_cast<unsigned long>(cnps));
    std::printf("  %s\n", balance.Text().c_str());
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "Hosts that send to one", options.senders);
    cmd.AddValue("size", "Bytes that each host sends", options.size);
    cmd.AddValue("buffer", "Packet memory of each switch in bytes", options.buffer);
    cmd.Parse(argc, argv);

    std::printf("%u hosts send %lu bytes each to one, a bystander as many to another\n",
                options.senders,
                static_cast<unsigned long>(options.size));
    const double payload = static_cast<double>(options.size) * 8 / 100e3;
    std::printf("at 100 Gb/s payload alone takes %.3f us there and %.3f us here\n",
                payload * options.senders,
                payload);
    Simulate(options, false);
    Simulate(options, true);
    return 0;
}
