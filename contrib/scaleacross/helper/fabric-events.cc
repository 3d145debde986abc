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

} // namespace ns3
