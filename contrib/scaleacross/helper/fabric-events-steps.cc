// SPDX-License-Identifier: GPL-2.0-only

// What a fabric goes through when an event has come: wires and rates change, are noticed, and
// routes converge.

#include "fabric-events.h"
#include "fabric-helper.h"

#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricEventsSteps");

std::vector<Ptr<SwitchPort>>
FabricEvents::SwitchEnds(const FabricWire& wire)
{
    std::vector<Ptr<SwitchPort>> ends;
    for (std::size_t i = 0; i < wire.GetNDevices(); ++i)
    {
        const auto port = DynamicCast<SwitchPort>(wire.GetDevice(i));
        if (port)
        {
            ends.push_back(port);
        }
    }
    return ends;
}

void
FabricEvents::SetDown(const FabricTarget& target, const std::vector<uint32_t>& wires, bool down)
{
    std::vector<Change> changes;
    for (const uint32_t i : wires)
    {
        WireState& state = m_wires[i];
        state.causes += down ? 1 : -1;
        const bool up = state.causes == 0;
        if (up != state.wire->IsUp())
        {
            state.wire->SetUp(up);
            state.change = ++m_changes;
            changes.emplace_back(i, state.change);
        }
    }
    if (down)
    {
        for (const auto& fabricSwitch : target.switches)
        {
            fabricSwitch->DropAll();
        }
    }
    Report(down ? Step::Break : Step::Repair, target.name);
    if (Simulator::Now().IsZero())
    {
        return; // known from the beginning
    }
    At(Simulator::Now() + m_detection, Rank::Detection, [this, name = target.name, changes]() {
        Detect(name, changes);
    });
}

void
FabricEvents::SetRates(const std::vector<uint32_t>& wires)
{
    std::vector<Change> changes;
    for (const uint32_t i : wires)
    {
        WireState& state = m_wires[i];
        // In an order of their own, so that the product is the same however events overlap.
        std::sort(state.factors.begin(), state.factors.end());
        double rate = static_cast<double>(state.rate);
        for (const double factor : state.factors)
        {
            rate *= factor;
        }
        state.wire->SetDataRate(DataRate(std::max<uint64_t>(1, std::llround(rate))));
        state.rateChange = ++m_changes;
        changes.emplace_back(i, state.rateChange);
    }
    if (Simulator::Now().IsZero())
    {
        DetectRates(changes); // known from the beginning
        return;
    }
    At(Simulator::Now() + m_detection, Rank::Detection, [this, changes]() {
        DetectRates(changes);
    });
}

void
FabricEvents::DetectRates(const std::vector<Change>& changes)
{
    bool news = false;
    for (const auto& [i, change] : changes)
    {
        WireState& state = m_wires[i];
        const auto port = DynamicCast<FabricPort>(state.wire->GetDevice(0));
        const uint64_t rate = port->GetDataRate().GetBitRate();
        // Unless it has changed again meanwhile.
        if (state.rateChange == change && state.knownRate != rate)
        {
            state.knownRate = rate;
            news = true;
        }
    }
    if (news)
    {
        Spread();
    }
}

void
FabricEvents::SetKnown(WireState& state, bool up)
{
    state.known = up;
    for (const auto& port : SwitchEnds(*state.wire))
    {
        const auto number = static_cast<uint16_t>(port->GetPortNumber());
        port->GetSwitch().ChangeRoutes(
            [=](scaleacross::RouteTable& routes) { routes.SetPortUp(number, up); });
    }
}

void
FabricEvents::Detect(const std::string& name, const std::vector<Change>& changes)
{
    bool news = false;
    for (const auto& [i, change] : changes)
    {
        WireState& state = m_wires[i];
        // Unless it has changed again meanwhile.
        if (state.change == change && state.known != state.wire->IsUp())
        {
            SetKnown(state, state.wire->IsUp());
            news = true;
        }
    }
    if (news)
    {
        Report(Step::Detect, name);
        Spread();
    }
}

scaleacross::SwitchGraph
FabricEvents::KnownGraph() const
{
    scaleacross::SwitchGraph graph = m_fabric->GetSwitchGraph();
    for (size_t i = 0; i < graph.links.size(); ++i)
    {
        for (scaleacross::SwitchLink& link : graph.links[i])
        {
            const auto wire = m_fabric->Switches()[i]->GetPort(link.port)->GetWire();
            const auto state = m_index.find(PeekPointer(wire));
            if (state != m_index.end()) // else it came after SetFabric, and no event is about it
            {
                const uint64_t rate = m_wires[state->second].knownRate;
                link.rate = scaleacross::BitRate(static_cast<double>(rate));
            }
        }
    }
    return graph;
}

void
FabricEvents::Spread()
{
    News news;
    news.at = Simulator::Now().IsZero() ? Time(0) : Simulator::Now() + m_convergence;
    news.graph = KnownGraph();
    // Of what is heard at one time, the last is the newest.
    const bool planned = !m_news.empty() && m_news.back().at == news.at;
    if (planned)
    {
        m_news.pop_back();
    }
    m_news.push_back(std::move(news));
    if (Simulator::Now().IsZero())
    {
        Converge();
    }
    else if (!planned)
    {
        At(m_news.back().at, Rank::Tables, [this]() { Converge(); });
    }
}

void
FabricEvents::Converge()
{
    const News news = std::move(m_news.front());
    m_news.pop_front();
    m_fabric->UpdateRoutes(news.graph);
    m_convergences += Simulator::Now().IsZero() ? 0 : 1;
    Report(Step::Converge, "");
}

void
FabricEvents::Report(Step step, const std::string& target)
{
    NS_LOG_INFO(Simulator::Now().GetPicoSeconds()
                << " ps: " << NameOf(step) << (target.empty() ? "" : " of ") << target);
    m_stepTrace(step, target);
}

const char*
FabricEvents::NameOf(Step step)
{
    switch (step)
    {
    case Step::Break:
        return "break";
    case Step::Repair:
        return "repair";
    case Step::Degrade:
        return "degrade";
    case Step::Restore:
        return "restore";
    case Step::Detect:
        return "detect";
    case Step::Converge:
        return "converge";
    }
    return "unknown";
}

uint64_t
FabricEvents::GetConvergences() const
{
    return m_convergences;
}

} // namespace ns3
