// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_TRANSPORT_H
#define SCALEACROSS_FABRIC_TRANSPORT_H

#include "core/spec/network-plan.h"

#include <set>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Sets up the switches, NICs and queue pairs that are created from now on for a transport:
 *
 * | attribute                         | Roce     | Infiniband                   | Trimming        |
 * |-----------------------------------|----------|------------------------------|-----------------|
 * | FabricSwitch::Pfc                 | as it is | as it is: counts for nothing | false           |
 * | FabricSwitch::Credits             | false    | true                         | false           |
 * | FabricSwitch::Trim                | false    | false                        | true            |
 * | FabricSwitch::TrimThreshold       | 0        | 0                            | 168,000         |
 * | FabricSwitch::TrimReferenceRate   | 0        | 0                            | 100 Gb/s        |
 * | FabricPort::Quanta, switches      | as it is | as it is                     | 10 data to 1    |
 * | RdmaQueuePair::WindowCountsFlight | false    | false                        | true            |
 * | RdmaNic::HeaderSize               | 58       | 26                           | 58              |
 * | RdmaNic::FrameSize                | 24       | 2                            | 24              |
 * | RdmaNic::MinWireSize              | 84       | 0                            | 84              |
 * | RdmaNic::AckSize                  | 86       | 32                           | 86              |
 * | RdmaNic::CnpSize                  | 98       | 44                           | 98              |
 *
 * Ethernet: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, and FCS, preamble and gap 24. InfiniBand:
 * LRH 8, BTH 12, ICRC 4, VCRC 2, and a delimiter at both ends. An ACK adds AETH 4, a CNP 16 that
 * are reserved; RETH (16) and ImmDt (4) are the same. Worked case: 4,096 bytes of payload, neither
 * first nor last, take 4,178 bytes on the wire with RoCE, 4,124 with InfiniBand. TrimThreshold is
 * 13 us of queue. Quanta are bytes of the data's priority (3) and of headers and answers (6).
 * Trimming needs UseRecovery(selective repeat), which is a choice of its own. `chosen` names
 * attributes ("ns3::Type::Attribute") that are to be left alone.
 */
void UseTransport(FabricHelper& fabric,
                  scaleacross::Transport transport,
                  const std::set<std::string>& chosen = {});

} // namespace ns3

#endif // SCALEACROSS_FABRIC_TRANSPORT_H
