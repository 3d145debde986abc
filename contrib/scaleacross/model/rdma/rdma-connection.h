// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_CONNECTION_H
#define SCALEACROSS_RDMA_CONNECTION_H

#include "clear-to-send.h"
#include "message-ledger.h"
#include "queue-pair-bundle.h"
#include "rdma-queue-pair.h"
#include "segment-balance.h"
#include "segment-order.h"
#include "send-progress.h"

#include "ns3/attribute-guard.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * What an application sends by: messages from one NIC to another over k queue pairs.
 *
 * Model: a message is cut into segments of SegmentSize, which are posted to the queue pairs in
 * turn (SegmentBalance; MessageLedger counts them); with a SegmentSize of 0 it has an even part for
 * each, which waits for that one. Each queue pair is a flow of its own to ECMP
 * (E-ECMP with queue pair scaling), keeps its own order and repairs its own losses. A message is
 * delivered when all its segments are; messages may overtake each other if they went over different
 * queue pairs. If one queue pair fails, the connection fails.
 *
 * With one queue pair nothing is cut. The other direction is another connection.
 *
 * With MaxOutstanding a queue pair has at most that many segments that are not acknowledged; the
 * next one goes to the next queue pair in turn that has fewer, or waits.
 *
 * Notification says when a message counts as delivered. AllArrived: when its last segment in time
 * has arrived. InOrder, as NCCLX's queue pair balancing does it: every segment is a write with
 * immediate that carries its number (SegmentOrder), and a message is delivered when all segments up
 * to its last have arrived, so that messages are delivered in the order in which they were cut.
 * Final, as its spray mode does it: segments are plain writes, and when all of a message are
 * acknowledged, a write with immediate of no bytes follows, whose arrival is the delivery.
 *
 * With ClearToSend nothing is sent that the receiver has not granted: for every message a request
 * of ControlBytes goes to the receiver, whose NIC's ReceiverAdmission answers by grants for one
 * part of the message after the other. Requests and grants are sends over a queue pair of their own
 * with priority ControlPriority: packets like others, that take time and are repeated if lost. The
 * first part leaves one round trip after Send at the earliest.
 *
 * Both ends of a connection live in one process.
 *
 * Worked case: k = 4, SegmentSize 512 KiB, a message of 2.25 MiB: segments 1 to 4 go to queue pairs
 * 0 to 3, the last one of 256 KiB to queue pair 0; the next message begins at queue pair 1. With
 * ClearToSend and a GrantSize of 1 MiB: three grants, of 1, 1 and 0.25 MiB, hence segments of 512,
 * 512, 512, 512 and 256 KiB.
 */
class RdmaConnection : public Object, public scaleacross::AttributeOwner
{
  public:
    /// Values of the attribute Operation: scaleacross::RdmaOperation's, in its order.
    enum Operation
    {
        UseWrite,
        UseWriteWithImmediate,
        UseSend
    };

    /// Values of the attribute Notification.
    enum Notification
    {
        AllArrived,
        InOrder,
        Final
    };

    // Signatures of trace sources.
    using MessageTracedCallback = void (*)(Ptr<const RdmaConnection> connection,
                                           uint64_t bytes,
                                           uint64_t tag);
    using FailureTracedCallback = void (*)(Ptr<const RdmaConnection> connection,
                                           const std::string& reason);

    static TypeId GetTypeId();
    RdmaConnection();
    ~RdmaConnection() override;

    /// Sets an attribute of the queue pairs to be created: before Connect.
    void SetQueuePairAttribute(const std::string& name, const AttributeValue& value);

    /**
     * Pins queue pair i to the i-th of these UDP source ports, in turn (RdmaQueuePair::Entropy, of
     * the sending end; answers keep to theirs): before Connect. Which path that is, PathOf tells
     * (fabric-path.h).
     */
    void SetEntropies(const std::vector<uint16_t>& entropies);

    /// Sending and receiving NIC.
    using NicPair = scaleacross::QueuePairBundle::NicPair;

    /**
     * Creates the queue pairs at both ends. Throws ConfigError if both are the same NIC.
     *
     * Of several pairs of NICs (the ports of servers that are on several planes or leaves), queue
     * pair i joins the i-th in turn, and requests and grants go by the first.
     */
    void Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to);
    void Connect(const std::vector<NicPair>& nics);

    /// Sends a message; false if the connection has failed. The tag is handed to the callbacks.
    /// Throws ConfigError before Connect, and on more than
    /// RdmaQueuePair::kMostMessageBytes.
    bool Send(scaleacross::Bytes bytes, uint64_t tag);

    /// At the receiver: all bytes of a message have arrived.
    void SetDeliveryCallback(RdmaMessageCallback callback);
    /// At the sender: all of a message is acknowledged.
    void SetCompletionCallback(RdmaMessageCallback callback);
    /// At the sender, once: nothing more will get through, and why.
    void SetFailureCallback(RdmaFailureCallback callback);

    bool HasFailed() const;
    /// Why, as a sentence with the values; empty if it has not failed.
    const std::string& GetFailure() const;

    /// The attribute Label.
    const std::string& GetLabel() const;
    /// Both NICs and the label, in words: what log messages call it. After Connect.
    std::string Describe() const;

    /// Of the first pair of NICs.
    Ptr<RdmaNic> GetSender() const;
    Ptr<RdmaNic> GetReceiver() const;
    uint32_t GetNQueuePairs() const;
    /// Sending end and receiving end of queue pair i.
    Ptr<RdmaQueuePair> GetQueuePair(uint32_t i) const;
    Ptr<RdmaQueuePair> GetRemoteQueuePair(uint32_t i) const;

    /// Messages sent and not delivered yet.
    uint64_t GetUndelivered() const;
    /// How far queue pair i has come, exact at the time of the call.
    scaleacross::SendProgress GetProgress(uint32_t i) const;

    /**
     * Packets of queue pair i that could be left out without anybody noticing but by the time that
     * it takes: none of them has been sent, they are of the message that it is sending, and of each
     * segment one remains. 0 also if somebody counts what arrives (ClearToSend), if segments wait
     * for others to be acknowledged, or if a message is on its way by a queue pair that has nothing
     * more to send of it: it would arrive too late.
     */
    uint64_t GetSpare(uint32_t i) const;
    /// Leaves them out: the message arrives as if it were whole. Domain: packets <= GetSpare(i).
    void LeaveOut(uint32_t i, uint64_t packets);

    uint64_t GetRetransmissions() const;

    const char* WhyFixed() const override;

  private:
    void DoDispose() override;
    bool IsConnected() const;
    void ConnectControl();
    /// Every message on its way has more to send, by each of the queue pairs by which a part of it
    /// is on its way. False if there is none, or if segments wait for others to be acknowledged.
    bool IsMidMessage() const;
    void Cut(uint64_t id, scaleacross::Bytes bytes);
    void PostSegments();
    scaleacross::RdmaOperation OperationOfSegments() const;
    uint64_t TagOf(const scaleacross::MessageSegment& segment);
    void Post(uint32_t queuePair,
              scaleacross::RdmaOperation operation,
              const scaleacross::MessageSegment& segment,
              uint64_t tag);
    void MessageDelivered(uint64_t id);
    void RequestArrived(scaleacross::Bytes bytes, uint64_t id);
    void SendGrant(uint64_t id, scaleacross::Bytes bytes);
    void GrantArrived(scaleacross::Bytes bytes, uint64_t id);
    void SegmentDelivered(scaleacross::Bytes bytes, uint64_t tag);
    void SegmentCompleted(uint32_t queuePair, scaleacross::Bytes bytes, uint64_t tag);
    void QueuePairFailed(const std::string& reason);

    scaleacross::QueuePairBundle m_queuePairs;
    scaleacross::MessageLedger m_ledger;
    scaleacross::SegmentBalance m_balance;
    scaleacross::SegmentOrder m_order; //!< with Notification InOrder
    scaleacross::ClearToSend m_clearToSend;
    std::string m_failure;

    scaleacross::SegmentBalance::Config m_balanceConfig;
    scaleacross::ClearToSend::Config m_clearToSendConfig;
    Operation m_operation{UseWrite};
    Notification m_notification{AllArrived};

    RdmaMessageCallback m_delivery;
    RdmaMessageCallback m_completion;
    RdmaFailureCallback m_failureCallback;
    std::string m_label;
    TracedCallback<Ptr<const RdmaConnection>, uint64_t, uint64_t> m_postedTrace;
    TracedCallback<Ptr<const RdmaConnection>, uint64_t, uint64_t> m_deliveredTrace;
    TracedCallback<Ptr<const RdmaConnection>, const std::string&> m_failedTrace;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_CONNECTION_H
