// SPDX-License-Identifier: GPL-2.0-only

#include "trimmer.h"

#include "core/base/errors.h"

#include "ns3/telemetry.h"

#include <algorithm>

namespace scaleacross
{

void
Trimmer::Configure(const TrimConfig& config,
                   uint32_t lossless,
                   uint32_t maxPacket,
                   const std::string& owner)
{
    if (config.on && ((lossless >> config.priority) & 1U) != 0)
    {
        throw ConfigError(owner + "TrimPriority",
                          std::to_string(config.priority) + " is lossless",
                          "a lossy priority: trimmed packets are dropped if there is no room",
                          "another TrimPriority, other LosslessPriorities, or Pfc false");
    }
    if (config.on && config.threshold != 0 && config.threshold < maxPacket)
    {
        throw ConfigError(owner + "TrimThreshold",
                          std::to_string(config.threshold) +
                              " bytes would trim a packet that finds an empty queue",
                          "0, or at least MaxPacketSize, " + std::to_string(maxPacket),
                          "a larger TrimThreshold");
    }
    m_config = config;
    m_maxPacket = maxPacket;
}

uint64_t
Trimmer::ThresholdAt(double rate) const
{
    if (!m_config.on || m_config.threshold == 0)
    {
        return UINT64_MAX;
    }
    const auto reference = static_cast<double>(m_config.reference.GetBitRate());
    const double scale = reference > 0 ? rate / reference : 1;
    const double threshold = static_cast<double>(m_config.threshold) * scale;
    return std::max<uint64_t>(m_maxPacket, static_cast<uint64_t>(threshold));
}

void
Trimmer::Trim(FabricPacket& packet)
{
    if (packet.telemetry)
    {
        TelemetryPool::Return(DetachTrail(packet));
    }
    packet.trimmed = true;
    packet.payload = 0;
    packet.size = static_cast<uint16_t>(m_config.size);
    packet.priority = m_config.priority;
    packet.ingressLane = m_config.priority & 0xF;
    ++m_trimmed;
}

} // namespace scaleacross
