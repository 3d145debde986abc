// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-wire.h"

#include "arrival-agenda.h"
#include "core/base/errors.h"
#include "fabric-port.h"

#include "ns3/attribute-guard.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/partition-check.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricWire");

using scaleacross::ConfigError;

NS_OBJECT_ENSURE_REGISTERED(FabricWire);

TypeId
FabricWire::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricWire")
            .SetParent<Channel>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<FabricWire>()
            .AddAttribute(
                "Delay",
                "Propagation delay, one way. Fibre: 5 us per km.",
                TimeValue(MicroSeconds(1)),
                scaleacross::Live(MakeTimeAccessor(&FabricWire::SetDelay, &FabricWire::GetDelay)),
                MakeTimeChecker(Time(0)))
            .AddAttribute("LossRate",
                          "Probability that a packet is lost, independently of all others, in "
                          "each direction. Short for LossModel \"ns3::IidLossModel[LossRate=q]\"; "
                          "whichever is set last counts.",
                          DoubleValue(0.0),
                          scaleacross::Live(MakeDoubleAccessor(&FabricWire::SetLossRate,
                                                               &FabricWire::GetLossRate)),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("LossModel",
                          "What loses packets: type and attributes of a FabricLossModel, as in "
                          "\"ns3::GilbertElliottLossModel[GoodToBad=1e-5|BadToGood=0.1]\". Each "
                          "direction gets one of its own.",
                          StringValue(""),
                          scaleacross::Live(MakeStringAccessor(&FabricWire::SetLossModels,
                                                               &FabricWire::GetLossModels)),
                          MakeStringChecker())
            .AddTraceSource("Up",
                            "The wire breaks (false) or is back (true), and both ends know.",
                            MakeTraceSourceAccessor(&FabricWire::m_upTrace),
                            "ns3::FabricWire::LinkTracedCallback");
    return tid;
}

FabricWire::FabricWire() = default;

FabricWire::~FabricWire() = default;

void
FabricWire::BeginRun()
{
    m_running = true;
    for (auto& lane : m_lanes)
    {
        if (lane.m_loss)
        {
            lane.m_loss->FixAttributes("the run has begun");
        }
    }
}

void
FabricWire::DoDispose()
{
    for (auto& lane : m_lanes)
    {
        lane.m_flight.Clear();
        lane.m_loss = nullptr;
    }
    m_iid = {};
    m_ports = {};
    Channel::DoDispose();
}

void
FabricWire::Attach(Ptr<FabricPort> a, Ptr<FabricPort> b)
{
    const char* problem = nullptr;
    if (m_ports[0])
    {
        problem = "the wire is attached already";
    }
    else if (!a || !b)
    {
        problem = "there is no port: a pointer is null";
    }
    else if (!a->GetNode() || !b->GetNode())
    {
        problem = "a port belongs to no node";
    }
    else if (&a->Agenda() == &b->Agenda())
    {
        problem = "both ends are on the same switch or NIC";
    }
    else if (a->GetWire() || b->GetWire())
    {
        problem = "a port has a wire already";
    }
    if (problem != nullptr)
    {
        throw ConfigError("FabricWire::Attach",
                          problem,
                          "one call with free ports of two different nodes",
                          "");
    }
    for (const auto& port : {a, b})
    {
        scaleacross::CheckPartition(port->GetNode(), "FabricWire::Attach");
    }
    m_ports = {a, b};
    for (size_t i = 0; i < 2; ++i)
    {
        FabricPort& to = *m_ports[1 - i];
        m_lanes[i].m_from = PeekPointer(m_ports[i]);
        m_lanes[i].m_to = &to;
        m_lanes[i].m_agenda = &to.Agenda();
        m_lanes[i].m_order = to.GetPortNumber();
        to.Agenda().SetContext(to.GetNode()->GetId());
        to.Agenda().Attach(&m_lanes[i]);
        m_ports[i]->SetWire(this, &m_lanes[i]);
        NoteRate(i);
    }
}

std::size_t
FabricWire::GetNDevices() const
{
    return m_ports[0] ? 2 : 0;
}

Ptr<NetDevice>
FabricWire::GetDevice(std::size_t i) const
{
    return m_ports.at(i);
}

Ptr<FabricPort>
FabricWire::GetPeer(const FabricPort* port) const
{
    return PeekPointer(m_ports[0]) == port ? m_ports[1] : m_ports[0];
}

const scaleacross::FabricLane&
FabricWire::GetLane(std::size_t i) const
{
    return m_lanes.at(i);
}

void
FabricWire::CatchUp()
{
    for (const auto& port : m_ports)
    {
        if (!port)
        {
            continue;
        }
        const int64_t now = scaleacross::SimulatorPicoseconds();
        if (port->Agenda().Horizon() > now)
        {
            throw ConfigError(port->Describe(),
                              "is to change at " + std::to_string(now) +
                                  " ps, but its node has run ahead to " +
                                  std::to_string(port->Agenda().Horizon()) + " ps",
                              "a change that has been announced",
                              "call FabricHelper::HoldAt(time) beforehand, or set LookAhead false");
        }
        port->BringUpToDate();
    }
}

void
FabricWire::Finish()
{
    for (const auto& port : m_ports)
    {
        // Before the run there is nothing to finish, and nodes are not ready for it.
        if (port && port->IsInitialized())
        {
            port->Agenda().Finish();
        }
    }
    const int64_t now = scaleacross::SimulatorPicoseconds();
    for (const auto& port : m_ports)
    {
        if (port && port->IsInitialized())
        {
            port->CatchUp(now);
        }
    }
}

bool
FabricWire::IsUp() const
{
    return m_up;
}

void
FabricWire::SetUp(bool up)
{
    if (!m_ports[0])
    {
        throw ConfigError("FabricWire::SetUp",
                          "the wire joins no ports",
                          "a wire that is attached",
                          "call Attach first");
    }
    if (m_up == up)
    {
        return;
    }
    Finish();
    const int64_t now = scaleacross::SimulatorPicoseconds();
    m_up = up;
    // First both ends know, then sinks may look at anything.
    for (const auto& port : m_ports)
    {
        port->SetLinkUp(up, now);
    }
    if (!up)
    {
        for (auto& lane : m_lanes)
        {
            lane.Break(now);
        }
    }
    for (size_t i = 0; i < 2 && up; ++i)
    {
        NoteRate(i);
    }
    for (const auto& port : m_ports)
    {
        port->LinkChanged(up, now);
    }
    NS_LOG_INFO(Simulator::Now().As(Time::US)
                << " wire of " << m_ports[0]->Describe() << " and " << m_ports[1]->Describe()
                << (up ? " is up" : " is down"));
    m_upTrace(up);
}

std::array<DataRate, 2>
FabricWire::Rates() const
{
    std::array<DataRate, 2> rates;
    for (size_t i = 0; i < 2 && m_ports[i]; ++i)
    {
        rates[i] = m_ports[i]->GetDataRate();
    }
    return rates;
}

void
FabricWire::SetDataRate(DataRate rate)
{
    if (rate.GetBitRate() == 0)
    {
        throw ConfigError("FabricWire::SetDataRate",
                          "0 bit/s",
                          "more than 0",
                          "SetUp(false) breaks a wire");
    }
    SetRates({rate, rate});
}

void
FabricWire::SetDataRate(const FabricPort& port, DataRate rate)
{
    std::array<DataRate, 2> rates = Rates();
    rates[PeekPointer(m_ports[0]) == &port ? 0 : 1] = rate;
    SetRates(rates);
}

void
FabricWire::SetRates(const std::array<DataRate, 2>& rates)
{
    CheckEnds(rates, m_delay);
    Finish();
    const std::array<DataRate, 2> before = Rates();
    for (size_t i = 0; i < 2; ++i)
    {
        if (m_ports[i] && before[i] != rates[i])
        {
            m_ports[i]->ApplyDataRate(rates[i]);
            NoteRate(i);
        }
    }
    for (const auto& port : m_ports)
    {
        if (port)
        {
            port->RateChanged(scaleacross::SimulatorPicoseconds());
        }
    }
    ConfigChanged();
}

void
FabricWire::NoteRate(std::size_t i)
{
    if (m_up)
    {
        m_lanes[i].m_meter.SetRate(m_ports[i]->Line().BitsPerSecond(),
                                   scaleacross::SimulatorPicoseconds());
    }
}

void
FabricWire::CheckEnds(const std::array<DataRate, 2>& rates, Time delay) const
{
    for (size_t i = 0; i < 2; ++i)
    {
        if (m_ports[i])
        {
            m_ports[i]->CheckLink(rates[i], rates[1 - i], delay);
        }
    }
}

void
FabricWire::ConfigChanged()
{
    for (const auto& port : m_ports)
    {
        if (port)
        {
            port->ConfigChanged();
        }
    }
}

Time
FabricWire::GetDelay() const
{
    return m_delay;
}

void
FabricWire::SetDelay(Time delay)
{
    CheckEnds(Rates(), delay);
    CatchUp();
    m_delay = delay;
    for (auto& lane : m_lanes)
    {
        lane.m_delay = delay.GetPicoSeconds();
        if (lane.m_agenda != nullptr)
        {
            lane.m_agenda->Restart();
        }
    }
    ConfigChanged();
}

uint64_t
FabricWire::GetInFlight() const
{
    return m_lanes[0].InFlight() + m_lanes[1].InFlight();
}

uint64_t
FabricWire::GetLost() const
{
    return m_lanes[0].Lost() + m_lanes[1].Lost();
}

uint64_t
FabricWire::GetCut() const
{
    return m_lanes[0].Cut() + m_lanes[1].Cut();
}

} // namespace ns3
