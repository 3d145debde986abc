// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACKET_FORMAT_H
#define SCALEACROSS_PACKET_FORMAT_H

#include "core/base/units.h"

#include <algorithm>
#include <cstdint>

namespace scaleacross
{

/**
 * What packets take on the wire besides their payload, in bytes. One value, made from the transport
 * (TransportFacts::format) and what a study overrides (NetworkPlan::Format), for all who count
 * bytes.
 *
 * A data packet: payload + header + frame, with reth on the first of a write and immediate on the
 * last of one that has it, at least `least`. With `overhead`: payload + overhead, whatever it is.
 */
struct PacketFormat
{
    uint32_t header; //!< inside the frame: of the link, the network and the transport, and the ICRC
    uint32_t frame;  //!< time on the wire around it
    uint32_t least;  //!< of any data packet
    uint32_t ack;    //!< of an ACK or NAK, all that it takes
    uint32_t cnp;    //!< of a CNP, all that it takes
    uint32_t reth{16};     //!< RDMA extended transport header
    uint32_t immediate{4}; //!< immediate data
    uint32_t credit{8};    //!< of a packet that grants credits, where lanes have them
    bool fixed{false};     //!< every data packet adds `overhead` and nothing else
    uint32_t overhead{0};

    static constexpr uint32_t kAeth = 4;         //!< header that an ACK adds
    static constexpr uint32_t kCnpReserved = 16; //!< what a CNP adds

    /// The sizes of a transport whose answers have no other headers than its data.
    static constexpr PacketFormat Of(uint32_t header, uint32_t frame, uint32_t least)
    {
        return {header, frame, least, header + kAeth + frame, header + kCnpReserved + frame};
    }

    /// What a data packet that is neither first nor last adds to its payload.
    Bytes DataHeaders() const
    {
        return Bytes(fixed ? overhead : header + frame);
    }
};

/// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4; around them FCS 4, preamble 8, gap 12. No frame is
/// shorter than 64 bytes.
constexpr PacketFormat kRoceFormat = PacketFormat::Of(58, 24, 84);

/// LRH 8, BTH 12, ICRC 4, VCRC 2; a delimiter at either end.
constexpr PacketFormat kInfinibandFormat = PacketFormat::Of(26, 2, 0);

} // namespace scaleacross

#endif // SCALEACROSS_PACKET_FORMAT_H
