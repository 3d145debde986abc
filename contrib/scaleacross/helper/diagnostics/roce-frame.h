// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROCE_FRAME_H
#define SCALEACROSS_ROCE_FRAME_H

#include "ns3/ipv4-address.h"
#include "ns3/mac48-address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// RDMA extended transport header: where a message is written.
struct RoceReth
{
    uint64_t address;
    uint32_t key;
    uint32_t length;
};

/// ACK extended transport header.
struct RoceAeth
{
    uint8_t syndrome;
    uint32_t messages; //!< MSN, 24 bits: messages that the responder has completed
};

/**
 * A RoCEv2 packet over IPv4 as its header fields: what a capture shows of it.
 *
 * FrameBytes() gives the Ethernet frame without preamble and FCS: Ethernet II (14), IPv4 (20, do
 * not fragment, with its checksum), UDP to port 4791 (8, checksum 0 as RoCEv2 has it), BTH (12),
 * RETH (16), AETH (4) and immediate data (4) where there are any, payload of zeros, padding to four
 * bytes, ICRC (4), and zeros up to 60 bytes.
 */
struct RoceFrame
{
    ns3::Mac48Address sourceMac;
    ns3::Mac48Address destinationMac;
    ns3::Ipv4Address source;
    ns3::Ipv4Address destination;
    uint8_t dscp{0}; //!< 6 bits
    uint8_t ecn{0};  //!< 2 bits: 0 not capable, 2 capable, 3 marked
    uint8_t ttl{64};
    uint16_t identification{0};
    uint16_t sourcePort{0};
    uint8_t opcode{0};
    bool solicited{false};
    bool migrated{true}; //!< M: the usual state of a path
    bool becn{false};
    bool ackRequested{false};
    uint32_t queuePair{0}; //!< destination's, 24 bits
    uint32_t psn{0};       //!< 24 bits
    std::optional<RoceReth> reth;
    std::optional<RoceAeth> aeth;
    std::optional<uint32_t> immediate;
    uint32_t payload{0}; //!< bytes
};

std::vector<uint8_t> FrameBytes(const RoceFrame& frame);

/**
 * The same frame for a file that keeps only the beginning of it. Wireshark calls a RoCE packet
 * malformed unless its whole payload is there, however it was captured. So the ICRC (of the whole
 * packet) follows the headers at once, the lengths of IP and UDP end with it, and the payload comes
 * behind them, where a dissector sees a trailer that was cut off.
 */
std::vector<uint8_t> HeadersFirst(const RoceFrame& frame);

/**
 * The invariant CRC of RoCEv2 over IPv4, as the number whose four bytes follow the payload, least
 * significant first: CRC-32 of eight bytes of ones (where InfiniBand has its LRH) and of the packet
 * from its IP header on, with all that may change on the way as ones: TOS, TTL, the checksums of IP
 * and UDP, and the byte of the BTH with FECN and BECN.
 *
 * `bytes` is the length from the IP header up to the ICRC. Domain: an IPv4 header without options,
 * UDP and a BTH, hence at least 40 bytes.
 */
uint32_t InvariantCrc(const uint8_t* ip, size_t bytes);

/**
 * A PFC frame (IEEE 802.1Qbb): MAC control 0x8808, opcode 0x0101, one priority, with the longest
 * time (65,535 quanta of 512 bits) to stop it and none to let it go on.
 */
std::vector<uint8_t> PauseFrameBytes(ns3::Mac48Address source, uint8_t priority, bool pause);

} // namespace scaleacross

#endif // SCALEACROSS_ROCE_FRAME_H
