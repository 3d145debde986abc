// SPDX-License-Identifier: GPL-2.0-only

// What a switch does about credits: buffers before time zero, and room that is granted anew.

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "fabric-switch.h"

#include "ns3/fabric-wire.h"
#include "ns3/node.h"

#include <algorithm>
#include <functional>
#include <string>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::CreditBlocks;
using scaleacross::CreditBuffer;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::kCreditBlock;
using scaleacross::kPriorities;

namespace
{

std::string
NameOf(const FabricSwitch& fabricSwitch)
{
    return "node " + std::to_string(fabricSwitch.GetObject<Node>()->GetId()) + " FabricSwitch::";
}

} // namespace

void
FabricSwitch::CheckFlowControl() const
{
    if (m_credits && m_watchdogDetection.IsStrictlyPositive())
    {
        throw ConfigError(NameOf(*this) + "WatchdogDetection",
                          "is set, and there are no pauses with Credits",
                          "0, or Credits false",
                          "");
    }
    if (!m_credits && m_laneMap)
    {
        throw ConfigError(NameOf(*this) + "LaneMap",
                          "is set, and without Credits there are no virtual lanes",
                          "empty, or Credits true",
                          "");
    }
    if (m_credits && m_trim)
    {
        throw ConfigError(NameOf(*this) + "Trim",
                          "is set, and with Credits every packet finds room",
                          "false, or Credits false",
                          "");
    }
    for (const auto& port : m_ports)
    {
        const auto peer = DynamicCast<SwitchPort>(port->GetPeer());
        if (peer && peer->GetSwitch().m_credits != m_credits)
        {
            throw ConfigError(port->Describe(),
                              std::string("this switch ") + (m_credits ? "has" : "does not have") +
                                  " Credits, unlike that of " + peer->Describe(),
                              "the same at both ends of a wire",
                              "set FabricSwitch::Credits alike");
        }
        if (m_credits && !port->m_pfc)
        {
            throw ConfigError(port->Describe() + " SwitchPort::Pfc",
                              "is false, and with Credits nothing is lossy",
                              "true, or Credits false",
                              "");
        }
    }
}

CreditBuffer
FabricSwitch::CreditBufferOf(uint32_t port) const
{
    uint64_t bytes = m_vlBuffer;
    if (bytes == 0)
    {
        // In place of pause frames, one credit packet of each lane may be due at once.
        scaleacross::HeadroomInput input;
        input.delay = m_ports[port]->GetWire()->GetDelay().GetPicoSeconds();
        input.inRate = m_ports[port]->GetPeer()->GetDataRate().GetBitRate();
        input.outRate = m_ports[port]->GetDataRate().GetBitRate();
        input.maxPacket = m_maxPacket;
        input.pauseFrames = kPriorities;
        input.pauseSize = m_ports[port]->CreditSize();
        bytes = scaleacross::HeadroomBytes(input) + m_creditUpdate;
        // Packets take whole blocks.
        bytes += bytes * (kCreditBlock - 1) / m_maxPacket;
    }
    CreditBuffer buffer;
    buffer.lanes = static_cast<uint8_t>(m_lanes);
    buffer.capacity = CreditBlocks(bytes);
    buffer.most = m_maxCreditBlocks;
    buffer.update = CreditBlocks(m_creditUpdate);
    if (m_vlBuffer == 0)
    {
        buffer.capacity = std::min(buffer.capacity, m_maxCreditBlocks);
    }
    return buffer;
}

void
FabricSwitch::ForgetCredits()
{
    for (const auto& port : m_ports)
    {
        port->ForgetCredits();
        const auto peer = port->GetPeer();
        if (peer && peer->IsNic())
        {
            peer->ForgetCredits();
        }
    }
}

void
FabricSwitch::SetUpCredits()
{
    if (!m_credits)
    {
        ForgetCredits();
        return;
    }
    uint64_t lanes = 0;
    for (uint8_t lane = 0; lane < kPriorities; ++lane)
    {
        lanes += (m_lanes >> lane) & 1U;
    }
    uint64_t bytes = 0;
    m_ends.clear();
    m_freed.clear();
    if (m_laneMap)
    {
        m_laneMap->Resolve(GetNPorts(), m_lanes, NameOf(*this) + "LaneMap");
    }
    for (uint32_t i = 0; i < GetNPorts(); ++i)
    {
        Ptr<FabricPort> peer = m_ports[i]->GetPeer();
        if (!peer)
        {
            continue; // FabricPort itself complains
        }
        const CreditBuffer buffer = CreditBufferOf(i);
        const uint64_t least = CreditBlocks(m_maxPacket) + buffer.update - 1;
        if (std::min(buffer.capacity, buffer.most) < least)
        {
            throw ConfigError(m_ports[i]->Describe() + (buffer.most < least
                                                            ? " FabricSwitch::MaxCreditBlocks"
                                                            : " FabricSwitch::VlBuffer"),
                              std::to_string(std::min(buffer.capacity, buffer.most)) +
                                  " blocks of 64 bytes, with which a packet of MaxPacketSize could "
                                  "wait for ever",
                              "at least " + std::to_string(least) + " blocks, " +
                                  std::to_string(least * kCreditBlock) +
                                  " bytes: one packet, and CreditUpdate less a block",
                              "a larger buffer, or a smaller MaxPacketSize or CreditUpdate");
        }
        uint32_t full = 0;
        for (uint8_t lane = 0; lane < kPriorities; ++lane)
        {
            full = std::max(full, peer->FullPacketSize(lane));
        }
        if (full > m_maxPacket)
        {
            throw ConfigError(
                peer->Describe(),
                "sends packets of up to " + std::to_string(full) + " bytes on the wire",
                "at most FabricSwitch::MaxPacketSize, " + std::to_string(m_maxPacket) +
                    ", by which its credits are counted",
                "a larger MaxPacketSize, or a smaller PathMtu or IpMtu");
        }
        bytes += lanes * buffer.capacity * kCreditBlock;
        m_ports[i]->SetUpCredits(buffer);
        m_ports[i]->m_setsLevel = peer->IsNic();
        m_ports[i]->m_spareVictims = !m_ecnVictims;
        if (m_ports[i]->m_setsLevel)
        {
            peer->SetUpCredits(buffer);
        }
    }
    if (bytes > m_bufferSize)
    {
        throw ConfigError(NameOf(*this) + "BufferSize",
                          std::to_string(m_bufferSize) + " bytes cannot hold the buffers of " +
                              std::to_string(GetNPorts()) + " ports with " + std::to_string(lanes) +
                              " virtual lanes each, " + std::to_string(bytes) + " bytes",
                          "at least " + std::to_string(bytes) + " bytes",
                          "a larger BufferSize, fewer VirtualLanes, a smaller VlBuffer or "
                          "MaxCreditBlocks");
    }
}

std::string
FabricSwitch::GetLaneMap() const
{
    return m_laneMapText;
}

void
FabricSwitch::SetLaneMap(std::string rules)
{
    CheckNotRunning("LaneMap");
    m_laneMap.reset();
    if (!rules.empty())
    {
        m_laneMap = std::make_unique<scaleacross::LaneMap>(
            scaleacross::LaneMap::Parse(rules, "FabricSwitch::LaneMap"));
    }
    m_laneMapText = rules;
    m_checked = false;
}

uint8_t
FabricSwitch::LaneOf(uint32_t in, uint32_t out, uint8_t level) const
{
    return m_laneMap ? m_laneMap->LaneOf(in, out, level) : level;
}

uint8_t
FabricSwitch::LaneAt(uint32_t egress, const FabricPacket& packet) const
{
    return m_laneMap->LaneOf(packet.ingress, egress, packet.level);
}

void
FabricSwitch::Refuse(SwitchPort& ingress, FabricPacket* packet, DropReason reason, int64_t now)
{
    if (m_credits)
    {
        FreeCredits(ingress.m_number, packet->ingressLane, packet->size);
        m_agenda.SetAlarm(now);
    }
    Drop(ingress, packet, reason);
}

void
FabricSwitch::FreeCredits(uint32_t port, uint8_t lane, uint32_t bytes)
{
    m_ports[port]->Credits()->Free(lane, CreditBlocks(bytes));
    m_freed.push_back(port * kPriorities + lane);
}

void
FabricSwitch::NoteEnd(uint32_t port, int64_t end)
{
    m_ends.push_back({end, port});
    std::push_heap(m_ends.begin(), m_ends.end(), std::greater<>());
    m_agenda.SetAlarm(m_ends.front().time);
}

void
FabricSwitch::ReturnCredits(int64_t now)
{
    while (!m_ends.empty() && m_ends.front().time <= now)
    {
        const uint32_t port = m_ends.front().port;
        std::pop_heap(m_ends.begin(), m_ends.end(), std::greater<>());
        m_ends.pop_back();
        m_ports[port]->CatchUp(now);
    }
    // By port and lane, whatever the order in which packets were found to have left.
    std::sort(m_freed.begin(), m_freed.end());
    for (const uint32_t cell : m_freed)
    {
        m_ports[cell / kPriorities]->SendCredit(static_cast<uint8_t>(cell % kPriorities), now);
    }
    m_freed.clear();
    if (!m_ends.empty())
    {
        m_agenda.SetAlarm(m_ends.front().time);
    }
}

} // namespace ns3
