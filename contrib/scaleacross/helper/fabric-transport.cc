// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-transport.h"

#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/// Bytes of packets on the wire, besides their payload.
struct PacketSizes
{
    uint32_t header;
    uint32_t frame;
    uint32_t least;
    uint32_t ack;
    uint32_t cnp;
};

constexpr uint32_t kAeth = 4;
constexpr uint32_t kCnpReserved = 16;

constexpr PacketSizes
SizesOf(uint32_t header, uint32_t frame, uint32_t least)
{
    return {header, frame, least, header + kAeth + frame, header + kCnpReserved + frame};
}

/// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4; FCS 4, preamble 8, gap 12.
constexpr PacketSizes kRoce = SizesOf(58, 24, 84);
/// LRH 8, BTH 12, ICRC 4, VCRC 2; a delimiter at both ends.
constexpr PacketSizes kInfiniband = SizesOf(26, 2, 0);

} // namespace

void
UseTransport(FabricHelper& fabric, FabricTransport transport)
{
    const bool infiniband = transport == FabricTransport::Infiniband;
    const PacketSizes& sizes = infiniband ? kInfiniband : kRoce;
    fabric.SetSwitchAttribute("Credits", BooleanValue(infiniband));
    fabric.SetNicAttribute("HeaderSize", UintegerValue(sizes.header));
    fabric.SetNicAttribute("FrameSize", UintegerValue(sizes.frame));
    fabric.SetNicAttribute("MinWireSize", UintegerValue(sizes.least));
    fabric.SetNicAttribute("AckSize", UintegerValue(sizes.ack));
    fabric.SetNicAttribute("CnpSize", UintegerValue(sizes.cnp));
}

FabricTransport
TransportOf(const std::string& word, const std::string& where)
{
    if (word == "roce")
    {
        return FabricTransport::Roce;
    }
    if (word != "infiniband")
    {
        throw scaleacross::ConfigError(where,
                                       "'" + word + "' is no transport",
                                       "roce or infiniband",
                                       "");
    }
    return FabricTransport::Infiniband;
}

} // namespace ns3
