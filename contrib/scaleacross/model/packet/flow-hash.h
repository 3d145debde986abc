// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_HASH_H
#define SCALEACROSS_FLOW_HASH_H

#include "core/base/path-hash.h"
#include "fabric-packet.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// Header fields that tell flows apart, as bits.
enum HashField : uint8_t
{
    kHashSource = 1,
    kHashDestination = 2,
    kHashUdpSourcePort = 4,
    kHashQueuePair = 8 //!< destination QP of the BTH
};

/**
 * Reads fields from their names, separated by commas: source, destination, udp-source-port,
 * destination-qp. Throws ConfigError if there are none or one is not known.
 */
uint8_t ParseHashFields(const std::string& names);

/// The names of fields, as ParseHashFields reads them.
std::string NamesOfHashFields(uint8_t fields);

/**
 * A switch's view of what a flow is: a hash of some header fields of a packet, and of its own seed.
 *
 * A field that is not hashed counts as 0. Two switches with equal seeds and fields map a flow to
 * the same value.
 */
class FlowHash
{
  public:
    FlowHash() = default;

    /// Fields: bits of HashField.
    FlowHash(uint8_t fields, uint64_t seed)
        : m_seed(seed),
          m_source((fields & kHashSource) != 0 ? UINT32_MAX : 0),
          m_destination((fields & kHashDestination) != 0 ? UINT32_MAX : 0),
          m_queuePair((fields & kHashQueuePair) != 0 ? UINT32_MAX : 0),
          m_entropy((fields & kHashUdpSourcePort) != 0 ? UINT16_MAX : 0)
    {
    }

    uint32_t operator()(const FabricPacket& packet) const
    {
        return HashOf(packet.source & m_source,
                      packet.destination & m_destination,
                      packet.entropy & m_entropy,
                      m_seed,
                      packet.queuePair & m_queuePair);
    }

    uint64_t Seed() const
    {
        return m_seed;
    }

  private:
    uint64_t m_seed{0};
    uint32_t m_source{UINT32_MAX}; //!< masks: all ones, or 0 if the field is not hashed
    uint32_t m_destination{UINT32_MAX};
    uint32_t m_queuePair{0};
    uint16_t m_entropy{UINT16_MAX};
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_HASH_H
