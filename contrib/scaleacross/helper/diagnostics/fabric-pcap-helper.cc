// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-pcap-helper.h"

#include "core/base/errors.h"
#include "core/base/packet-format.h"
#include "rdma-flow-book.h"
#include "roce-frame.h"

#include "ns3/boolean.h"
#include "ns3/fabric-address.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-internet-helper.h"
#include "ns3/fabric-port.h"
#include "ns3/foreign-frame.h"
#include "ns3/ns3-compat.h"
#include "ns3/pcap-file-wrapper.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"
#include "ns3/telemetry.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::RdmaOperation;
using scaleacross::RoceFrame;

namespace
{

constexpr uint32_t kLow24 = 0xFFFFFF;
constexpr uint32_t kFirstQueuePair = 2; // 0 and 1 are for management in InfiniBand
constexpr uint8_t kAcknowledge = 0x11;
constexpr uint8_t kCnp = 0x81;
constexpr uint8_t kPull = 0xC0; // RoCEv2 has none; this one is left to manufacturers
constexpr uint32_t kPullNumber = 4;
constexpr uint32_t kCnpReserved = 16; // bytes of zeros after the BTH of a CNP
constexpr uint8_t kNotCapable = 0;
constexpr uint8_t kCapable = 2;
constexpr uint8_t kMarked = 3;
constexpr uint8_t kAckNoCredits = 0x1F; // end-to-end credits are not in use
constexpr uint8_t kNakSequenceError = 0x60;
constexpr uint8_t kRnrNak = 0x20;
constexpr size_t kShortest = scaleacross::kShortestFrame - scaleacross::kEthernetCheck;

/// The opcode of a data packet of a reliable connection.
uint8_t
OpcodeOf(const FabricPacket& packet)
{
    const uint8_t base = packet.operation == RdmaOperation::Send ? 0x00 : 0x06;
    const bool immediate = packet.operation == RdmaOperation::WriteWithImmediate;
    if (!packet.lastOfMessage)
    {
        return static_cast<uint8_t>(base + (packet.firstOfMessage ? 0 : 1));
    }
    return static_cast<uint8_t>(base + (packet.firstOfMessage ? 4 : 2) + (immediate ? 1 : 0));
}

std::vector<uint8_t>
ForeignBytes(const FabricPacket& packet)
{
    const scaleacross::ForeignFrame& frame = scaleacross::FrameOf(packet);
    const uint32_t size = frame.packet->GetSize();
    std::vector<uint8_t> bytes(std::max<size_t>(kShortest, scaleacross::kEthernetHeader + size));
    frame.destination.CopyTo(bytes.data());
    frame.source.CopyTo(bytes.data() + 6);
    bytes[12] = static_cast<uint8_t>(frame.protocol >> 8);
    bytes[13] = static_cast<uint8_t>(frame.protocol & 0xFFU);
    frame.packet->CopyData(bytes.data() + scaleacross::kEthernetHeader, size);
    return bytes;
}

} // namespace

/// What all files of one helper share; sinks keep it alive.
class FabricPcapHelper::Capture
{
  public:
    explicit Capture(const FabricHelper& fabric)
        : m_book(RdmaFlowBook::Open(fabric))
    {
    }

    static void Write(PcapFileWrapper& file, const std::vector<uint8_t>& bytes)
    {
        file.Write(Simulator::Now(), bytes.data(), static_cast<uint32_t>(bytes.size()));
    }

    /// `kept`: bytes of each that the file keeps.
    void Write(PcapFileWrapper& file, const FabricPacket& packet, uint32_t kept)
    {
        if (packet.kind == PacketKind::Foreign)
        {
            Write(file, ForeignBytes(packet));
            return;
        }
        const RoceFrame frame = FrameOf(packet);
        std::vector<uint8_t> bytes = scaleacross::FrameBytes(frame);
        Write(file, bytes.size() > kept ? scaleacross::HeadersFirst(frame) : bytes);
    }

  private:
    RoceFrame FrameOf(const FabricPacket& packet)
    {
        RoceFrame frame;
        frame.sourceMac = scaleacross::MacOf(packet.source);
        frame.destinationMac = scaleacross::MacOf(packet.destination);
        frame.source = m_internet.AddressOf(packet.source);
        frame.destination = m_internet.AddressOf(packet.destination);
        frame.dscp = static_cast<uint8_t>(8U * packet.priority);
        frame.ttl = static_cast<uint8_t>(std::min<uint32_t>(packet.hops + 1U, 255));
        frame.sourcePort = packet.entropy;
        frame.queuePair = (packet.queuePair + kFirstQueuePair) & kLow24;
        frame.psn = static_cast<uint32_t>(packet.psn & kLow24);
        switch (packet.kind)
        {
        case PacketKind::Data:
            FillData(frame, packet);
            break;
        case PacketKind::Cnp:
            frame.opcode = kCnp;
            frame.becn = true;
            frame.psn = 0;
            frame.payload = kCnpReserved;
            break;
        case PacketKind::Pull:
            frame.opcode = kPull;
            frame.payload = kPullNumber;
            break;
        default:
            FillAnswer(frame, packet);
            break;
        }
        return frame;
    }

    void FillData(RoceFrame& frame, const FabricPacket& packet)
    {
        frame.opcode = OpcodeOf(packet);
        frame.ecn = packet.ecnMarked ? kMarked : packet.ecnCapable ? kCapable : kNotCapable;
        frame.payload = packet.payload;
        frame.ackRequested = packet.ackRequested;
        const bool write = packet.operation != RdmaOperation::Send;
        if (packet.lastOfMessage && packet.operation != RdmaOperation::Write)
        {
            frame.solicited = true;
        }
        if (packet.lastOfMessage && packet.operation == RdmaOperation::WriteWithImmediate)
        {
            frame.immediate = static_cast<uint32_t>(scaleacross::TagOf(packet));
        }
        if (!packet.firstOfMessage || !write)
        {
            return;
        }
        const RdmaQueuePair* receiver = m_book->Find(packet.destination, packet.queuePair);
        const RdmaQueuePair* sender = receiver != nullptr
                                          ? m_book->Find(packet.source, receiver->GetRemoteNumber())
                                          : nullptr;
        frame.reth = scaleacross::RoceReth{0, 0, packet.payload};
        const auto* message = sender != nullptr ? m_book->MessageOf(*sender, packet.psn) : nullptr;
        if (message != nullptr)
        {
            frame.reth->address = message->offset;
            frame.reth->key = sender->GetNumber() + kFirstQueuePair;
            frame.reth->length =
                static_cast<uint32_t>(std::min<uint64_t>(message->bytes, UINT32_MAX));
        }
    }

    void FillAnswer(RoceFrame& frame, const FabricPacket& packet)
    {
        const bool ack = packet.kind == PacketKind::Ack;
        frame.opcode = kAcknowledge;
        frame.becn = packet.ecnMarked;
        // The model names the PSN that is expected next; so does a NAK, but an ACK the one before.
        frame.psn = static_cast<uint32_t>((packet.psn - (ack ? 1 : 0)) & kLow24);
        frame.aeth = scaleacross::RoceAeth{kAckNoCredits, 0};
        if (!ack)
        {
            frame.aeth->syndrome = SyndromeOf(packet);
        }
        const RdmaQueuePair* sender = m_book->Find(packet.destination, packet.queuePair);
        if (sender != nullptr)
        {
            frame.aeth->messages =
                static_cast<uint32_t>(m_book->CompleteBefore(*sender, packet.psn) & kLow24);
        }
    }

    static uint8_t SyndromeOf(const FabricPacket& packet)
    {
        // The tag of a receiver-not-ready NAK is the code of its timer.
        // RoCEv2 has no NAK for a trimmed packet: it shows as a gap.
        return packet.kind != PacketKind::RnrNak
                   ? kNakSequenceError
                   : static_cast<uint8_t>(kRnrNak | (scaleacross::TagOf(packet) & 0x1FU));
    }

    std::shared_ptr<RdmaFlowBook> m_book;
    FabricInternetHelper m_internet;
};

FabricPcapHelper::FabricPcapHelper(const FabricHelper& fabric)
    : m_capture(std::make_shared<Capture>(fabric))
{
}

FabricPcapHelper::~FabricPcapHelper() = default;

void
FabricPcapHelper::SetSnapLength(uint32_t bytes)
{
    m_snapLength = bytes;
}

void
FabricPcapHelper::EnablePcapInternal(std::string prefix,
                                     Ptr<NetDevice> device,
                                     bool /* promiscuous */,
                                     bool explicitFilename)
{
    Ptr<FabricPort> port = DynamicCast<FabricPort>(device);
    if (!port)
    {
        return;
    }
    const std::string name =
        explicitFilename ? prefix : PcapHelper().GetFilenameFromDevice(prefix, device);
    Ptr<PcapFileWrapper> file = CreateObject<PcapFileWrapper>();
    file->SetAttribute("NanosecMode", BooleanValue(true));
    file->Open(name, std::ios::out);
    if (file->Fail())
    {
        throw ConfigError("EnablePcap", "cannot write " + name, "a folder that exists", "");
    }
    file->Init(scaleacross::kLinkTypeEthernet, m_snapLength);
    Simulator::ScheduleDestroy(&PcapFileWrapper::Close, file);
    using PacketSink = Callback<void, const FabricPacket&>;
    using PauseSink = Callback<void, uint8_t, bool>;
    auto packet = [capture = m_capture, file, kept = m_snapLength](const FabricPacket& carried) {
        capture->Write(*file, carried, kept);
    };
    port->TraceConnectWithoutContext("Transmit", PacketSink(packet));
    port->TraceConnectWithoutContext("Receive", PacketSink(packet));
    const Mac48Address own = Mac48Address::ConvertFrom(port->GetAddress());
    const Mac48Address peer =
        port->GetPeer() ? Mac48Address::ConvertFrom(port->GetPeer()->GetAddress()) : Mac48Address();
    port->TraceConnectWithoutContext(
        "PauseSent",
        PauseSink([file, own](uint8_t priority, bool pause) {
            Capture::Write(*file, scaleacross::PauseFrameBytes(own, priority, pause));
        }));
    port->TraceConnectWithoutContext("Pause", PauseSink([file, peer](uint8_t priority, bool pause) {
                                         Capture::Write(
                                             *file,
                                             scaleacross::PauseFrameBytes(peer, priority, pause));
                                     }));
}

} // namespace ns3
