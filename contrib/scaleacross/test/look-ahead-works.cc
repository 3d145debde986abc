// SPDX-License-Identifier: GPL-2.0-only

#include "look-ahead-works.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fabric-events.h"
#include "ns3/path-selector.h"
#include "ns3/random-entropy.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <numeric>

namespace lookahead
{

using scaleacross::Bytes;

void
SendFlow(FabricHelper& fabric, Log& log, uint32_t from, uint32_t to, uint64_t bytes)
{
    auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
    log.Watch(connection);
    const uint64_t tag = 1000 * from + to;
    connection->Send(Bytes(bytes), tag);
    // A second message, posted while the first is under way, at a time of no arrival in particular.
    Simulator::Schedule(PicoSeconds(20'000'123), [=]() { connection->Send(Bytes(5000), tag); });
}

std::vector<Ptr<FabricSwitch>>
BuildLeafSpine(FabricHelper& fabric, uint32_t leaves, double loss, Delays& delays)
{
    const DataRate rate("100Gbps");
    std::vector<Ptr<FabricSwitch>> leaf;
    std::vector<Ptr<FabricSwitch>> spine;
    for (uint32_t i = 0; i < leaves; ++i)
    {
        leaf.push_back(fabric.AddSwitch());
        for (uint32_t j = 0; j < 4; ++j)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, leaf[i], rate, delays(MicroSeconds(1)), loss);
        }
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        spine.push_back(fabric.AddSwitch());
        for (const auto& below : leaf)
        {
            fabric.Connect(below, spine[i], rate, delays(MicroSeconds(1)), loss);
        }
    }
    return spine;
}

void
Permutation(FabricHelper& fabric, Log& log, Delays delays, double loss, bool pfc)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
    fabric.SetSwitchAttribute("Pfc", BooleanValue(pfc));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
    BuildLeafSpine(fabric, 4, loss, delays);
    fabric.InstallRoutes();
    fabric.AssignStreams(77);
    for (uint32_t i = 0; i < 16; ++i)
    {
        SendFlow(fabric, log, i, (i + 8) % 16, 400'000);
    }
}

void
Incast(FabricHelper& fabric, Log& log, Delays delays)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(kMiB));
    Ptr<FabricSwitch> centre = fabric.AddSwitch();
    for (uint32_t i = 0; i < 9; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, centre, DataRate("100Gbps"), delays(MicroSeconds(1)));
    }
    fabric.InstallRoutes();
    for (uint32_t i = 0; i < 8; ++i)
    {
        SendFlow(fabric, log, i, 8, 300'000);
    }
}

void
LongHaul(FabricHelper& fabric, Log& log, Delays delays)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(512 * kMiB));
    auto near = BuildLeafSpine(fabric, 2, 0, delays);
    auto far = BuildLeafSpine(fabric, 2, 0, delays);
    for (size_t i = 0; i < near.size(); ++i)
    {
        fabric.Connect(near[i], far[i], DataRate("100Gbps"), delays(MilliSeconds(1)), 1e-4);
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(5);
    for (uint32_t i = 0; i < 16; ++i)
    {
        SendFlow(fabric, log, i, (i + 8) % 16, 500'000);
    }
}

void
Controlled(FabricHelper& fabric, Log& log, Delays delays, const std::string& control, double loss)
{
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(4 * kMiB));
    fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(255));
    fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.2));
    Ptr<FabricSwitch> centre = fabric.AddSwitch();
    for (uint32_t i = 0; i < 7; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, centre, DataRate("100Gbps"), delays(MicroSeconds(1)), loss);
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(9);
    fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(TypeId::LookupByName(control)));
    for (uint32_t i = 0; i < 4; ++i)
    {
        SendFlow(fabric, log, i, 6, 1'000'000);
    }
    fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(RdmaCongestionOps::GetTypeId()));
    fabric.SetQueuePairAttribute("RateLimit", DataRateValue(DataRate("7Gbps")));
    SendFlow(fabric, log, 4, 6, 200'000);
    SendFlow(fabric, log, 4, 5, 200'000);
}

void
ControlledOverShorterWires(FabricHelper& fabric, Log& log, Delays delays)
{
    Controlled(fabric, log, delays, "ns3::Timely", 0); // which looks at every round trip
    for (const int64_t us : {30, 41, 52, 63})
    {
        fabric.HoldAt(MicroSeconds(us));
        Simulator::Schedule(MicroSeconds(us), [&fabric]() {
            int64_t less = 100;
            for (const auto& wire : fabric.Wires())
            {
                wire->SetDelay(wire->GetDelay() - NanoSeconds(less++));
            }
        });
    }
}

void
SparseOverAShorterWire(FabricHelper& fabric, Log& log, Delays delays)
{
    Ptr<FabricSwitch> centre = fabric.AddSwitch();
    for (const int64_t ns : {7000, 60, 900})
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, centre, DataRate("100Gbps"), delays(NanoSeconds(ns)));
    }
    fabric.InstallRoutes();
    fabric.SetQueuePairAttribute("RateLimit", DataRateValue(DataRate("3Gbps"))); // 11 us a packet
    SendFlow(fabric, log, 0, 1, 400'000);
    SendFlow(fabric, log, 1, 0, 400'000);
    SendFlow(fabric, log, 2, 0, 300'000);
    int64_t us = 20;
    for (const int64_t ns : {5000, 3300, 400, 170, 90, 55})
    {
        fabric.HoldAt(MicroSeconds(us));
        Simulator::Schedule(MicroSeconds(us),
                            [&fabric, ns]() { fabric.Wires()[0]->SetDelay(NanoSeconds(ns)); });
        us += 37;
    }
}

void
Failures(FabricHelper& fabric, Log& log, Delays delays, bool keep)
{
    fabric.SetSwitchAttribute("KeepAtDownPort", BooleanValue(keep));
    Permutation(fabric, log, delays, 0, true);
    auto events = CreateObject<FabricEvents>();
    events->SetAttribute("DetectionDelay", TimeValue(MicroSeconds(3)));
    events->SetAttribute("ConvergenceDelay", TimeValue(MicroSeconds(8)));
    events->SetFabric(fabric);
    const auto& wires = fabric.Wires(); // 16 of the hosts, then four of each spine
    events->Flap(FabricEvents::LinkTarget(wires[3]),
                 MicroSeconds(5),
                 MicroSeconds(2),
                 MicroSeconds(9),
                 3);
    events->Flap(FabricEvents::LinkTarget(wires[17]),
                 PicoSeconds(6'419'200), // 6 us and five packets: equal to other times
                 MicroSeconds(20),
                 MicroSeconds(37),
                 2);
    events->Degrade(FabricEvents::LinkTarget(wires[21]), 0.3, MicroSeconds(10), MicroSeconds(60));
    events->Fail(FabricEvents::SwitchTarget(fabric.Switches()[6]),
                 MicroSeconds(30),
                 MicroSeconds(80));
}

void
SpreadPaths(FabricHelper& fabric, const std::string& type)
{
    const TypeId chosen = TypeId::LookupByName(type);
    if (chosen.IsChildOf(PathSelector::GetTypeId()))
    {
        fabric.SetSwitchAttribute("PathSelector", TypeIdValue(chosen));
    }
    else
    {
        fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(chosen));
    }
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
}

void
OtherPaths(FabricHelper& fabric, Log& log, Delays delays, const std::string& selector, double loss)
{
    fabric.SetSwitchAttribute("PathSelector", TypeIdValue(TypeId::LookupByName(selector)));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
    Permutation(fabric, log, delays, loss, true);
    for (uint32_t i = 0; i < 16; ++i)
    {
        SendFlow(fabric, log, i, (i + 5) % 16, 100'000); // out of step with the others
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        auto& routes = fabricSwitch->Routes();
        const auto ranges = routes.Ranges();
        std::vector<scaleacross::PortGroup> groups;
        for (const auto& range : ranges)
        {
            groups.push_back(routes.GroupOf(range));
        }
        routes.Clear();
        for (size_t i = 0; i < ranges.size(); ++i)
        {
            groups[i].weights.resize(groups[i].ports.size());
            std::iota(groups[i].weights.begin(), groups[i].weights.end(), 1);
            routes.Add(ranges[i].first, ranges[i].last, groups[i]);
        }
        if (selector == "ns3::FlowletSelector") // so short that pauses and losses make flowlets
        {
            fabricSwitch->GetPathSelector()->SetAttribute("Gap", TimeValue(MicroSeconds(2)));
        }
    }
}

void
Entropies(FabricHelper& fabric, Log& log, Delays delays, const std::string& type, double loss)
{
    fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(255));
    fabric.SetSwitchAttribute("EcnKmin", UintegerValue(5000));
    fabric.SetSwitchAttribute("EcnKmax", UintegerValue(50'000));
    fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.5));
    fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(TypeId::LookupByName(type)));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
    Permutation(fabric, log, delays, loss, true);
}

void
Trimming(FabricHelper& fabric)
{
    fabric.SetSwitchAttribute("Trim", BooleanValue(true));
    fabric.SetSwitchAttribute("TrimThreshold", UintegerValue(10'000));
    fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(RandomEntropy::GetTypeId()));
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
    fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
    fabric.SetQueuePairAttribute("Window", UintegerValue(60'000));
}

void
ShareLines(FabricHelper& fabric)
{
    for (const auto& fabricSwitch : fabric.Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            fabricSwitch->GetPort(i)->SetQuanta("0,0,0,10480,0,0,1048,0");
        }
    }
}

Scenario
WithLaneMap(Scenario scenario)
{
    return [scenario](FabricHelper& fabric, Log& log, Delays delays) {
        fabric.SetSwitchAttribute("LaneMap", StringValue("in any out any 3:5,6:2"));
        scenario(fabric, log, delays);
    };
}

Scenario
WithCredits(Scenario scenario)
{
    return [scenario](FabricHelper& fabric, Log& log, Delays delays) {
        fabric.SetSwitchAttribute("Credits", BooleanValue(true));
        fabric.SetSwitchAttribute("VlBuffer", UintegerValue(14'000));
        scenario(fabric, log, delays);
    };
}

} // namespace lookahead
