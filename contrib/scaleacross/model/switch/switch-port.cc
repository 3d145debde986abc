// SPDX-License-Identifier: GPL-2.0-only

#include "switch-port.h"

#include "fabric-switch.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/node.h"
#include "ns3/telemetry.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SwitchPort);

TypeId
SwitchPort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SwitchPort")
            .SetParent<FabricPort>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<SwitchPort>()
            .AddAttribute("Pfc",
                          "Packets that arrive by this port are lossless if their priority is in "
                          "the switch's LosslessPriorities; to be set before time zero",
                          BooleanValue(true),
                          scaleacross::Fixed(MakeBooleanAccessor(&SwitchPort::m_pfc)),
                          MakeBooleanChecker());
    return tid;
}

SwitchPort::SwitchPort() = default;

SwitchPort::~SwitchPort() = default;

void
SwitchPort::DoDispose()
{
    m_switch = nullptr;
    FabricPort::DoDispose();
}

FabricSwitch&
SwitchPort::GetSwitch() const
{
    return *m_switch;
}

uint32_t
SwitchPort::GetPortNumber() const
{
    return m_number;
}

scaleacross::ArrivalAgenda&
SwitchPort::Agenda()
{
    return m_switch->m_agenda;
}

void
SwitchPort::Receive(scaleacross::FabricPacket* packet, int64_t now)
{
    m_switch->Forward(*this, packet, now);
}

bool
SwitchPort::Started(scaleacross::FabricPacket& packet, int64_t start)
{
    if (packet.kind >= scaleacross::PacketKind::Pause)
    {
        return false; // made here, never in the buffer
    }
    m_leavingSize = packet.size;
    m_leavingIngress = packet.ingress;
    m_leavingPriority = packet.ingressLane;
    if (packet.ecnCapable && ((m_ecnDeparting >> packet.priority) & 1U) != 0)
    {
        MarkIfCongested(packet);
    }
    if (packet.telemetry && packet.kind == scaleacross::PacketKind::Data)
    {
        // What is added while it leaves was never in the buffer.
        scaleacross::AddHop(packet,
                            {(uint64_t{GetNode()->GetId()} << 32) | m_number,
                             start,
                             StaleSentBytes(),
                             Queues().Bytes(packet.priority),
                             static_cast<uint64_t>(Line().BitsPerSecond())});
    }
    return true;
}

void
SwitchPort::Finished()
{
    m_switch->Release(m_leavingIngress, m_leavingPriority, m_leavingSize);
    m_leavingSize = 0;
}

void
SwitchPort::Leaving(int64_t end)
{
    m_switch->m_credits.NoteEnd(m_number, end);
}

void
SwitchPort::PauseChanged(uint8_t priority, bool paused, int64_t now)
{
    m_switch->WatchPause(m_number, priority, paused, now);
}

void
SwitchPort::MarkIfCongested(scaleacross::FabricPacket& packet)
{
    // A lane without credits is a victim of congestion elsewhere.
    if (m_spareVictims && IsToldToStop(packet.priority))
    {
        return;
    }
    if (m_ecn->Marks(Queues().Bytes(packet.priority)))
    {
        packet.ecnMarked = true;
        ++m_ecnMarked;
    }
}

void
SwitchPort::SetUp(const scaleacross::EcnConfig& ecn,
                  const scaleacross::Trimmer& trimmer,
                  bool credits,
                  int64_t stream)
{
    m_ecnJoining = ecn.atDeparture ? 0 : ecn.priorities;
    m_ecnDeparting = ecn.atDeparture ? ecn.priorities : 0;
    if (ecn.priorities != 0)
    {
        m_ecn = std::make_unique<scaleacross::EcnMarker>(ecn.ThresholdsAt(GetDataRate()));
        AssignStream(stream);
    }
    m_trimAbove = trimmer.ThresholdAt(Line().BitsPerSecond());
    const Ptr<FabricPort> peer = GetPeer();
    m_isEntry = peer && peer->IsNic();
    m_setsLevel = credits && m_isEntry;
    m_spareVictims = credits && !ecn.victims;
}

void
SwitchPort::AssignStream(int64_t stream)
{
    if (m_ecn && stream >= 0)
    {
        m_ecn->SetStream(stream + m_number);
    }
}

uint64_t
SwitchPort::GetEcnMarked() const
{
    return m_ecnMarked;
}

void
SwitchPort::Resumed(int64_t now)
{
    // What leaves from here on was not in the bound of the resume alarm.
    if (m_switch->m_pauses.Any())
    {
        m_switch->m_agenda.SetAlarm(std::max(now, Line().FreeAt()));
    }
}

void
SwitchPort::DoLinkChanged(bool up, int64_t now)
{
    m_switch->LinkChanged(*this, up, now);
}

void
SwitchPort::RateChanged(int64_t now)
{
    m_switch->PlanResumeAt(now);
}

void
SwitchPort::CheckLink(DataRate own, DataRate peer, Time delay) const
{
    if (m_switch->IsInitialized()) // else nothing has been reserved yet
    {
        m_switch->m_headroom.Check(*this, own, peer, delay);
    }
}

void
SwitchPort::ConfigChanged()
{
    if (m_switch != nullptr)
    {
        m_switch->m_checked = false;
    }
}

} // namespace ns3
