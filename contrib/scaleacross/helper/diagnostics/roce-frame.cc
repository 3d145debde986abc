// SPDX-License-Identifier: GPL-2.0-only

#include "roce-frame.h"

#include "core/base/packet-format.h"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>

namespace scaleacross
{

namespace
{

constexpr size_t kEthernet = kEthernetHeader;
constexpr size_t kIp = kIpv4Header;
constexpr size_t kUdp = kUdpHeader;
constexpr size_t kBth = kBaseTransportHeader;
constexpr size_t kIcrc = kInvariantCheck;
constexpr size_t kShortest = kShortestFrame - kEthernetCheck;
constexpr uint16_t kRocePort = 4791;

// Where the fields are that may change on the way, counted from the IP header on.
constexpr size_t kTos = 1;
constexpr size_t kTtl = 8;
constexpr size_t kIpChecksum = 10;
constexpr size_t kUdpChecksum = kIp + 6;
constexpr size_t kCongestionBits = kIp + kUdp + 4;

/// Appends numbers in network order.
class Writer
{
  public:
    explicit Writer(std::vector<uint8_t>& bytes)
        : m_bytes(bytes)
    {
    }

    void Put(uint64_t value, uint32_t size)
    {
        for (uint32_t i = size; i-- > 0;)
        {
            m_bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
        }
    }

    void Put(ns3::Mac48Address mac)
    {
        std::array<uint8_t, 6> address{};
        mac.CopyTo(address.data());
        m_bytes.insert(m_bytes.end(), address.begin(), address.end());
    }

  private:
    std::vector<uint8_t>& m_bytes;
};

/// The Internet checksum (RFC 1071).
uint16_t
Checksum(const uint8_t* bytes, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i + 1 < count; i += 2)
    {
        sum += (static_cast<uint32_t>(bytes[i]) << 8) | bytes[i + 1];
    }
    while ((sum >> 16) != 0)
    {
        sum = (sum & 0xFFFFU) + (sum >> 16);
    }
    return static_cast<uint16_t>(~sum);
}

/// Bytes that fill the payload up to four.
uint32_t
PaddingOf(const RoceFrame& frame)
{
    return (4 - frame.payload % 4) % 4;
}

/// Bytes of the headers behind the BTH.
size_t
ExtendedSize(const RoceFrame& frame)
{
    return (frame.reth ? kExtendedTransportHeader : 0U) + (frame.aeth ? kAckTransportHeader : 0U) +
           (frame.immediate ? kImmediateData : 0U);
}

void
PutIp(std::vector<uint8_t>& bytes, const RoceFrame& frame, size_t length)
{
    Writer writer(bytes);
    writer.Put(0x45, 1);
    writer.Put((static_cast<uint64_t>(frame.dscp & 0x3FU) << 2) | (frame.ecn & 0x3U), 1);
    writer.Put(length, 2);
    writer.Put(frame.identification, 2);
    writer.Put(0x4000, 2); // do not fragment
    writer.Put(frame.ttl, 1);
    writer.Put(17, 1); // UDP
    writer.Put(0, 2);
    writer.Put(frame.source.Get(), 4);
    writer.Put(frame.destination.Get(), 4);
    const uint16_t checksum = Checksum(&bytes[kEthernet], kIp);
    bytes[kEthernet + kIpChecksum] = static_cast<uint8_t>(checksum >> 8);
    bytes[kEthernet + kIpChecksum + 1] = static_cast<uint8_t>(checksum & 0xFFU);
}

void
PutTransport(Writer& writer, const RoceFrame& frame, uint32_t padding)
{
    writer.Put(frame.opcode, 1);
    const uint32_t flags = (frame.solicited ? 0x80U : 0U) | (frame.migrated ? 0x40U : 0U);
    writer.Put(flags | (padding << 4), 1); // the version is 0
    writer.Put(0xFFFF, 2);                 // the default partition, full member
    writer.Put(frame.becn ? 0x40 : 0, 1);
    writer.Put(frame.queuePair, 3);
    writer.Put(frame.ackRequested ? 0x80 : 0, 1);
    writer.Put(frame.psn, 3);
    if (frame.reth)
    {
        writer.Put(frame.reth->address, 8);
        writer.Put(frame.reth->key, 4);
        writer.Put(frame.reth->length, 4);
    }
    if (frame.aeth)
    {
        writer.Put(frame.aeth->syndrome, 1);
        writer.Put(frame.aeth->messages, 3);
    }
    if (frame.immediate)
    {
        writer.Put(*frame.immediate, 4);
    }
}

} // namespace

std::vector<uint8_t>
FrameBytes(const RoceFrame& frame)
{
    const uint32_t padding = PaddingOf(frame);
    const size_t datagram = kUdp + kBth + ExtendedSize(frame) + frame.payload + padding + kIcrc;
    const size_t length = kEthernet + kIp + datagram;
    std::vector<uint8_t> bytes;
    bytes.reserve(std::max(length, kShortest));
    Writer writer(bytes);
    writer.Put(frame.destinationMac);
    writer.Put(frame.sourceMac);
    writer.Put(0x0800, 2);
    PutIp(bytes, frame, kIp + datagram);
    writer.Put(frame.sourcePort, 2);
    writer.Put(kRocePort, 2);
    writer.Put(datagram, 2);
    writer.Put(0, 2);
    PutTransport(writer, frame, padding);
    bytes.resize(length - kIcrc);
    const uint32_t crc = InvariantCrc(&bytes[kEthernet], bytes.size() - kEthernet);
    for (uint32_t i = 0; i < kIcrc; ++i)
    {
        bytes.push_back(static_cast<uint8_t>(crc >> (8 * i)));
    }
    bytes.resize(std::max(length, kShortest));
    return bytes;
}

std::vector<uint8_t>
HeadersFirst(const RoceFrame& frame)
{
    std::vector<uint8_t> bytes = FrameBytes(frame);
    const size_t datagram = kUdp + kBth + ExtendedSize(frame) + kIcrc;
    const size_t headers = kEthernet + kIp + datagram - kIcrc;
    const auto payload = bytes.begin() + static_cast<std::ptrdiff_t>(headers);
    const auto icrc = payload + frame.payload + PaddingOf(frame);
    std::rotate(payload, icrc, icrc + kIcrc);
    std::vector<uint8_t> ip(kEthernet); // where PutIp counts from
    PutIp(ip, frame, kIp + datagram);
    std::copy(ip.begin() + kEthernet, ip.end(), bytes.begin() + kEthernet);
    bytes[kEthernet + kIp + 4] = static_cast<uint8_t>(datagram >> 8);
    bytes[kEthernet + kIp + 5] = static_cast<uint8_t>(datagram & 0xFFU);
    return bytes;
}

uint32_t
InvariantCrc(const uint8_t* ip, size_t bytes)
{
    constexpr size_t kMasked = kIp + kUdp + kBth;
    std::array<uint8_t, 8 + kMasked> head{};
    head.fill(0xFF);
    std::copy(ip, ip + kMasked, head.begin() + 8);
    for (size_t at : {kTos, kTtl, kIpChecksum, kIpChecksum + 1, kUdpChecksum, kUdpChecksum + 1})
    {
        head[8 + at] = 0xFF;
    }
    head[8 + kCongestionBits] = 0xFF;
    boost::crc_32_type crc;
    crc.process_bytes(head.data(), head.size());
    crc.process_bytes(ip + kMasked, bytes - kMasked);
    return crc.checksum();
}

std::vector<uint8_t>
PauseFrameBytes(ns3::Mac48Address source, uint8_t priority, bool pause)
{
    std::vector<uint8_t> bytes;
    Writer writer(bytes);
    writer.Put(ns3::Mac48Address("01:80:c2:00:00:01"));
    writer.Put(source);
    writer.Put(0x8808, 2);
    writer.Put(0x0101, 2);
    writer.Put(uint64_t{1} << priority, 2);
    for (uint8_t i = 0; i < 8; ++i)
    {
        writer.Put(i == priority && pause ? 0xFFFF : 0, 2);
    }
    bytes.resize(kShortest);
    return bytes;
}

} // namespace scaleacross
