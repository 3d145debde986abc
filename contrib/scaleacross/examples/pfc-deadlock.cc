// SPDX-License-Identifier: GPL-2.0-only

// Switches in a ring that send everything clockwise. The routes show that pauses can lock each
// other, and under load they do: the simulation ends with a deadlock that has a name. With the PFC
// watchdog some packets are dropped and all messages arrive. --PrintHelp lists the options.

#include "ns3/buffer-dependency.h"
#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-deadlock.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <cstdio>

using namespace ns3;

namespace
{

struct Options
{
    uint32_t switches{4};
    uint64_t size{1 << 20};
    uint64_t buffer{1 << 20};
    Time detection{MicroSeconds(500)};
};

/// One host on each switch; port 0 leads to it.
void
BuildRing(FabricHelper& fabric, const Options& options)
{
    for (uint32_t i = 0; i < options.switches; ++i)
    {
        Ptr<FabricSwitch> place = fabric.AddSwitch();
        fabric.Connect(fabric.AddNic(fabric.AddHost()),
                       place,
                       DataRate("100Gbps"),
                       MicroSeconds(1));
    }
    for (uint32_t i = 0; i < options.switches; ++i)
    {
        fabric.Connect(fabric.Switches()[i],
                       fabric.Switches()[(i + 1) % options.switches],
                       DataRate("100Gbps"),
                       MicroSeconds(1));
    }
    fabric.InstallRoutes();
    for (uint32_t i = 0; i < options.switches; ++i)
    {
        const uint16_t clockwise = i == 0 ? 1 : 2;
        auto& routes = fabric.Switches()[i]->Routes();
        routes.Clear();
        for (uint32_t to = 0; to < options.switches; ++to)
        {
            const uint32_t address = fabric.Nics()[to]->GetFabricAddress();
            const uint16_t host = 0;
            routes.Add(address, address, {{to == i ? host : clockwise}, {}});
        }
    }
}

void
Simulate(const Options& options, bool watchdog)
{
    FabricHelper fabric;
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(options.buffer));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(8)); // 1.05 ms
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
    if (watchdog)
    {
        fabric.SetSwitchAttribute("WatchdogDetection", TimeValue(options.detection));
        fabric.SetSwitchAttribute("WatchdogRestoration", TimeValue(options.detection));
    }
    BuildRing(fabric, options);
    std::printf("PFC watchdog %s\n", watchdog ? "on" : "off");
    std::printf("  %s\n", FindBufferDependencyCycle(fabric).Text().c_str());

    uint32_t delivered = 0;
    for (uint32_t i = 0; i < options.switches; ++i)
    {
        const uint32_t before = (i + options.switches - 1) % options.switches;
        auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[before]);
        connection->SetDeliveryCallback(
            RdmaMessageCallback([&delivered](scaleacross::Bytes, uint64_t) { ++delivered; }));
        connection->Send(scaleacross::Bytes(options.size), i);
    }
    Simulator::Run();
    const FabricDeadlock deadlock = FindDeadlock(fabric);
    uint64_t storms = 0;
    for (const auto& place : fabric.Switches())
    {
        storms += place->GetStorms();
    }
    std::printf("  %s\n", deadlock.Exists() ? deadlock.Text().c_str() : "no deadlock");
    std::printf("  %u of %u messages delivered, %lu storms\n",
                delivered,
                options.switches,
                static_cast<unsigned long>(storms));
    std::printf("  %s\n", CheckConservation(fabric).Text().c_str());
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("switches", "Switches in the ring", options.switches);
    cmd.AddValue("size", "Bytes that each host sends to the one before it", options.size);
    cmd.AddValue("buffer", "Packet memory of each switch in bytes", options.buffer);
    cmd.AddValue("detection", "Detection and restoration time of the watchdog", options.detection);
    cmd.Parse(argc, argv);
    Simulate(options, false);
    Simulate(options, true);
    return 0;
}
