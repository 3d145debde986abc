// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACKET_FORMAT_H
#define SCALEACROSS_PACKET_FORMAT_H

#include "core/base/units.h"

#include <algorithm>
#include <cstdint>

namespace scaleacross
{

// Sizes of the headers in bytes, as IEEE 802.3, RFC 791, RFC 768 and the InfiniBand specification
// (volume 1, chapter 5) have them.
constexpr uint32_t kEthernetHeader = 14;
constexpr uint32_t kEthernetCheck = 4;    //!< FCS
constexpr uint32_t kEthernetBetween = 20; //!< preamble 8 and gap 12: time, and no bytes of a frame
constexpr uint32_t kShortestFrame = 64;   //!< with FCS
constexpr uint32_t kIpv4Header = 20;
constexpr uint32_t kUdpHeader = 8;
constexpr uint32_t kBaseTransportHeader = 12;     //!< BTH
constexpr uint32_t kExtendedTransportHeader = 16; //!< RETH, on the first packet of a write
constexpr uint32_t kAckTransportHeader = 4;       //!< AETH
constexpr uint32_t kImmediateData = 4;
constexpr uint32_t kInvariantCheck = 4;   //!< ICRC
constexpr uint32_t kCnpReserved = 16;     //!< what a CNP has behind its BTH
constexpr uint32_t kLocalRouteHeader = 8; //!< LRH of InfiniBand
constexpr uint32_t kVariantCheck = 2;     //!< VCRC of InfiniBand
constexpr uint32_t kDelimiters = 2;       //!< of InfiniBand, one at either end

/**
 * What packets take on the wire besides their payload, in bytes. One value, made from the transport
 * (TransportFacts::format) and what a study overrides (NetworkPlan::Format), for all who count
 * bytes: network plan, NICs, benchmarks.
 */
struct PacketFormat
{
    uint32_t header; //!< inside the frame: of the link, the network and the transport, and the ICRC
    uint32_t frame;  //!< time on the wire around it
    uint32_t least;  //!< of any data packet
    uint32_t ack;    //!< of an ACK or NAK, all that it takes
    uint32_t cnp;    //!< of a CNP, all that it takes
    uint32_t reth{kExtendedTransportHeader};
    uint32_t immediate{kImmediateData};
    uint32_t overhead{0}; //!< if not 0, every data packet adds this and nothing else

    /// The sizes of a transport whose answers have no other headers than its data.
    static constexpr PacketFormat Of(uint32_t header, uint32_t frame, uint32_t least)
    {
        return {header,
                frame,
                least,
                header + kAckTransportHeader + frame,
                header + kCnpReserved + frame};
    }

    /// What a data packet that is neither first nor last adds to its payload.
    constexpr Bytes DataHeaders() const
    {
        return Bytes(overhead > 0 ? overhead : header + frame);
    }

    /// What a data packet takes: payload + header + frame, with RETH on the first of a write and
    /// immediate data on the last of one that has it, at least `least`; or payload + overhead.
    constexpr uint32_t DataSize(uint32_t payload, bool withReth, bool withImmediate) const
    {
        const uint32_t parts =
            header + frame + (withReth ? reth : 0) + (withImmediate ? immediate : 0);
        return overhead > 0 ? payload + overhead : std::max(payload + parts, least);
    }

    /// Lets every data packet add the same, and nothing if `bytes` is 0 (a packet without payload
    /// still takes a byte).
    constexpr void AddToEach(uint32_t bytes)
    {
        overhead = bytes;
        if (bytes == 0)
        {
            header = frame = reth = immediate = 0;
            least = 1;
        }
    }
};

/// RoCEv2 over IPv4.
constexpr PacketFormat kRoceFormat = PacketFormat::Of(kEthernetHeader + kIpv4Header + kUdpHeader +
                                                          kBaseTransportHeader + kInvariantCheck,
                                                      kEthernetCheck + kEthernetBetween,
                                                      kShortestFrame + kEthernetBetween);

constexpr PacketFormat kInfinibandFormat =
    PacketFormat::Of(kLocalRouteHeader + kBaseTransportHeader + kInvariantCheck + kVariantCheck,
                     kDelimiters,
                     0);

/// Bytes of time that a PFC frame takes on the wire.
constexpr uint32_t kPauseFrame = kShortestFrame + kEthernetBetween;

/// Bytes of time that a flow control packet of InfiniBand takes on the wire: it has 6.
constexpr uint32_t kCreditPacket = 6 + kDelimiters;

/// What credits count.
constexpr uint64_t kCreditBlock = 64;

/// Bytes that the neighbour has to be allowed to send before a switch of InfiniBand tells it.
constexpr uint64_t kCreditUpdate = 8400;

/// Virtual lanes that have receive buffers unless a script says otherwise.
constexpr uint32_t kCreditLanes = 8;

/// Blocks that `bytes` take in a buffer.
constexpr uint64_t
CreditBlocks(uint64_t bytes)
{
    return (bytes + kCreditBlock - 1) / kCreditBlock;
}

} // namespace scaleacross

#endif // SCALEACROSS_PACKET_FORMAT_H
