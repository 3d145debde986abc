// SPDX-License-Identifier: GPL-2.0-only

// Addresses and routes of a fabric.

#include "core/base/errors.h"
#include "core/topology/address-order.h"
#include "fabric-helper.h"

#include "ns3/buffer-dependency.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/log.h"
#include "ns3/path-selector.h"
#include "ns3/rdma-nic.h"
#include "ns3/switch-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <unordered_map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricRoutes");

using scaleacross::BitRate;
using scaleacross::ConfigError;
using scaleacross::RouteWeights;
using scaleacross::SwitchGraph;
using scaleacross::SwitchRoutes;

void
FabricHelper::SetRouteWeights(RouteWeights weights)
{
    m_routeWeights = weights;
}

void
FabricHelper::SetRouting(const scaleacross::Routing& routing)
{
    m_routing = &routing;
}

SwitchGraph
FabricHelper::GetSwitchGraph() const
{
    std::unordered_map<const FabricSwitch*, uint32_t> numbers;
    for (uint32_t i = 0; i < m_switches.size(); ++i)
    {
        numbers[PeekPointer(m_switches[i])] = i;
    }
    SwitchGraph graph;
    graph.links.resize(m_switches.size());
    for (uint32_t i = 0; i < m_switches.size(); ++i)
    {
        for (uint32_t p = 0; p < m_switches[i]->GetNPorts(); ++p)
        {
            const auto number = static_cast<uint16_t>(p);
            const Ptr<SwitchPort> port = m_switches[i]->GetPort(p);
            const FabricPort* peer = PeekPointer(port->GetPeer());
            const bool up = m_switches[i]->Routes().IsPortUp(number);
            if (const auto* nic = dynamic_cast<const RdmaNic*>(peer))
            {
                const bool detours = m_offDetours.count(nic) == 0;
                graph.nics.push_back({nic->GetFabricAddress(), i, number, up, detours});
            }
            else if (const auto* other = dynamic_cast<const SwitchPort*>(peer))
            {
                const auto far = static_cast<uint16_t>(other->GetPortNumber());
                const BitRate rate(static_cast<double>(port->GetDataRate().GetBitRate()));
                graph.links[i].push_back({numbers.at(&other->GetSwitch()),
                                          number,
                                          rate,
                                          up && other->GetSwitch().Routes().IsPortUp(far)});
            }
        }
    }
    return graph;
}

void
FabricHelper::GiveAddresses()
{
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
    uint32_t next = 0;
    for (const uint32_t at : scaleacross::AddressOrder(GetSwitchGraph()))
    {
        for (uint32_t i = 0; i < m_switches[at]->GetNPorts(); ++i)
        {
            auto nic = DynamicCast<RdmaNic>(m_switches[at]->GetPort(i)->GetPeer());
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
FabricHelper::KeepOffDetours(Ptr<RdmaNic> nic)
{
    m_offDetours.insert(PeekPointer(nic));
}

void
FabricHelper::InstallRoutes()
{
    m_routed = true;
    m_unrouted.clear();
    for (const auto& nic : m_nics)
    {
        if (!nic->GetPeer())
        {
            throw ConfigError(nic->Describe(), "is not connected", "every NIC on a wire", "");
        }
    }
    GiveAddresses();
    UpdateRoutes();
    SetDivisors();
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

void
FabricHelper::SetDivisors()
{
    std::vector<uint32_t> divisors;
    for (size_t i = 0; i < m_switches.size(); ++i)
    {
        const auto selector = m_switches[i]->GetPathSelector();
        if (!selector->UsesStageDivisor())
        {
            continue;
        }
        if (divisors.empty())
        {
            divisors = scaleacross::AddressDivisors(GetSwitchGraph());
        }
        selector->SetStageDivisor(divisors[i]);
    }
}

void
FabricHelper::UpdateRoutes()
{
    UpdateRoutes(GetSwitchGraph());
}

void
FabricHelper::UpdateRoutes(const SwitchGraph& graph)
{
    SetRoutes(m_routing->Compute(graph, m_routeWeights));
}

void
FabricHelper::SetRoutes(const std::vector<SwitchRoutes>& tables)
{
    SCALEACROSS_INVARIANT(tables.size() == m_switches.size(), "one table for each switch");
    for (size_t i = 0; i < tables.size(); ++i)
    {
        m_switches[i]->ChangeRoutes([&table = tables[i]](scaleacross::RouteTable& routes) {
            routes.Clear();
            for (const auto& range : table.ranges)
            {
                const scaleacross::RouteGroup& group = table.groups[range.group];
                routes.Add(range.first, range.last, {group.ports, group.weights});
            }
            for (const auto& range : table.entry.ranges)
            {
                const scaleacross::RouteGroup& group = table.entry.groups[range.group];
                routes.AddEntry(range.first, range.last, {group.ports, group.weights});
            }
        });
    }
}

} // namespace ns3
