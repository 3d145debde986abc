// SPDX-License-Identifier: GPL-2.0-only

// One flow between two hosts on one switch, at several rates, against the closed form
//   2 x propagation + N (payload + header) 8 / rate + one full packet + 2 ACKs.

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
#include <string>

using namespace ns3;

namespace
{

constexpr uint64_t kMtu = 1000;
constexpr uint64_t kOverhead = 48;
constexpr uint64_t kAck = 60;

/// The time of the last ACK.
Time
Simulate(uint64_t size, DataRate rate, Time delay)
{
    FabricHelper fabric;
    fabric.SetNicAttribute("PathMtu", UintegerValue(kMtu));
    fabric.SetNicAttribute("FixedOverhead", UintegerValue(kOverhead));
    fabric.SetNicAttribute("AckSize", UintegerValue(kAck));
    Ptr<FabricSwitch> leaf = fabric.AddSwitch();
    Ptr<RdmaNic> from = fabric.AddNic(fabric.AddHost());
    Ptr<RdmaNic> to = fabric.AddNic(fabric.AddHost());
    fabric.Connect(from, leaf, rate, delay);
    fabric.Connect(to, leaf, rate, delay);
    fabric.InstallRoutes();

    Time done;
    Ptr<RdmaConnection> connection = fabric.CreateConnection(from, to);
    connection->SetCompletionCallback(
        RdmaMessageCallback([&done](scaleacross::Bytes, uint64_t) { done = Simulator::Now(); }));
    connection->Send(scaleacross::Bytes(size), 0);
    Simulator::Run();
    CheckConservation(fabric);
    Simulator::Destroy();
    return done;
}

/// Domain: at least one full packet, and a rate at which a byte lasts whole picoseconds.
int64_t
ClosedForm(uint64_t size, DataRate rate, Time delay)
{
    uint64_t packets = (size + kMtu - 1) / kMtu;
    uint64_t bytes = size + packets * kOverhead + (kMtu + kOverhead) + 2 * kAck;
    uint64_t psPerByte = 8'000'000'000'000 / rate.GetBitRate();
    return 4 * delay.GetPicoSeconds() + static_cast<int64_t>(bytes * psPerByte);
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint64_t size = 16 << 20;
    Time delay = MicroSeconds(1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("size", "Bytes to send", size);
    cmd.AddValue("delay", "Propagation delay of each of the two wires", delay);
    cmd.Parse(argc, argv);

    std::printf("%12s %18s %18s\n", "rate", "last ACK, us", "closed form, us");
    for (const char* name : {"25Gbps", "100Gbps", "400Gbps", "800Gbps"})
    {
        DataRate rate(name);
        double simulated = static_cast<double>(Simulate(size, rate, delay).GetPicoSeconds());
        double exact = static_cast<double>(ClosedForm(size, rate, delay));
        std::printf("%12s %18.6f %18.6f\n", name, simulated * 1e-6, exact * 1e-6);
    }
    return 0;
}
