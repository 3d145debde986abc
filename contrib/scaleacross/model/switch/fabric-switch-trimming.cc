// SPDX-License-Identifier: GPL-2.0-only

// How a switch cuts the payload off what would be dropped.

#include "core/base/errors.h"
#include "fabric-switch.h"

#include "ns3/node.h"
#include "ns3/telemetry.h"

#include <algorithm>
#include <string>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::FabricPacket;

void
FabricSwitch::SetUpTrimming()
{
    for (const auto& port : m_ports)
    {
        port->m_trimAbove = UINT64_MAX; // what an earlier configuration has left
    }
    if (!m_trim)
    {
        return;
    }
    const std::string node = "node " + std::to_string(GetObject<Node>()->GetId());
    if (((m_lossless >> m_trimPriority) & 1U) != 0)
    {
        throw ConfigError(node + " FabricSwitch::TrimPriority",
                          std::to_string(m_trimPriority) + " is lossless",
                          "a lossy priority: trimmed packets are dropped if there is no room",
                          "another TrimPriority, other LosslessPriorities, or Pfc false");
    }
    if (m_trimThreshold != 0 && m_trimThreshold < m_maxPacket)
    {
        throw ConfigError(node + " FabricSwitch::TrimThreshold",
                          std::to_string(m_trimThreshold) +
                              " bytes would trim a packet that finds an empty queue",
                          "0, or at least MaxPacketSize, " + std::to_string(m_maxPacket),
                          "a larger TrimThreshold");
    }
    if (m_trimThreshold == 0)
    {
        return;
    }
    const auto reference = static_cast<double>(m_trimReference.GetBitRate());
    for (const auto& port : m_ports)
    {
        const double scale = reference > 0 ? port->Line().BitsPerSecond() / reference : 1;
        const double above = static_cast<double>(m_trimThreshold) * scale;
        port->m_trimAbove = std::max<uint64_t>(m_maxPacket, static_cast<uint64_t>(above));
    }
}

bool
FabricSwitch::MayTrim(const SwitchPort& ingress, const FabricPacket& packet) const
{
    return m_trim && packet.kind == scaleacross::PacketKind::Data && packet.size > m_trimmedSize &&
           !m_buffer.IsLossless(ingress.m_number, packet.priority);
}

void
FabricSwitch::Trim(FabricPacket& packet)
{
    if (packet.telemetry)
    {
        scaleacross::TelemetryPool::Return(scaleacross::DetachTrail(packet));
    }
    packet.trimmed = true;
    packet.payload = 0;
    packet.size = static_cast<uint16_t>(m_trimmedSize);
    packet.priority = m_trimPriority;
    packet.ingressLane = m_trimPriority & 0xF;
    ++m_trimmed;
    m_trimTrace(packet);
}

uint64_t
FabricSwitch::GetTrimmed() const
{
    return m_trimmed;
}

} // namespace ns3
