// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_TRANSPORT_H
#define SCALEACROSS_FABRIC_TRANSPORT_H

#include <cstdint>
#include <string>

namespace ns3
{

class FabricHelper;

/// What a fabric carries reliable connections with.
enum class FabricTransport : uint8_t
{
    Roce,      //!< RoCEv2 over Ethernet with PFC
    Infiniband //!< InfiniBand with credits
};

/**
 * Sets up the switches and NICs that are created from now on for a transport:
 *
 * | attribute                      | Roce | Infiniband                                         |
 * |--------------------------------|------|----------------------------------------------------|
 * | FabricSwitch::Credits          | false| true                                               |
 * | RdmaNic::HeaderSize            | 58   | 26: LRH 8, BTH 12, ICRC 4, VCRC 2                  |
 * | RdmaNic::FrameSize             | 24   | 2: a delimiter at both ends                        |
 * | RdmaNic::MinWireSize           | 84   | 0                                                  |
 * | RdmaNic::AckSize               | 86   | 32: headers, AETH 4, delimiters                    |
 * | RdmaNic::CnpSize               | 98   | 44: headers, 16 reserved, delimiters               |
 *
 * RETH (16) and ImmDt (4) are the same. Worked case: 4,096 bytes of payload, neither first nor
 * last, take 4,178 bytes on the wire with RoCE, 4,124 with InfiniBand.
 */
void UseTransport(FabricHelper& fabric, FabricTransport transport);

/// "roce", "infiniband". Throws ConfigError(where, ...) on any other word.
FabricTransport TransportOf(const std::string& word, const std::string& where);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_TRANSPORT_H
