// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_PACKET_H
#define SCALEACROSS_FABRIC_PACKET_H

#include <cstdint>
#include <memory>
#include <vector>

namespace scaleacross
{

class PacketPool;

/// What a packet is to a transport or to a port.
enum class PacketKind : uint8_t
{
    Data,
    Ack,     //!< all packets before psn have arrived
    Nak,     //!< the same, and psn is missing although a later one has arrived
    RnrNak,  //!< the same, and the receiver was not ready for psn; tag is the code of its timer
    TrimNak, //!< as Ack, but the packet that caused it has come in trimmed: it is missing
    Cnp,     //!< congestion notification: packets of this queue pair have come in marked
    Pull,    //!< receiver credit: the receiver has asked for psn packets of this queue pair so far
    Foreign, //!< of another stack (IP): carried as it is, tag is its frame
    Pause,   //!< PFC: stop priority `level`; seen by the next port only, never forwarded
    Resume,  //!< PFC: go on with priority `level`
    Credit   //!< InfiniBand: the limit of virtual lane `level` is psn
};

/// What a message asks of the receiver.
enum class RdmaOperation : uint8_t
{
    Write,              //!< placed in memory; the receiver's software is not told
    WriteWithImmediate, //!< placed in memory, and the receiver is told at the last packet
    Send                //!< placed in the receiver's next posted buffer, which is told
};

/// Why a packet was thrown away. Every drop is counted under one of these.
enum class DropReason : uint8_t
{
    WireLoss,         //!< the random loss of a wire
    SharedBufferFull, //!< lossy priority over its dynamic threshold, or no shared buffer left
    HeadroomFull,     //!< lossless priority over its reserved headroom
    NoRoute,          //!< the switch has no entry for the destination
    HopLimit,         //!< went through too many switches: the routes contain a loop
    Oversize,         //!< longer than the switch's MaxPacketSize
    WrongAddress,     //!< arrived at a NIC that is not its destination
    NoQueuePair,      //!< the destination NIC has no such queue pair
    PfcWatchdog,      //!< waited in, or came in for, a queue that the PFC watchdog has given up
    SendQueueFull,    //!< foreign: the sending NIC's queue is full
    Broadcast,        //!< foreign: to a broadcast or multicast address, which no fabric delivers
    LinkDown          //!< was on a wire that broke, or waited for one that is down
};

constexpr uint32_t kDropReasons = 12;

/// "wire-loss", "shared-buffer-full" and so on.
const char* NameOf(DropReason reason);

/// Priorities 0 to 7; a larger one is served first.
constexpr uint8_t kPriorities = 8;

/**
 * A packet on its way: header fields and list links in one cache line, no buffer of bytes.
 *
 * Packets come from the pool of the port that first sends them and return to it. They are linked
 * into exactly one list at a time: a queue of a port or the lane of a wire.
 */
struct FabricPacket
{
    FabricPacket* next;
    PacketPool* home;
    int64_t arrival; //!< ps: last bit at the far end of the wire it is on
    uint64_t psn;    //!< 64 bits here; 24 of them are in the header (psn.h)
    uint64_t tag; //!< data: of the message; ACK and NAK: PSN of the packet that caused it; foreign:
                  //!< frame; while `telemetry`: TagOf (telemetry.h)
    uint32_t source; //!< fabric address of the sending NIC
    uint32_t destination;
    uint32_t queuePair : 24; //!< number of the queue pair at the destination
    uint32_t hops : 8;       //!< switches it may still pass
    uint16_t size;           //!< bytes of time taken on a wire: headers, payload, frame, gap
    uint16_t payload;        //!< bytes of the message
    uint16_t entropy;        //!< UDP source port: what tells flows of two NICs apart for ECMP
    uint16_t ingress;        //!< in a switch: port it came in by
    PacketKind kind : 4;
    uint8_t ingressLane : 4; //!< in a switch: priority with which it came in
    uint8_t priority;
    bool ackRequested : 1;
    bool firstOfMessage : 1;
    bool lastOfMessage : 1;
    bool lost : 1;      //!< the wire loses it: drop when it arrives
    uint8_t level : 3;  //!< of pauses and credits: the priority that is meant; others: the service
                        //!< level, set by the first switch with Credits
    bool wantsPull : 1; //!< data: it asks for one; TrimNak: one comes that was not asked for
    bool ecnCapable : 1;
    bool ecnMarked : 1;     //!< data: marked on the way; ACK: the packet it answers was marked
    bool retransmitted : 1; //!< has been sent before; TrimNak: the packet it answers had
    bool telemetry : 1;     //!< switches write down what they see (telemetry.h)
    RdmaOperation operation : 2;
    bool ownEntropy : 1; //!< data: its entropy is not its queue pair's; the answer brings it back
    bool trimmed : 1;    //!< data: a switch has cut its payload off
};

/// Releases what hangs on a packet: a frame (foreign-frame.h) or a trail (telemetry.h).
void ReleaseLoad(FabricPacket& packet);

/// Memory for packets: grows in slabs, never shrinks, and hands out what was returned last first.
class PacketPool
{
  public:
    PacketPool() = default;
    PacketPool(const PacketPool&) = delete;
    PacketPool& operator=(const PacketPool&) = delete;

    /// A packet whose fields are all zero but `home`.
    FabricPacket* Take()
    {
        if (m_free == nullptr)
        {
            Grow();
        }
        FabricPacket* packet = m_free;
        m_free = packet->next;
        *packet = FabricPacket{};
        packet->home = this;
        return packet;
    }

    /// Gives a packet back to the pool it was taken from: the one place where packets end.
    static void Return(FabricPacket* packet)
    {
        if (packet->kind == PacketKind::Foreign || packet->telemetry)
        {
            ReleaseLoad(*packet);
        }
        PacketPool* pool = packet->home;
        packet->next = pool->m_free;
        pool->m_free = packet;
    }

    /// Releases the frames of all foreign packets of this pool, wherever they are: for the end of
    /// a simulation with packets in flight.
    void ReleaseFrames();

    /// Packets ever allocated, in use or not.
    uint64_t Capacity() const
    {
        return m_slabs.size() * kSlab;
    }

  private:
    static constexpr uint32_t kSlab = 128;

    void Grow();

    FabricPacket* m_free{nullptr};
    std::vector<std::unique_ptr<FabricPacket[]>> m_slabs;
};

/// Tells the processor that a packet will soon be looked at; null is fine, and no effect as well.
inline void
Prefetch([[maybe_unused]] const FabricPacket* packet)
{
#if defined(__GNUC__)
    __builtin_prefetch(packet);
#endif
}

/**
 * Singly linked FIFO of packets.
 *
 * Long queues and long wires hold more packets than a cache: whoever takes one out will look at the
 * next one some events later, so that is fetched meanwhile.
 */
class PacketList
{
  public:
    bool Empty() const
    {
        return m_head == nullptr;
    }

    FabricPacket* Front() const
    {
        return m_head;
    }

    void PushBack(FabricPacket* packet)
    {
        packet->next = nullptr;
        (m_head == nullptr ? m_head : m_tail->next) = packet;
        m_tail = packet;
    }

    /// Domain: not empty.
    FabricPacket* PopFront()
    {
        FabricPacket* packet = m_head;
        m_head = packet->next;
        Prefetch(m_head);
        return packet;
    }

    /// Forgets the packets without touching them (their pool may be gone).
    void Clear()
    {
        m_head = nullptr;
    }

  private:
    FabricPacket* m_head{nullptr};
    FabricPacket* m_tail{nullptr};
};

} // namespace scaleacross

#endif // SCALEACROSS_FABRIC_PACKET_H
