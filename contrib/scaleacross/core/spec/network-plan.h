// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_PLAN_H
#define SCALEACROSS_NETWORK_PLAN_H

#include "core/base/units.h"

#include <cstdint>
#include <map>
#include <string>

namespace scaleacross
{

enum class Transport : uint8_t
{
    Roce //!< RoCEv2 reliable connection, go-back-N
};

enum class Multipath : uint8_t
{
    Ecmp //!< per flow; with several QPs per connection the hash sees each QP (E-ECMP)
};

enum class CollectiveAlgorithm : uint8_t
{
    Ring,        //!< one ring over all servers of the group, building after building
    Hierarchical //!< inside each building, across buildings, inside again
};

/// How the network is used. Every field has a default that a study can leave out.
struct NetworkPlan
{
    Transport transport{Transport::Roce};
    Multipath multipath{Multipath::Ecmp};
    /// Queue pairs a connection is spread over. More spread collisions; Llama 3 used 16.
    uint32_t qps{16};
    /// Bytes after which a message goes on with the next queue pair; shorter ones use one only.
    /// NCCLX's queue pair balancing uses 512 KiB.
    Bytes segment{512ULL << 10};
    CollectiveAlgorithm collective{CollectiveAlgorithm::Hierarchical};
    Bytes mtu{4096}; //!< payload of a full packet, 256 to 9000
    /// Bytes a data packet adds to its payload on the wire: Ethernet 14 + IPv4 20 + UDP 8 + BTH 12
    /// + ICRC 4, and FCS + preamble + gap 24.
    Bytes headers{82};
    Bytes ackSize{86};    //!< bytes of one ACK on the wire: headers and AETH 4
    uint32_t ackEvery{4}; //!< data packets per ACK; a message's last packet is always acknowledged
    bool pfc{true};       //!< lossless by priority flow control
    Bytes leafBuffer{64ULL << 20};   //!< shared packet buffer of a leaf switch
    Bytes spineBuffer{256ULL << 20}; //!< shared packet buffer of a spine; long links need depth
    uint32_t timeoutExponent{14};    //!< retransmission timeout 4.096 us x 2^n, n in [0, 31]
    uint32_t retries{7};             //!< timeouts in a row before the QP goes into error
    /// How long a link has to be down, or back, until the switches at its ends act on it.
    Duration detection{Duration::Microseconds(10)};
    /// From then until all switches have new tables.
    Duration convergence{Duration::Microseconds(1000)};
    bool keepAtDownPort{false}; //!< packets for a link that is down wait instead of being dropped
    /// ns-3 attributes ("ns3::TypeId::Attribute" -> value) that the packet engine sets.
    std::map<std::string, std::string> ns3Attributes;

    /// Throws ConfigError (where = "network.<field>").
    void Validate() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_PLAN_H
