// SPDX-License-Identifier: GPL-2.0-only

// Two buildings, one host in each, joined by long wires. What a queue pair may have unacknowledged
// limits the rate over the distance: rate <= queue pairs x window / round trip. The switches
// reserve the PFC headroom that the distance asks for.

#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>

using namespace ns3;

namespace
{

struct Options
{
    uint32_t km{100};
    uint32_t wires{4};
    uint64_t window{1 << 20};
    uint64_t size{256 << 20};
};

void
Simulate(const Options& options, uint32_t queuePairs)
{
    FabricHelper fabric;
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(1 << 30));
    fabric.SetQueuePairAttribute("Window", UintegerValue(options.window));
    fabric.SetConnectionAttribute("QueuePairs", UintegerValue(queuePairs));
    Ptr<FabricSwitch> here = fabric.AddSwitch();
    Ptr<FabricSwitch> there = fabric.AddSwitch();
    Ptr<RdmaNic> from = fabric.AddNic(fabric.AddHost());
    Ptr<RdmaNic> to = fabric.AddNic(fabric.AddHost());
    const Time distance = MicroSeconds(5 * options.km); // light in fibre
    fabric.Connect(from, here, DataRate("400Gbps"), MicroSeconds(1));
    fabric.Connect(to, there, DataRate("400Gbps"), MicroSeconds(1));
    for (uint32_t i = 0; i < options.wires; ++i)
    {
        fabric.Connect(here, there, DataRate("400Gbps"), distance);
    }
    fabric.InstallRoutes();

    Time done;
    Ptr<RdmaConnection> connection = fabric.CreateConnection(from, to);
    connection->SetCompletionCallback(
        RdmaMessageCallback([&done](scaleacross::Bytes, uint64_t) { done = Simulator::Now(); }));
    connection->Send(scaleacross::Bytes(options.size), 0);
    Simulator::Run();
    CheckConservation(fabric);

    uint32_t used = 0;
    for (uint32_t i = 0; i < options.wires; ++i)
    {
        used += there->GetPort(1 + i)->GetPeer()->GetSentPackets() > 0 ? 1 : 0;
    }
    double roundTrip = 2 * (distance + MicroSeconds(2)).GetSeconds();
    double limit = static_cast<double>(queuePairs * options.window) * 8 / roundTrip * 1e-9;
    double payloadRate = 400.0 * 4096 / (4096 + 82);
    std::printf("%12u %14.1f %14.1f %12u %16.1f\n",
                queuePairs,
                static_cast<double>(options.size) * 8 / done.GetSeconds() * 1e-9,
                std::min(limit, payloadRate),
                used,
                static_cast<double>(there->GetHeadroom(1)) * 1e-6);
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("km", "Distance between the buildings", options.km);
    cmd.AddValue("wires", "Wires between them, 400 Gb/s each", options.wires);
    cmd.AddValue("window", "Most unacknowledged bytes per queue pair", options.window);
    cmd.AddValue("size", "Bytes to send", options.size);
    cmd.Parse(argc, argv);

    std::printf("%u km, round trip %.3f ms, window %lu bytes per queue pair\n",
                options.km,
                2e-3 * (5 * options.km + 2),
                static_cast<unsigned long>(options.window));
    std::printf("%12s %14s %14s %12s %16s\n",
                "queue pairs",
                "goodput Gb/s",
                "limit Gb/s",
                "wires used",
                "headroom MB");
    for (uint32_t queuePairs : {1, 4, 16, 64})
    {
        Simulate(options, queuePairs);
    }
    return 0;
}
