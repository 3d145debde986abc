// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRIMMER_H
#define SCALEACROSS_TRIMMER_H

#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// FabricSwitch's attributes of the same names.
struct TrimConfig
{
    bool on{false};
    uint64_t threshold{0};
    ns3::DataRate reference;
    uint32_t size{0};
    uint8_t priority{0};
};

/**
 * Cuts the payload off packets that a switch has no room for.
 *
 * A data packet of a lossy priority that would make its queue longer than the threshold, or finds
 * no room in the memory, loses its payload instead of its life. What is left takes `size` bytes, is
 * marked `trimmed`, has the trim priority, and joins that queue of the same port; it is dropped
 * only if there is no room for it either. So the receiver learns of the loss as soon as a short
 * packet can get there.
 */
class Trimmer
{
  public:
    /// Throws ConfigError (where = owner + the attribute) if the trim priority is one of `lossless`
    /// (bit p), or a packet of `maxPacket` bytes would be trimmed that finds an empty queue.
    void Configure(const TrimConfig& config,
                   uint32_t lossless,
                   uint32_t maxPacket,
                   const std::string& owner);

    /// Bytes that may wait in a queue of a port of that rate (bit/s); what would make them more is
    /// trimmed. UINT64_MAX: only the memory decides.
    uint64_t ThresholdAt(double rate) const;

    /// Domain: its priority is lossy.
    bool MayTrim(const FabricPacket& packet) const
    {
        return m_config.on && packet.kind == PacketKind::Data && packet.size > m_config.size;
    }

    /// Domain: MayTrim(packet).
    void Trim(FabricPacket& packet);

    /// Packets that have been trimmed.
    uint64_t Trimmed() const
    {
        return m_trimmed;
    }

  private:
    TrimConfig m_config;
    uint32_t m_maxPacket{0};
    uint64_t m_trimmed{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_TRIMMER_H
