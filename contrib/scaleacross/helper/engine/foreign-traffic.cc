// SPDX-License-Identifier: GPL-2.0-only

#include "foreign-traffic.h"

#include "cluster-helper.h"
#include "core/base/errors.h"
#include "core/topology/event-target.h"
#include "core/topology/routing.h"

#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-classes.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-packet.h"
#include "ns3/fabric-path.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/node.h"
#include "ns3/path-selector.h"
#include "ns3/rdma-nic.h"
#include "ns3/switch-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace ns3
{

using namespace scaleacross;

namespace
{

/// Addresses that are tried for one that leads over a link.
constexpr uint32_t kMostTried = 1U << 20;

/// NICs at each end of n parallel links, where pairs of them are hashed: for the last link, too, m
/// are free at both ends with m^2 > 20 n, so that no pair of theirs takes it with a probability of
/// (1 - 1/n)^(m^2) < e^-20.
size_t
NicsFor(size_t links)
{
    return links + static_cast<size_t>(std::ceil(std::sqrt(20.0 * static_cast<double>(links))));
}

DataRate
ToDataRate(BitRate rate)
{
    return DataRate(static_cast<uint64_t>(std::llround(rate.Value())));
}

/// Bytes of the largest IP packet that `nic` and switches with packets of `largest` bytes take.
uint32_t
PacketSizeFor(const RdmaNic& nic, uint64_t largest)
{
    const uint32_t mtu = nic.GetMtu();
    const uint32_t wire = nic.ForeignWireSize(mtu);
    return wire > largest ? mtu - static_cast<uint32_t>(wire - largest) : mtu;
}

/// The largest priority of the job's data.
uint64_t
DataPriority(const TrafficClasses& classes, const FabricHelper& fabric)
{
    if (classes.AreOne())
    {
        return std::stoul(fabric.GetQueuePairAttribute("Priority"));
    }
    uint32_t largest = 0;
    for (uint32_t c = 0; c < kTrafficClasses; c++)
    {
        largest = (classes.Used() >> c & 1U) != 0 ? c : largest;
    }
    return ClassPriority(largest);
}

/// Throws ConfigError (where = `where`) where others' packets are not possible; else gives NICs
/// that are added from now on the priority of theirs.
void
CheckPossible(const Scenario& scenario, FabricHelper& fabric, const std::string& where)
{
    if (RoutingOf(scenario.cluster).HasDetours() && scenario.network.transport->credits)
    {
        throw ConfigError(where,
                          "packets of others need a lane of their own, and with " +
                              ToString(scenario.network.transport) +
                              " packets of the job take all there are, as those on detours "
                              "change theirs",
                          "buildings without detours, or a transport without credits",
                          "a degradation to the factor 1 - load takes as much of the span");
    }
    const uint64_t data = DataPriority(scenario.network.classes, fabric);
    const uint64_t answers = std::stoul(fabric.GetQueuePairAttribute("AckPriority"));
    if (data + 1 >= kPriorities || data + 1 == answers)
    {
        throw ConfigError(where,
                          "packets of others have the priority above the job's data, and above " +
                              std::to_string(data) +
                              (data + 1 == answers ? " are its answers" : " there is none"),
                          "a lower RdmaQueuePair::Priority",
                          "leave network.ns3.ns3::RdmaQueuePair::Priority out");
    }
    fabric.SetNicAttribute("ForeignPriority", UintegerValue(data + 1));
}

} // namespace

void
ForeignTraffic::Install(const Scenario& scenario, ClusterHelper& cluster)
{
    FabricHelper& fabric = cluster.GetFabric();
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        const EventSpec& event = scenario.events[i];
        if (event.kind->change != EventChange::Shares)
        {
            continue;
        }
        const std::string where = PlaceOf(scenario.events, i);
        CheckPossible(scenario, fabric, where);
        fabric.FixAddresses(); // the job keeps its own
        const FabricGraph& graph = cluster.GetGraph();
        std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> links; // by their switches
        for (const uint32_t index : TargetOf(scenario.cluster, graph, event, where).links)
        {
            links[{graph.links[index].a, graph.links[index].b}].push_back(index);
        }
        for (const auto& [ends, indices] : links)
        {
            Build(scenario, i, indices, cluster);
        }
    }
    if (!m_bundles.empty())
    {
        fabric.UpdateRoutes();
        InstallSources();
    }
}

void
ForeignTraffic::Build(const Scenario& scenario,
                      size_t event,
                      const std::vector<uint32_t>& links,
                      ClusterHelper& cluster)
{
    FabricHelper& fabric = cluster.GetFabric();
    const FabricGraph& graph = cluster.GetGraph();
    const FabricLink& link = graph.links[links.front()];
    const PathOwner owner = scenario.network.multipath->owner;
    Bundle bundle;
    bundle.event = scenario.events[event];
    bundle.where = PlaceOf(scenario.events, event);
    bundle.rate = ToDataRate(link.rate);
    for (const uint32_t index : links)
    {
        bundle.wires.push_back(cluster.GetWire(index));
    }
    bundle.byPair = links.size() > 1 && owner == PathOwner::NicPair;
    const size_t nics = bundle.byPair ? NicsFor(links.size()) : links.size();
    for (const auto& [end, vertex] : {std::pair(0, link.a), {1, link.b}})
    {
        const Ptr<FabricSwitch> fabricSwitch = cluster.GetSwitch(vertex);
        for (size_t n = 0; n < nics; n++)
        {
            const Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            const Ptr<FabricPort> port = fabricSwitch->AddPort();
            if (scenario.network.UsesPfc())
            {
                // Nothing lossless comes from there, so it needs no headroom.
                port->SetAttribute("Pfc", BooleanValue(false));
            }
            // As near as the first NIC of the cluster is to its leaf.
            fabric.ConnectPorts(nic,
                                port,
                                bundle.rate,
                                PicoSeconds(graph.links.front().delay.Ps()));
            fabric.KeepOffDetours(nic);
            bundle.nics[end].push_back(nic);
        }
        UintegerValue largest;
        fabricSwitch->GetAttribute("MaxPacketSize", largest);
        bundle.packetSize = PacketSizeFor(*bundle.nics[end].front(), largest.Get());
        fabricSwitch->CheckConfig();
    }
    if (links.size() > 1 && owner == PathOwner::Destination)
    {
        ChooseAddresses(bundle, 0);
        ChooseAddresses(bundle, 1);
    }
    m_bundles.push_back(std::move(bundle));
}

void
ForeignTraffic::ChooseAddresses(const Bundle& bundle, size_t end)
{
    const auto portOf = [&bundle, end](size_t link) {
        return DynamicCast<SwitchPort>(bundle.wires[link]->GetDevice(1 - end));
    };
    const Ptr<PathSelector> selector = portOf(0)->GetSwitch().GetPathSelector();
    PortGroup group;
    for (size_t i = 0; i < bundle.wires.size(); i++)
    {
        group.ports.push_back(static_cast<uint16_t>(portOf(i)->GetPortNumber()));
    }
    std::sort(group.ports.begin(), group.ports.end());
    FabricPacket packet;
    const auto takes = [&](size_t i) {
        packet.destination = m_nextAddress++;
        return selector->PortOfFlow(group, packet) == portOf(i)->GetPortNumber();
    };
    for (size_t i = 0; i < bundle.wires.size(); i++)
    {
        uint32_t left = kMostTried;
        while (!takes(i))
        {
            if (--left == 0)
            {
                throw ConfigError(
                    bundle.where,
                    "of " + std::to_string(kMostTried) + " addresses none leads over one of " +
                        std::to_string(bundle.wires.size()) + " links between two switches",
                    "one lane, or another multipath",
                    "set lanes of the span to 1");
            }
        }
        bundle.nics[end][i]->SetFabricAddress(packet.destination);
    }
}

void
ForeignTraffic::InstallSources()
{
    for (const Bundle& bundle : m_bundles)
    {
        for (const size_t end : {0, 1})
        {
            if (bundle.byPair)
            {
                AddSourcesByPair(bundle, end);
                continue;
            }
            for (size_t i = 0; i < bundle.wires.size(); i++)
            {
                AddSource(bundle, bundle.wires[i], bundle.nics[end][i], bundle.nics[1 - end][i]);
            }
        }
    }
    m_bundles.clear();
}

void
ForeignTraffic::AddSourcesByPair(const Bundle& bundle, size_t end)
{
    std::vector<Ptr<RdmaNic>> senders = bundle.nics[end];
    std::vector<Ptr<RdmaNic>> receivers = bundle.nics[1 - end];
    for (const Ptr<FabricWire>& wire : bundle.wires)
    {
        const auto port = DynamicCast<FabricPort>(wire->GetDevice(end));
        const auto takes = [&port](const Ptr<RdmaNic>& from, const Ptr<RdmaNic>& to) {
            const auto path = PathOf({from, to, 0, 0});
            return std::find(path.begin(), path.end(), port) != path.end();
        };
        bool found = false;
        for (size_t i = 0; i < senders.size() && !found; i++)
        {
            for (size_t k = 0; k < receivers.size() && !found; k++)
            {
                if (takes(senders[i], receivers[k]))
                {
                    AddSource(bundle, wire, senders[i], receivers[k]);
                    senders.erase(senders.begin() + i); // which are as fast as one link
                    receivers.erase(receivers.begin() + k);
                    found = true;
                }
            }
        }
        if (!found)
        {
            throw ConfigError(bundle.where,
                              "no pair of others' NICs takes one of " +
                                  std::to_string(bundle.wires.size()) + " parallel links",
                              "fewer lanes, or a multipath that sees more than the pair of NICs",
                              "");
        }
    }
}

void
ForeignTraffic::AddSource(const Bundle& bundle,
                          const Ptr<FabricWire>& wire,
                          const Ptr<RdmaNic>& from,
                          const Ptr<RdmaNic>& to)
{
    auto source = CreateObject<ForeignSource>();
    const double rate = static_cast<double>(bundle.rate.GetBitRate()) * bundle.event.load;
    source->SetAttribute(
        "Rate",
        DataRateValue(DataRate(std::max<uint64_t>(1, static_cast<uint64_t>(rate)))));
    source->SetAttribute("PacketSize", UintegerValue(bundle.packetSize));
    source->SetEnds(from, to);
    source->SetWire(wire);
    source->SetStartTime(PicoSeconds(bundle.event.at.Ps()));
    source->SetStopTime(PicoSeconds(bundle.event.until.Ps())); // 0: never
    from->GetNode()->AddApplication(source);
    m_sources.push_back(source);
}

int64_t
ForeignTraffic::AssignStreams(int64_t stream)
{
    int64_t used = 0;
    for (const Ptr<ForeignSource>& source : m_sources)
    {
        used += source->AssignStreams(stream + used);
    }
    return used;
}

} // namespace ns3
