// SPDX-License-Identifier: GPL-2.0-only

#include "look-ahead-runs.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/object-factory.h"

#include <algorithm>

namespace lookahead
{

EngineGuard::EngineGuard(const Engine& engine)
{
    Set(engine.eager, engine.switchesAhead, engine.nicsBehind);
    Simulator::SetScheduler(ObjectFactory(engine.scheduler));
}

EngineGuard::~EngineGuard()
{
    Simulator::Destroy();
    Set(false, false, false);
    Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
    Simulator::Destroy();
}

void
EngineGuard::Set(bool eager, bool ahead, bool behind)
{
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(eager));
    Config::SetDefault("ns3::FabricSwitch::LookAhead", BooleanValue(ahead));
    Config::SetDefault("ns3::RdmaNic::LookAhead", BooleanValue(behind));
}

bool
Same(const Outcome& a, const Outcome& b)
{
    return a.delivered == b.delivered && a.completed == b.completed && a.failures == b.failures &&
           a.counters == b.counters;
}

namespace
{

void
NoteCredits(FabricPort& port, Outcome& outcome)
{
    const Time starved = port.GetStarvedTime(3);
    outcome.starved += starved;
    outcome.counters.push_back(static_cast<uint64_t>(starved.GetTimeStep()));
    outcome.counters.push_back(port.GetCreditsSent());
    outcome.counters.push_back(port.GetCreditsReceived());
    outcome.counters.push_back(port.GetPeakHeldBlocks());
    outcome.counters.push_back(port.GetCreditsLeft(3));
}

} // namespace

Outcome
OutcomeOf(const FabricHelper& fabric, const Log& log)
{
    Outcome outcome;
    outcome.events = Simulator::GetEventCount();
    CheckConservation(fabric);
    for (const auto& fabricSwitch : fabric.Switches())
    {
        outcome.pauses += fabricSwitch->GetPauses();
        outcome.drops += fabricSwitch->GetDrops();
        outcome.counters.push_back(fabricSwitch->GetPauses());
        outcome.counters.push_back(fabricSwitch->GetPeakOccupancy());
        outcome.counters.push_back(fabricSwitch->GetDrops());
        outcome.counters.push_back(fabricSwitch->GetRerouted());
        outcome.rerouted += fabricSwitch->GetRerouted();
        outcome.counters.push_back(fabricSwitch->GetTrimmed());
        outcome.trimmed += fabricSwitch->GetTrimmed();
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            Ptr<SwitchPort> port = fabricSwitch->GetPort(i);
            outcome.counters.push_back(port->GetSentBytes());
            outcome.counters.push_back(static_cast<uint64_t>(port->GetPausedTime().GetTimeStep()));
            NoteCredits(*port, outcome);
        }
    }
    for (const auto& wire : fabric.Wires())
    {
        outcome.drops += wire->GetLost() + wire->GetCut();
        outcome.counters.push_back(wire->GetLost());
        outcome.counters.push_back(wire->GetCut());
    }
    for (const auto& nic : fabric.Nics())
    {
        outcome.retransmissions += nic->GetRetransmissions();
        outcome.counters.push_back(nic->GetRetransmissions());
        outcome.counters.push_back(nic->GetTimeouts());
        outcome.counters.push_back(nic->GetSentBytes());
        outcome.counters.push_back(static_cast<uint64_t>(nic->GetPausedTime().GetTimeStep()));
        NoteCredits(*nic, outcome);
        for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
        {
            outcome.cnps += nic->GetQueuePair(i)->GetCounters().cnpsReceived;
            outcome.outOfOrder += nic->GetQueuePair(i)->GetCounters().outOfOrder;
            outcome.counters.push_back(nic->GetQueuePair(i)->GetCounters().outOfOrder);
        }
    }
    outcome.delivered = log.delivered;
    outcome.completed = log.completed;
    outcome.failures = log.failures;
    // Callbacks of different nodes at one time may come in any order.
    std::sort(outcome.delivered.begin(), outcome.delivered.end());
    std::sort(outcome.completed.begin(), outcome.completed.end());
    std::sort(outcome.failures.begin(), outcome.failures.end());
    return outcome;
}

Outcome
RunScenario(const Scenario& scenario, const Engine& engine, bool jitter)
{
    EngineGuard guard(engine);
    FabricHelper fabric;
    Log log;
    UseHpccSizes(fabric);
    scenario(fabric, log, Delays(jitter));
    Simulator::Run();
    return OutcomeOf(fabric, log);
}

} // namespace lookahead
