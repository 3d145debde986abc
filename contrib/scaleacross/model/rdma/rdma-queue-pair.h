// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_QUEUE_PAIR_H
#define SCALEACROSS_RDMA_QUEUE_PAIR_H

#include "core/base/units.h"
#include "queue-pair-ends.h"
#include "rdma-callbacks.h"
#include "rdma-counters.h"
#include "rdma-requester.h"
#include "rdma-responder.h"
#include "reordering.h"

#include "ns3/attribute-guard.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"
#include "ns3/object.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-entropy-ops.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <string>

namespace ns3
{

class RdmaNic;

/**
 * One end of a reliable connection (RC): messages by writes and sends, in the order of posting.
 *
 * Model: a message is cut into packets of the NIC's PathMtu, which are numbered through (PSN,
 * psn.h). Its sending half is an RdmaRequester, its receiving half an RdmaResponder, which answers
 * with cumulative ACKs and NAKs. How losses are repaired is RetransmissionMode:
 *   - GoBackN: the receiver takes the expected packet only and reports a gap once; on a NAK the
 *     sender goes back to the missing packet. A lost repetition costs a timeout.
 *   - SelectiveRepeat: the receiver keeps what comes early, up to OutOfOrderLimit packets; every
 *     answer names the packet that caused it, and the sender repeats what was sent more than
 *     ReorderTolerance packets before that and has not arrived (selective-repeat.h), and what a
 *     switch has trimmed.
 * Window and congestion control bound what is sent meanwhile (send-window.h, send-allowance.h), and
 * retry-timer.h says when the sender stops waiting for an answer.
 *
 * Operations: a write is placed in memory and the receiver's software hears nothing; a write with
 * immediate and a send use up a posted receive and notify it. ReceiveQueueDepth 0 stands for a
 * receiver that is always ready; else a message that finds no receive is answered by a
 * receiver-not-ready NAK with the receiver's RnrTimer, and the sender repeats it after that, up to
 * RnrRetryCount times in a row (7: without end). The delivery callback and trace are the
 * simulator's eye and see every message, of any operation. ImmDt carries the lower 32 bits of the
 * tag.
 *
 * States, as in the standard: RESET until Connect, then RTS (INIT and RTR take no time), and ERR
 * after an error of the sending half, in which everything posted is flushed and everything that
 * arrives is ignored.
 *
 * Left out: reads and atomics, sends with immediate, path MTU discovery, what a retry limit of the
 * peer tells this end (nothing, as in reality).
 *
 * Worked case: MTU 1,000 and a write of 2,500 bytes: packets of 1,000, 1,000 and 500 bytes, the
 * first with a RETH, the last with a request for an ACK. If the second is lost, the third causes a
 * NAK of PSN 1, and PSN 1 and 2 are sent again; with SelectiveRepeat only PSN 1.
 */
class RdmaQueuePair : public Object, public scaleacross::AttributeOwner
{
  public:
    using Counters = scaleacross::RdmaCounters;

    enum class State : uint8_t
    {
        Reset,       //!< not connected
        ReadyToSend, //!< connected: it sends and receives
        Error        //!< it has failed for good
    };

    enum RetransmissionMode
    {
        GoBackN,
        SelectiveRepeat
    };

    /// Signatures of the trace sources.
    using PostedTracedCallback = void (*)(uint64_t bytes,
                                          uint64_t tag,
                                          uint64_t firstPsn,
                                          uint64_t packets);
    using MessageTracedCallback = void (*)(uint64_t bytes, uint64_t tag);
    using RetransmitTracedCallback = void (*)(uint64_t psn, uint64_t packets);
    using TimeoutTracedCallback = void (*)(uint64_t psn, uint32_t timeoutsBefore);
    using CnpTracedCallback = void (*)();

    static TypeId GetTypeId();
    RdmaQueuePair();
    ~RdmaQueuePair() override;

    /// Before Connect: the number from which, with the addresses, the UDP source port follows that
    /// is neither pinned nor drawn. Default: that of the queue pair at its NIC. RdmaConnection
    /// numbers its own from the sending to the receiving NIC, so that they do not depend on what
    /// else these NICs were connected to before. Throws ConfigError after Connect.
    void SetPath(uint32_t number);

    /**
     * Joins this end to queue pair `remote` of the NIC with fabric address `address`. Attributes
     * are read now, and are refused later. Throws ConfigError on impossible values.
     *
     * `entropy` is the UDP source port by which ECMP tells flows apart; 0 takes the attribute
     * Entropy, and if that is 0 too, one that follows from the addresses and a number (SetPath).
     */
    void Connect(uint32_t address, uint32_t remote, uint16_t entropy = 0);

    /// Most bytes of a message: 256 TiB, an hour and a half at 400 Gb/s. More is a mistake, and
    /// would overflow what counts packets.
    static constexpr uint64_t kMostMessageBytes = uint64_t{1} << 48;

    /// Throws ConfigError, at `where`, on more than that.
    static void CheckMessageSize(const char* where, scaleacross::Bytes bytes);

    /// Posts a message; false if the queue pair has failed. 0 bytes are one empty packet. Throws
    /// ConfigError before Connect, on more than kMostMessageBytes, and during the run if a packet
    /// would be longer than the switches on its way let pass.
    bool Post(scaleacross::RdmaOperation operation, scaleacross::Bytes bytes, uint64_t tag);

    /// Posts receives for sends and writes with immediate that come to this end, after all that
    /// arrives now. Throws ConfigError if there would be more than ReceiveQueueDepth, and if that
    /// is 0.
    void PostReceive(uint32_t count = 1);
    /// Receives posted and not used; 0 if ReceiveQueueDepth is 0.
    uint64_t GetPostedReceives() const;

    /// Called at the sender when the whole message is acknowledged.
    void SetCompletionCallback(RdmaMessageCallback callback);
    /// Called at the receiver when a message has arrived, in the order of posting.
    void SetDeliveryCallback(RdmaMessageCallback callback);
    /// Called at the sender, once.
    void SetFailureCallback(RdmaFailureCallback callback);

    /// Its place in RdmaNic::GetQueuePair, and what packets to it carry.
    uint32_t GetNumber() const;
    uint32_t GetRemoteAddress() const;
    /// Number of the other end at its NIC.
    uint32_t GetRemoteNumber() const;
    uint16_t GetEntropy() const;
    uint8_t GetPriority() const;
    RdmaNic& GetNic() const;

    State GetState() const;
    bool HasFailed() const;
    /// Which error, of which queue pair, at which PSN, and what is lost by it.
    const std::string& GetFailure() const;

    /// What has happened so far, exact at the time of the call.
    const Counters& GetCounters() const;
    /// Packets sent and not acknowledged.
    uint64_t GetUnacked() const;
    /// Messages posted and not acknowledged.
    uint64_t GetPendingMessages() const;

    /// Its congestion control, null if there is none. To be given before Connect; the attribute
    /// CongestionOps makes one there if none was.
    Ptr<RdmaCongestionOps> GetCongestionOps() const;
    void SetCongestionOps(Ptr<RdmaCongestionOps> control);
    /// What gives its data packets their UDP source ports, null if they all have GetEntropy(). To
    /// be given before Connect; the attribute EntropyOps makes one there if none was.
    Ptr<RdmaEntropyOps> GetEntropyOps() const;
    void SetEntropyOps(Ptr<RdmaEntropyOps> entropies);
    /// Fixes the random stream of EntropyOps, now or when there is one; returns 1.
    int64_t AssignStreams(int64_t stream);

    /// What the congestion control or RateLimit allows, on the wire, exact at the time of the call.
    DataRate GetRate();

    /// "queue pair 2 of node 0 port 0 to address 5".
    std::string Describe() const;

    const char* WhyFixed() const override;

    // --- For RdmaNic (times in ps; the port has been brought up to date)

    void SetNic(RdmaNic& nic, uint32_t number);

    scaleacross::RdmaRequester& Requester()
    {
        return m_requester;
    }

    scaleacross::RdmaResponder& Responder()
    {
        return m_responder;
    }

    /// Messages posted so far may be sent from now on, and receives be used.
    void ShowPosted();

    void HandleData(const scaleacross::FabricPacket& packet, int64_t now)
    {
        if (m_requester.IsOpen())
        {
            m_responder.HandleData(packet, now);
        }
    }

    /**
     * Handling this ACK, NAK or CNP may call back to a user: complete a message, end in an error,
     * or fire a trace source that has a sink. May be asked as long before as the packet is on the
     * wire: an ACK that now reaches the end of no message will reach none then.
     */
    bool MayComplete(const scaleacross::FabricPacket& packet) const
    {
        if (packet.kind == scaleacross::PacketKind::Pull)
        {
            return false;
        }
        const bool answer = packet.kind == scaleacross::PacketKind::Ack ||
                            packet.kind == scaleacross::PacketKind::TrimNak;
        // If it is not connected, it may be until then.
        return !m_requester.IsConnected() || !answer || m_requester.MayComplete(packet);
    }

    /**
     * Handling this data packet may call back to a user, as it may complete a message. To be asked
     * once about every packet in the order in which they are put on the wire to here. The last
     * packet of a message may; with selective repeat also one that fills a gap, but only if the
     * last packet of a message that has not been delivered is here or comes before it. One that
     * has been trimmed delivers nothing. One for a queue pair that is not connected may deliver
     * anything: it may be connected until then.
     */
    bool MayDeliver(const scaleacross::FabricPacket& packet)
    {
        return m_responder.MayDeliver(packet);
    }

  private:
    void DoDispose() override;
    void SetMode(RetransmissionMode mode);
    RetransmissionMode GetMode() const;

    scaleacross::QueuePairEnds m_ends;
    scaleacross::Reordering m_reordering;
    scaleacross::RdmaRequester::Config m_requesterConfig;
    scaleacross::RdmaResponder::Config m_responderConfig;
    Counters m_counters;
    scaleacross::RdmaRequester m_requester;
    scaleacross::RdmaResponder m_responder;
    TracedCallback<uint64_t, uint64_t, uint64_t, uint64_t> m_postedTrace;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_QUEUE_PAIR_H
