// SPDX-License-Identifier: GPL-2.0-only

// Many hosts send to one at the same time. With PFC the switch pauses them and loses nothing;
// without, it drops, and go-back-N repairs. --PrintHelp lists the options.

#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
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
    uint32_t senders{16};
    uint64_t size{4 << 20};
    uint64_t buffer{4 << 20};
    DataRate rate{"100Gbps"};
};

void
Simulate(const Options& options, bool pfc)
{
    FabricHelper fabric;
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(options.buffer));
    fabric.SetSwitchAttribute("Pfc", BooleanValue(pfc));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
    Ptr<FabricSwitch> leaf = fabric.AddSwitch();
    for (uint32_t i = 0; i <= options.senders; ++i)
    {
        fabric.Connect(fabric.AddNic(fabric.AddHost()), leaf, options.rate, MicroSeconds(1));
    }
    fabric.InstallRoutes();

    Time last;
    uint64_t retransmissions = 0;
    Ptr<RdmaNic> receiver = fabric.Nics().back();
    for (uint32_t i = 0; i < options.senders; ++i)
    {
        Ptr<RdmaConnection> connection = fabric.CreateConnection(fabric.Nics()[i], receiver);
        connection->SetCompletionCallback(RdmaMessageCallback(
            [&last](scaleacross::Bytes, uint64_t) { last = Simulator::Now(); }));
        connection->Send(scaleacross::Bytes(options.size), i);
    }
    Simulator::Run();
    FabricBalance balance = CheckConservation(fabric);
    for (const auto& nic : fabric.Nics())
    {
        retransmissions += nic->GetRetransmissions();
    }
    std::printf("PFC %s\n", pfc ? "on" : "off");
    std::printf("  last flow done after  %12.3f us\n", last.ToDouble(Time::US));
    std::printf("  pauses sent           %12lu\n", static_cast<unsigned long>(leaf->GetPauses()));
    std::printf("  peak of the buffer    %12lu bytes\n",
                static_cast<unsigned long>(leaf->GetPeakOccupancy()));
    std::printf("  packets sent again    %12lu\n", static_cast<unsigned long>(retransmissions));
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
    cmd.AddValue("senders", "Hosts that send", options.senders);
    cmd.AddValue("size", "Bytes that each of them sends", options.size);
    cmd.AddValue("buffer", "Packet memory of the switch in bytes", options.buffer);
    cmd.AddValue("rate", "Rate of every wire", options.rate);
    cmd.Parse(argc, argv);

    double payload = static_cast<double>(options.senders * options.size);
    double bound = payload * 8 / static_cast<double>(options.rate.GetBitRate()) * 1e6;
    std::printf("%u hosts send %lu bytes each; payload alone takes %.3f us on the last wire\n",
                options.senders,
                static_cast<unsigned long>(options.size),
                bound);
    Simulate(options, true);
    Simulate(options, false);
    return 0;
}
