// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-transport.h"

#include "attribute-setter.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

using scaleacross::Transport;

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
constexpr uint32_t kTrimThreshold = 40 * 4200;
constexpr const char* kTrimRate = "100Gbps";
/// Ten bytes of data to one of headers and answers where both wait.
constexpr const char* kTrimQuanta = "0,0,0,41780,0,0,4178,0";

constexpr PacketSizes
SizesOf(uint32_t header, uint32_t frame, uint32_t least)
{
    return {header, frame, least, header + kAeth + frame, header + kCnpReserved + frame};
}

/// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4; FCS 4, preamble 8, gap 12.
constexpr PacketSizes kEthernet = SizesOf(58, 24, 84);
/// LRH 8, BTH 12, ICRC 4, VCRC 2; a delimiter at both ends.
constexpr PacketSizes kInfiniband = SizesOf(26, 2, 0);

} // namespace

void
UseTransport(FabricHelper& fabric, Transport transport, const std::set<std::string>& chosen)
{
    const bool trimming = transport == Transport::Trimming;
    const bool infiniband = transport == Transport::Infiniband;
    AttributeSetter set(fabric, chosen);
    if (trimming)
    {
        set.Switch("Pfc", BooleanValue(false));
        set.SwitchPort("Quanta", StringValue(kTrimQuanta));
    }
    set.Switch("Credits", BooleanValue(infiniband));
    set.Switch("Trim", BooleanValue(trimming));
    set.Switch("TrimThreshold", UintegerValue(trimming ? kTrimThreshold : 0));
    set.Switch("TrimReferenceRate", StringValue(trimming ? kTrimRate : "0bps"));
    set.QueuePair("WindowCountsFlight", BooleanValue(trimming));
    const PacketSizes& sizes = infiniband ? kInfiniband : kEthernet;
    set.Nic("HeaderSize", UintegerValue(sizes.header));
    set.Nic("FrameSize", UintegerValue(sizes.frame));
    set.Nic("MinWireSize", UintegerValue(sizes.least));
    set.Nic("AckSize", UintegerValue(sizes.ack));
    set.Nic("CnpSize", UintegerValue(sizes.cnp));
}

} // namespace ns3
