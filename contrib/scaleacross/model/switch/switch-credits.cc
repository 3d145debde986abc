// SPDX-License-Identifier: GPL-2.0-only

#include "switch-credits.h"

#include "core/base/errors.h"
#include "core/base/headroom.h"
#include "core/base/packet-format.h"

#include "ns3/fabric-wire.h"

#include <algorithm>
#include <bitset>
#include <functional>

namespace scaleacross
{

SwitchCredits::SwitchCredits(const Ports& ports, ArrivalAgenda& agenda)
    : m_ports(ports),
      m_agenda(agenda)
{
}

void
SwitchCredits::SetMap(const std::string& rules)
{
    m_map.reset();
    if (!rules.empty())
    {
        m_map = std::make_unique<LaneMap>(LaneMap::Parse(rules, "FabricSwitch::LaneMap"));
    }
    m_mapText = rules;
}

const std::string&
SwitchCredits::Map() const
{
    return m_mapText;
}

CreditBuffer
SwitchCredits::BufferOf(const ns3::SwitchPort& port) const
{
    uint64_t bytes = m_config.buffer;
    if (bytes == 0)
    {
        // In place of pause frames, one credit packet of each lane may be due at once.
        HeadroomInput input;
        input.delay = port.GetWire()->GetDelay().GetPicoSeconds();
        input.inRate = port.GetPeer()->GetDataRate().GetBitRate();
        input.outRate = port.GetDataRate().GetBitRate();
        input.maxPacket = m_maxPacket;
        input.pauseFrames = kPriorities;
        input.pauseSize = port.CreditSize();
        bytes = CreditBufferBytes(input, m_config.update);
    }
    CreditBuffer buffer;
    buffer.lanes = static_cast<uint8_t>(m_config.lanes);
    buffer.capacity = CreditBlocks(bytes);
    buffer.most = m_config.mostBlocks;
    buffer.update = CreditBlocks(m_config.update);
    if (m_config.buffer == 0)
    {
        buffer.capacity = std::min(buffer.capacity, m_config.mostBlocks);
    }
    return buffer;
}

void
SwitchCredits::Forget()
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

/// Returns the bytes that the buffer of each lane takes.
uint64_t
SwitchCredits::SetUp(ns3::SwitchPort& port)
{
    const ns3::Ptr<ns3::FabricPort> peer = port.GetPeer();
    const CreditBuffer buffer = BufferOf(port);
    const uint64_t least = CreditBlocks(m_maxPacket) + buffer.update - 1;
    if (std::min(buffer.capacity, buffer.most) < least)
    {
        throw ConfigError(port.Describe() + (buffer.most < least ? " FabricSwitch::MaxCreditBlocks"
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
        throw ConfigError(peer->Describe(),
                          "sends packets of up to " + std::to_string(full) + " bytes on the wire",
                          "at most FabricSwitch::MaxPacketSize, " + std::to_string(m_maxPacket) +
                              ", by which its credits are counted",
                          "a larger MaxPacketSize, or a smaller PathMtu or IpMtu");
    }
    port.SetUpCredits(buffer);
    if (peer->IsNic())
    {
        peer->SetUpCredits(buffer);
    }
    return buffer.capacity * kCreditBlock;
}

void
SwitchCredits::Configure(const CreditConfig& config,
                         uint32_t maxPacket,
                         uint64_t memory,
                         const std::string& owner)
{
    m_config = config;
    m_maxPacket = maxPacket;
    m_ends.clear();
    m_freed.clear();
    if (!config.on)
    {
        Forget();
        return;
    }
    const uint64_t lanes = std::bitset<kPriorities>(config.lanes).count();
    if (m_map)
    {
        m_map->Resolve(static_cast<uint32_t>(m_ports.size()), config.lanes, owner + "LaneMap");
    }
    uint64_t bytes = 0;
    for (const auto& port : m_ports)
    {
        if (port->GetPeer()) // FabricPort itself complains
        {
            bytes += lanes * SetUp(*port);
        }
    }
    if (bytes > memory)
    {
        throw ConfigError(owner + "BufferSize",
                          std::to_string(memory) + " bytes cannot hold the buffers of " +
                              std::to_string(m_ports.size()) + " ports with " +
                              std::to_string(lanes) + " virtual lanes each, " +
                              std::to_string(bytes) + " bytes",
                          "at least " + std::to_string(bytes) + " bytes",
                          "a larger BufferSize, fewer VirtualLanes, a smaller VlBuffer or "
                          "MaxCreditBlocks");
    }
}

void
SwitchCredits::NoteEnd(uint32_t port, int64_t end)
{
    m_ends.push_back({end, port});
    std::push_heap(m_ends.begin(), m_ends.end(), std::greater<>());
    m_agenda.SetAlarm(m_ends.front().time);
}

void
SwitchCredits::GrantFreed(int64_t now)
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

} // namespace scaleacross
