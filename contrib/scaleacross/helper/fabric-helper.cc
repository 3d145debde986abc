// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-helper.h"

#include "buffer-dependency.h"
#include "core/base/errors.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"

#include <algorithm>
#include <map>

namespace ns3
{

using scaleacross::ConfigError;

NS_LOG_COMPONENT_DEFINE("FabricHelper");

FabricHelper::FabricHelper()
{
    m_switchFactory.SetTypeId("ns3::FabricSwitch");
    m_nicFactory.SetTypeId("ns3::RdmaNic");
    m_connectionFactory.SetTypeId("ns3::RdmaConnection");
}

FabricHelper::~FabricHelper() = default;

void
FabricHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_switchFactory.Set(name, value);
}

void
FabricHelper::SetNicAttribute(const std::string& name, const AttributeValue& value)
{
    m_nicFactory.Set(name, value);
}

void
FabricHelper::SetConnectionAttribute(const std::string& name, const AttributeValue& value)
{
    m_connectionFactory.Set(name, value);
}

void
FabricHelper::SetQueuePairAttribute(const std::string& name, const AttributeValue& value)
{
    m_queuePairAttributes.emplace_back(name, value.Copy());
}

void
FabricHelper::SetLookAhead(bool lookAhead)
{
    m_switchFactory.Set("LookAhead", BooleanValue(lookAhead));
    m_nicFactory.Set("LookAhead", BooleanValue(lookAhead));
}

void
FabricHelper::HoldAt(Time time)
{
    for (const auto& fabricSwitch : m_switches)
    {
        fabricSwitch->HoldAt(time);
    }
}

Ptr<Node>
FabricHelper::AddHost()
{
    return CreateObject<Node>();
}

Ptr<RdmaNic>
FabricHelper::AddNic(Ptr<Node> host)
{
    Ptr<RdmaNic> nic = m_nicFactory.Create<RdmaNic>();
    nic->SetFabricAddress(static_cast<uint32_t>(m_nics.size()));
    host->AddDevice(nic);
    m_nics.push_back(nic);
    return nic;
}

Ptr<FabricSwitch>
FabricHelper::AddSwitch()
{
    Ptr<Node> node = CreateObject<Node>();
    Ptr<FabricSwitch> fabricSwitch = m_switchFactory.Create<FabricSwitch>();
    node->AggregateObject(fabricSwitch);
    m_switches.push_back(fabricSwitch);
    return fabricSwitch;
}

Ptr<FabricWire>
FabricHelper::ConnectPorts(Ptr<FabricPort> a,
                           Ptr<FabricPort> b,
                           DataRate rate,
                           Time delay,
                           double loss)
{
    Ptr<FabricWire> wire = CreateObject<FabricWire>();
    wire->SetAttribute("Delay", TimeValue(delay));
    if (loss != 0) // else the default of FabricWire::LossRate or LossModel
    {
        wire->SetAttribute("LossRate", DoubleValue(loss));
    }
    a->SetDataRate(rate);
    b->SetDataRate(rate);
    wire->Attach(a, b);
    m_wires.push_back(wire);
    return wire;
}

Ptr<FabricWire>
FabricHelper::Connect(Ptr<RdmaNic> nic,
                      Ptr<FabricSwitch> fabricSwitch,
                      DataRate rate,
                      Time delay,
                      double loss)
{
    return ConnectPorts(nic, fabricSwitch->AddPort(), rate, delay, loss);
}

Ptr<FabricWire>
FabricHelper::Connect(Ptr<FabricSwitch> a,
                      Ptr<FabricSwitch> b,
                      DataRate rate,
                      Time delay,
                      double loss)
{
    return ConnectPorts(a->AddPort(), b->AddPort(), rate, delay, loss);
}

namespace
{

/// Neighbouring switches, and the port that leads to each.
struct Link
{
    size_t to;
    uint16_t port;
};

using SwitchGraph = std::vector<std::vector<Link>>;

SwitchGraph
GraphOf(const std::vector<Ptr<FabricSwitch>>& switches)
{
    std::map<const FabricSwitch*, size_t> index;
    for (size_t i = 0; i < switches.size(); ++i)
    {
        index[PeekPointer(switches[i])] = i;
    }
    SwitchGraph graph(switches.size());
    for (size_t i = 0; i < switches.size(); ++i)
    {
        for (uint32_t p = 0; p < switches[i]->GetNPorts(); ++p)
        {
            auto peer = DynamicCast<SwitchPort>(switches[i]->GetPort(p)->GetPeer());
            if (peer)
            {
                graph[i].push_back({index.at(&peer->GetSwitch()), static_cast<uint16_t>(p)});
            }
        }
    }
    return graph;
}

/// Wires from every switch to switch `target`, by breadth-first search; SIZE_MAX if there is no
/// way.
std::vector<size_t>
DistancesTo(const SwitchGraph& graph, size_t target)
{
    std::vector<size_t> distance(graph.size(), SIZE_MAX);
    std::vector<size_t> queue{target};
    distance[target] = 0;
    for (size_t head = 0; head < queue.size(); ++head)
    {
        for (const Link& link : graph[queue[head]])
        {
            if (distance[link.to] == SIZE_MAX)
            {
                distance[link.to] = distance[queue[head]] + 1;
                queue.push_back(link.to);
            }
        }
    }
    return distance;
}

/// For every switch the ports on shortest paths to switch `target`; none if there is no way.
std::vector<std::vector<uint16_t>>
NextHopsTo(const SwitchGraph& graph, size_t target)
{
    const std::vector<size_t> distance = DistancesTo(graph, target);
    std::vector<std::vector<uint16_t>> nextHops(graph.size());
    for (size_t i = 0; i < graph.size(); ++i)
    {
        for (const Link& link : graph[i])
        {
            if (distance[i] != SIZE_MAX && distance[link.to] + 1 == distance[i])
            {
                nextHops[i].push_back(link.port);
            }
        }
    }
    return nextHops;
}

} // namespace

void
FabricHelper::GiveAddresses()
{
    uint32_t next = 0;
    if (m_fixed)
    {
        return;
    }
    for (const auto& nic : m_nics)
    {
        if (nic->GetNQueuePairs() > 0)
        {
            return; // queue pairs know their addresses already
        }
    }
    for (const auto& fabricSwitch : m_switches)
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            auto nic = DynamicCast<RdmaNic>(fabricSwitch->GetPort(i)->GetPeer());
            if (nic)
            {
                nic->SetFabricAddress(next++);
            }
        }
    }
    for (const auto& nic : m_nics)
    {
        if (!DynamicCast<SwitchPort>(nic->GetPeer()))
        {
            nic->SetFabricAddress(next++);
        }
    }
}

void
FabricHelper::FixAddresses()
{
    if (!m_routed)
    {
        throw ConfigError("FabricHelper::FixAddresses",
                          "addresses are asked for before InstallRoutes, which gives them anew",
                          "",
                          "call InstallRoutes first");
    }
    m_fixed = true;
}

void
FabricHelper::InstallRoutes()
{
    m_routed = true;
    for (const auto& nic : m_nics)
    {
        if (!nic->GetPeer())
        {
            throw ConfigError(nic->Describe(), "is not connected", "every NIC on a wire", "");
        }
    }
    GiveAddresses();
    const SwitchGraph graph = GraphOf(m_switches);
    for (const auto& fabricSwitch : m_switches)
    {
        fabricSwitch->Routes().Clear();
    }
    for (size_t target = 0; target < m_switches.size(); ++target)
    {
        std::vector<std::vector<uint16_t>> nextHops;
        for (uint32_t p = 0; p < m_switches[target]->GetNPorts(); ++p)
        {
            auto nic = DynamicCast<RdmaNic>(m_switches[target]->GetPort(p)->GetPeer());
            if (!nic)
            {
                continue;
            }
            if (nextHops.empty())
            {
                nextHops = NextHopsTo(graph, target);
            }
            uint32_t address = nic->GetFabricAddress();
            for (size_t i = 0; i < m_switches.size(); ++i)
            {
                if (i == target)
                {
                    m_switches[i]->Routes().Add(address, address, {{static_cast<uint16_t>(p)}, {}});
                }
                else if (!nextHops[i].empty())
                {
                    m_switches[i]->Routes().Add(address, address, {nextHops[i], {}});
                }
            }
        }
    }
    for (const auto& fabricSwitch : m_switches)
    {
        fabricSwitch->CheckConfig();
    }
    if (g_log.IsEnabled(LOG_WARN))
    {
        const std::string cycle = FindBufferDependencyCycle(*this).Text();
        if (!cycle.empty())
        {
            NS_LOG_WARN(cycle << ": under load, pauses may lock each other");
        }
    }
}

Ptr<RdmaConnection>
FabricHelper::CreateConnection(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    return CreateConnection({{from, to}});
}

Ptr<RdmaConnection>
FabricHelper::CreateConnection(const std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>>& nics)
{
    Ptr<RdmaConnection> connection = m_connectionFactory.Create<RdmaConnection>();
    for (const auto& [name, value] : m_queuePairAttributes)
    {
        connection->SetQueuePairAttribute(name, *value);
    }
    connection->Connect(nics);
    m_connections.push_back(connection);
    return connection;
}

int64_t
FabricHelper::AssignStreams(int64_t stream)
{
    int64_t next = stream;
    for (const auto& wire : m_wires)
    {
        next += wire->AssignStreams(next);
    }
    for (const auto& fabricSwitch : m_switches)
    {
        next += fabricSwitch->AssignStreams(next);
    }
    return next - stream;
}

const std::vector<Ptr<RdmaNic>>&
FabricHelper::Nics() const
{
    return m_nics;
}

const std::vector<Ptr<FabricSwitch>>&
FabricHelper::Switches() const
{
    return m_switches;
}

const std::vector<Ptr<FabricWire>>&
FabricHelper::Wires() const
{
    return m_wires;
}

const std::vector<Ptr<RdmaConnection>>&
FabricHelper::Connections() const
{
    return m_connections;
}

} // namespace ns3
