// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-wire.h"

#include "arrival-agenda.h"
#include "core/base/errors.h"
#include "fabric-port.h"

#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/random-variable-stream.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

void
FabricLane::Push(FabricPacket* packet, int64_t end)
{
    m_last = std::max(m_last, end + m_delay);
    packet->arrival = m_last;
    if (m_lossy && packet->kind < PacketKind::Pause)
    {
        packet->lost = NextIsLost();
    }
    bool wasEmpty = m_flight.Empty();
    m_flight.PushBack(packet);
    if (wasEmpty)
    {
        m_agenda->Add(this);
    }
}

void
FabricLane::Deliver(FabricPacket* packet, int64_t now)
{
    if (packet->lost)
    {
        ++m_lost;
        m_to->NotifyDrop(*packet, DropReason::WireLoss);
        PacketPool::Return(packet);
        return;
    }
    m_to->Arrive(packet, now);
}

bool
FabricLane::NextIsLost()
{
    // Drawn on first use, so that AssignStreams and SetLossRate may come in any order before it.
    if (!m_drawn)
    {
        DrawGap();
        m_drawn = true;
    }
    if (m_gap > 0)
    {
        --m_gap;
        return false;
    }
    DrawGap();
    return true;
}

void
FabricLane::DrawGap()
{
    double u = 1.0 - m_random->GetValue(); // in (0, 1]
    double gap = m_loss >= 1.0 ? 0.0 : std::floor(std::log(u) / std::log1p(-m_loss));
    m_gap = gap < 1e18 ? static_cast<uint64_t>(gap) : static_cast<uint64_t>(1e18);
}

uint64_t
FabricLane::InFlight() const
{
    uint64_t count = 0;
    for (const FabricPacket* packet = m_flight.Front(); packet != nullptr; packet = packet->next)
    {
        count += packet->kind < PacketKind::Pause ? 1 : 0;
    }
    return count;
}

} // namespace scaleacross

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricWire);

TypeId
FabricWire::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricWire")
            .SetParent<Channel>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<FabricWire>()
            .AddAttribute("Delay",
                          "Propagation delay, one way. Fibre: 5 us per km.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&FabricWire::SetDelay, &FabricWire::GetDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("LossRate",
                          "Probability that a packet is lost, independently of all others, in "
                          "each direction.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&FabricWire::SetLossRate, &FabricWire::GetLossRate),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

FabricWire::FabricWire()
{
    for (auto& lane : m_lanes)
    {
        lane.m_random = CreateObject<UniformRandomVariable>();
    }
}

FabricWire::~FabricWire() = default;

void
FabricWire::DoDispose()
{
    for (auto& lane : m_lanes)
    {
        lane.m_flight.Clear();
        lane.m_random = nullptr;
    }
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
        throw scaleacross::ConfigError("FabricWire::Attach",
                                       problem,
                                       "one call with free ports of two different nodes",
                                       "");
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
        m_ports[i]->SetWire(this, &m_lanes[i]);
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
        if (port)
        {
            port->CatchUp(scaleacross::SimulatorPicoseconds());
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
    CatchUp();
    m_delay = delay;
    for (auto& lane : m_lanes)
    {
        lane.m_delay = delay.GetPicoSeconds();
    }
}

double
FabricWire::GetLossRate() const
{
    return m_loss;
}

void
FabricWire::SetLossRate(double loss)
{
    CatchUp();
    m_loss = loss;
    for (auto& lane : m_lanes)
    {
        lane.m_loss = loss;
        lane.m_lossy = loss > 0;
        lane.m_drawn = false;
    }
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

int64_t
FabricWire::AssignStreams(int64_t stream)
{
    for (size_t i = 0; i < 2; ++i)
    {
        m_lanes[i].m_random->SetStream(stream + static_cast<int64_t>(i));
        m_lanes[i].m_drawn = false;
    }
    return 2;
}

} // namespace ns3
