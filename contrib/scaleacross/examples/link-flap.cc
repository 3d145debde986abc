// SPDX-License-Identifier: GPL-2.0-only

// Goodput over time around a failure. Four pairs of hosts under two leaves send over four spines;
// the wire from spine 0 to the receivers' leaf breaks and comes back. The senders' leaf learns of
// it when all tables are new: until then a part of the packets is lost.

#include "ns3/boolean.h"
#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-events.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kPairs = 4;
constexpr uint32_t kSpines = 4;

struct Options
{
    Time detection{MicroSeconds(20)};
    Time convergence{MicroSeconds(150)};
    Time down{MicroSeconds(350)};
    bool keep{false};
};

Ptr<FabricWire>
Build(FabricHelper& fabric)
{
    const DataRate rate("100Gbps");
    Ptr<FabricSwitch> leaf[2];
    for (auto& each : leaf)
    {
        each = fabric.AddSwitch();
        for (uint32_t i = 0; i < kPairs; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()), each, rate, MicroSeconds(1));
        }
    }
    Ptr<FabricWire> first;
    for (uint32_t i = 0; i < kSpines; ++i)
    {
        Ptr<FabricSwitch> spine = fabric.AddSwitch();
        fabric.Connect(leaf[0], spine, rate, MicroSeconds(1));
        Ptr<FabricWire> wire = fabric.Connect(leaf[1], spine, rate, MicroSeconds(1));
        first = i == 0 ? wire : first;
    }
    fabric.InstallRoutes();
    return first;
}

/// Prints what has been delivered since the last time, and what has happened meanwhile.
class Meter
{
  public:
    Meter(const FabricHelper& fabric, Time interval)
        : m_fabric(fabric),
          m_interval(interval)
    {
        Simulator::Schedule(interval, &Meter::Read, this);
    }

    void Note(FabricEvents::Step step, const std::string&)
    {
        m_notes += std::string("  ") + FabricEvents::NameOf(step) + " at " +
                   std::to_string(Simulator::Now().GetMicroSeconds()) + " us";
    }

  private:
    void Read()
    {
        uint64_t bytes = 0;
        for (const auto& nic : m_fabric.Nics())
        {
            bytes += nic->GetDeliveredBytes();
        }
        std::printf("%8.0f %14.1f%s\n",
                    Simulator::Now().GetSeconds() * 1e6,
                    static_cast<double>(bytes - m_bytes) * 8 / m_interval.GetSeconds() * 1e-9,
                    m_notes.c_str());
        m_bytes = bytes;
        m_notes.clear();
        if (Simulator::Now() < MilliSeconds(1))
        {
            Simulator::Schedule(m_interval, &Meter::Read, this);
        }
    }

    const FabricHelper& m_fabric;
    Time m_interval;
    uint64_t m_bytes{0};
    std::string m_notes;
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("detection", "Until the switches at the ends of the wire act", options.detection);
    cmd.AddValue("convergence", "From then until all tables are new", options.convergence);
    cmd.AddValue("down", "How long the wire is down, from 200 us on", options.down);
    cmd.AddValue("keep", "Keep packets at a dead port instead of dropping them", options.keep);
    cmd.Parse(argc, argv);

    FabricHelper fabric;
    fabric.SetSwitchAttribute("KeepAtDownPort", BooleanValue(options.keep));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(4)); // 66 us
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(50));
    fabric.SetQueuePairAttribute("Window", UintegerValue(1 << 18));
    fabric.SetConnectionAttribute("QueuePairs", UintegerValue(16));
    fabric.SetConnectionAttribute("SegmentSize", UintegerValue(1 << 14));
    Ptr<FabricWire> wire = Build(fabric);

    auto events = CreateObject<FabricEvents>();
    events->SetAttribute("DetectionDelay", TimeValue(options.detection));
    events->SetAttribute("ConvergenceDelay", TimeValue(options.convergence));
    events->SetFabric(fabric);
    const Time at = MicroSeconds(200);
    events->Fail(FabricEvents::LinkTarget(wire), at, at + options.down);

    for (uint32_t i = 0; i < kPairs; ++i)
    {
        auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[kPairs + i]);
        connection->Send(scaleacross::Bytes(32 << 20), i);
    }
    std::printf(" time us   goodput Gb/s\n");
    Meter meter(fabric, MicroSeconds(50));
    events->TraceConnectWithoutContext("Step", MakeCallback(&Meter::Note, &meter));
    Simulator::Stop(MicroSeconds(1000));
    Simulator::Run();
    std::printf("%s\n", CheckConservation(fabric).Text().c_str());
    Simulator::Destroy();
    return 0;
}
