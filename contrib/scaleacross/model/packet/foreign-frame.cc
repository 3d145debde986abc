// SPDX-License-Identifier: GPL-2.0-only

#include "foreign-frame.h"

#include "flow-hash.h"

#include <array>
#include <memory>

namespace scaleacross
{

namespace
{

constexpr uint16_t kIpv4 = 0x0800;
constexpr uint16_t kIpv6 = 0x86DD;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint32_t kIpv6Header = 40;

} // namespace

void
AttachFrame(FabricPacket& packet, const ForeignFrame& frame)
{
    auto owned = std::make_unique<ForeignFrame>(frame);
    packet.kind = PacketKind::Foreign;
    packet.tag = reinterpret_cast<uintptr_t>(owned.release());
}

const ForeignFrame&
FrameOf(const FabricPacket& packet)
{
    return *reinterpret_cast<const ForeignFrame*>(static_cast<uintptr_t>(packet.tag));
}

void
ReleaseFrame(FabricPacket& packet)
{
    std::unique_ptr<const ForeignFrame> owned(&FrameOf(packet));
    packet.kind = PacketKind::Data;
    packet.tag = 0;
}

uint16_t
EntropyOf(const ns3::Packet& packet, uint16_t protocol)
{
    std::array<uint8_t, 64> head{}; // the longest IPv4 header and two ports
    packet.CopyData(head.data(), static_cast<uint32_t>(head.size()));
    uint8_t transport = 0;
    uint32_t ports = 0; // where they begin; 0: there are none
    if (protocol == kIpv4)
    {
        transport = head[9];
        const bool fragment = ((head[6] & 0x3FU) | head[7]) != 0; // offset, or more to come
        ports = fragment ? 0 : 4U * (head[0] & 0xFU);
    }
    else if (protocol == kIpv6)
    {
        transport = head[6];
        ports = kIpv6Header;
    }
    else
    {
        return 0;
    }
    uint32_t both = 0;
    if (ports != 0 && (transport == kTcp || transport == kUdp))
    {
        for (uint32_t i = 0; i < 4; ++i)
        {
            both = (both << 8) | head[ports + i];
        }
    }
    return static_cast<uint16_t>(HashOf(both, transport, 0, 0));
}

} // namespace scaleacross
