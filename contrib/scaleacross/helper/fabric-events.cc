// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-events.h"

#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/attribute-guard.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ns3
{

using scaleacross::ConfigError;

NS_LOG_COMPONENT_DEFINE("FabricEvents");

NS_OBJECT_ENSURE_REGISTERED(FabricEvents);

namespace
{

/// The ends of a wire that are ports of switches.
std::vector<Ptr<SwitchPort>>
SwitchEnds(const FabricWire& wire)
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

} // namespace

TypeId
FabricEvents::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricEvents")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<FabricEvents>()
            .AddAttribute("DetectionDelay",
                          "Time for which a wire has to be down, or back, until the switches at "
                          "its ends act on it. Loss of signal is seen within microseconds, a "
                          "routing protocol's own hellos take milliseconds. To be set before the "
                          "first event.",
                          TimeValue(MicroSeconds(10)),
                          scaleacross::Fixed(MakeTimeAccessor(&FabricEvents::m_detection)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ConvergenceDelay",
                          "Time from then until all switches have new tables. To be set before the "
                          "first event.",
                          TimeValue(MilliSeconds(1)),
                          scaleacross::Fixed(MakeTimeAccessor(&FabricEvents::m_convergence)),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("Step",
                            "Something has happened, or has become known: which step, and of which "
                            "target.",
                            MakeTraceSourceAccessor(&FabricEvents::m_stepTrace),
                            "ns3::FabricEvents::StepTracedCallback");
    return tid;
}

FabricEvents::FabricEvents() = default;

FabricEvents::~FabricEvents() = default;

void
FabricEvents::DoDispose()
{
    m_due.clear();
    m_wires.clear();
    m_index.clear();
    m_fabric = nullptr;
    Object::DoDispose();
}

void
FabricEvents::SetFabric(FabricHelper& fabric)
{
    if (m_fabric != nullptr)
    {
        throw ConfigError("FabricEvents::SetFabric",
                          "there is a fabric already",
                          "one call",
                          "use another FabricEvents");
    }
    m_fabric = &fabric;
    for (const auto& wire : fabric.Wires())
    {
        WireState state;
        state.wire = wire;
        state.rate = DynamicCast<FabricPort>(wire->GetDevice(0))->GetDataRate().GetBitRate();
        state.knownRate = state.rate;
        m_index[PeekPointer(wire)] = static_cast<uint32_t>(m_wires.size());
        m_wires.push_back(state);
    }
}

FabricTarget
FabricEvents::LinkTarget(Ptr<FabricWire> wire)
{
    const auto name = [&](std::size_t i) {
        return DynamicCast<FabricPort>(wire->GetDevice(i))->Describe();
    };
    return {name(0) + "--" + name(1), {wire}, {}};
}

FabricTarget
FabricEvents::SwitchTarget(Ptr<FabricSwitch> fabricSwitch)
{
    return {"node " + std::to_string(fabricSwitch->GetObject<Node>()->GetId()), {}, {fabricSwitch}};
}

// --- What is to happen
// ------------------------------------------------------------------------------------------

void
FabricEvents::CheckSwitches(const std::string& where, const FabricTarget& target) const
{
    const auto& known = m_fabric->Switches();
    for (const auto& fabricSwitch : target.switches)
    {
        if (std::find(known.begin(), known.end(), fabricSwitch) == known.end())
        {
            throw ConfigError(where,
                              "a switch of " + target.name + " is none of the fabric's",
                              "switches that FabricHelper has created",
                              "");
        }
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            const auto port = fabricSwitch->GetPort(i);
            if (m_index.count(PeekPointer(port->GetWire())) == 0)
            {
                throw ConfigError(
                    where,
                    port->Describe() + " of " + target.name +
                        (port->GetWire() ? " was connected after SetFabric" : " has no wire"),
                    "wires that were there at SetFabric",
                    "call SetFabric when all is connected");
            }
        }
    }
}

void
FabricEvents::Check(const std::string& what, const FabricTarget& target, Time at, Time until) const
{
    const std::string where = "FabricEvents::" + what;
    if (m_fabric == nullptr)
    {
        throw ConfigError(where, "there is no fabric yet", "", "call SetFabric first");
    }
    if (target.wires.empty() && target.switches.empty())
    {
        throw ConfigError(where, target.name + " has no wires and no switches", "at least one", "");
    }
    CheckSwitches(where, target);
    for (const auto& wire : target.wires)
    {
        if (m_index.count(PeekPointer(wire)) == 0)
        {
            throw ConfigError(where,
                              "a wire of " + target.name + " is none of the fabric's",
                              "wires that were there at SetFabric",
                              "call SetFabric when all is connected");
        }
    }
    if (at < Simulator::Now() || (!until.IsZero() && until <= at))
    {
        throw ConfigError(where,
                          target.name + ": from " + std::to_string(at.GetPicoSeconds()) +
                              " ps until " + std::to_string(until.GetPicoSeconds()) + " ps",
                          "a time to come, and an end after it or 0",
                          "");
    }
}

std::vector<uint32_t>
FabricEvents::WiresOf(const FabricTarget& target) const
{
    std::set<uint32_t> wires;
    for (const auto& wire : target.wires)
    {
        wires.insert(m_index.at(PeekPointer(wire)));
    }
    for (const auto& fabricSwitch : target.switches)
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            wires.insert(m_index.at(PeekPointer(fabricSwitch->GetPort(i)->GetWire())));
        }
    }
    return {wires.begin(), wires.end()};
}

void
FabricEvents::Announce(const std::vector<uint32_t>& wires, Time at)
{
    FixAttributes("an event has been announced");
    std::set<FabricSwitch*> ends;
    for (const uint32_t i : wires)
    {
        for (const auto& port : SwitchEnds(*m_wires[i].wire))
        {
            ends.insert(&port->GetSwitch());
        }
    }
    for (FabricSwitch* end : ends)
    {
        end->HoldAt(at);
        end->HoldAt(at + m_detection);
    }
    m_fabric->HoldAt(at + m_detection + m_convergence);
}

void
FabricEvents::At(Time at, Rank rank, std::function<void()> action)
{
    m_due[{at, rank}].push_back(std::move(action));
    Simulator::Schedule(at - Simulator::Now(), &FabricEvents::RunDue, Ptr<FabricEvents>(this));
}

void
FabricEvents::RunDue()
{
    while (!m_due.empty() && m_due.begin()->first.first <= Simulator::Now())
    {
        const auto actions = std::move(m_due.begin()->second);
        m_due.erase(m_due.begin());
        for (const auto& action : actions)
        {
            action();
        }
    }
}

void
FabricEvents::Fail(const FabricTarget& target, Time at, Time until)
{
    Check("Fail", target, at, until);
    const std::vector<uint32_t> wires = WiresOf(target);
    if (at.IsZero())
    {
        SetDown(target, wires, true);
        for (const uint32_t i : wires)
        {
            SetKnown(m_wires[i], false);
        }
        Spread();
    }
    else
    {
        Announce(wires, at);
        At(at, Rank::Wires, [this, target, wires]() { SetDown(target, wires, true); });
    }
    if (!until.IsZero())
    {
        Announce(wires, until);
        At(until, Rank::Wires, [this, target, wires]() { SetDown(target, wires, false); });
    }
}

void
FabricEvents::Flap(const FabricTarget& target, Time at, Time down, Time period, uint32_t count)
{
    if (down <= Time(0) || period <= down || count == 0)
    {
        throw ConfigError("FabricEvents::Flap",
                          target.name + ": down for " + std::to_string(down.GetPicoSeconds()) +
                              " ps of every " + std::to_string(period.GetPicoSeconds()) + " ps, " +
                              std::to_string(count) + " times",
                          "a period longer than the time down, which is more than 0, and at least "
                          "once",
                          "");
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        const Time begin = at + i * period;
        Fail(target, begin, begin + down);
    }
}

void
FabricEvents::Degrade(const FabricTarget& target, double factor, Time at, Time until)
{
    Check("Degrade", target, at, until);
    if (!(factor > 0 && factor <= 1))
    {
        throw ConfigError("FabricEvents::Degrade",
                          target.name + ": a factor of " + std::to_string(factor),
                          "above 0 and at most 1",
                          "let it fail instead, or leave it as it is");
    }
    const std::vector<uint32_t> wires = WiresOf(target);
    const auto begin = [this, target, wires, factor]() {
        for (const uint32_t i : wires)
        {
            m_wires[i].factors.push_back(factor);
        }
        SetRates(wires);
        Report(Step::Degrade, target.name);
    };
    const auto end = [this, target, wires, factor]() {
        for (const uint32_t i : wires)
        {
            auto& factors = m_wires[i].factors;
            factors.erase(std::find(factors.begin(), factors.end(), factor));
        }
        SetRates(wires);
        Report(Step::Restore, target.name);
    };
    if (at.IsZero())
    {
        begin();
    }
    else
    {
        Announce(wires, at);
        At(at, Rank::Wires, begin);
    }
    if (!until.IsZero())
    {
        Announce(wires, until);
        At(until, Rank::Wires, end);
    }
}

// --- What happens
// -----------------------------------------------------------------------------------------------

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
