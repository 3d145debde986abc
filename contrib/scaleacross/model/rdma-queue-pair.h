// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_QUEUE_PAIR_H
#define SCALEACROSS_RDMA_QUEUE_PAIR_H

#include "arrival-agenda.h"
#include "core/base/units.h"
#include "fabric-packet.h"
#include "rate-pacer.h"
#include "rdma-congestion-ops.h"
#include "watched-trace.h"

#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <deque>
#include <string>

namespace ns3
{

class RdmaNic;

/// A message of `bytes` with the tag it was posted with.
using RdmaMessageCallback = Callback<void, scaleacross::Bytes, uint64_t>;
/// Why no more messages will get through, as a sentence with the values.
using RdmaFailureCallback = Callback<void, const std::string&>;

/**
 * One end of a reliable connection (RC): RDMA writes in order, go-back-N.
 *
 * Model: a message is cut into packets of the NIC's PathMtu, which are numbered through (PSN). The
 * receiver takes the packet it expects, answers a packet that asks for it with a cumulative ACK,
 * and the first packet beyond a gap with one NAK; everything else out of order is thrown away. On a
 * NAK the sender goes back to the missing packet. If nothing is acknowledged for 4.096 us *
 * 2^Timeout since the last progress, it goes back to the first unacknowledged packet; after
 * RetryCount timeouts without progress the next one is an error: the queue pair stops for good and
 * reports it. A lost retransmission costs a timeout, as the receiver reports each gap once.
 *
 * PSNs are 64-bit numbers here; what would be in the header is their lower 24 bits, hence never
 * more than 2^23 - 1 packets are unacknowledged.
 *
 * Rate and window may be set by a congestion control (CongestionOps), to which this end's CNPs,
 * ACKs, gaps and timeouts are handed on; RateLimit bounds the rate besides. Rates count bytes on
 * the wire; RatePacer says when the next packet is due. The receiving end answers packets that were
 * marked on the way with at most one CNP per CnpInterval, and says on its next ACK that there were
 * any.
 *
 * Left out: reads and atomics, receiver-not-ready, selective repeat, path MTU discovery.
 *
 * Worked case: MTU 1,000 and a message of 2,500 bytes: packets of 1,000, 1,000 and 500 bytes, the
 * first with a RETH, the last with a request for an ACK. If the second is lost, the third causes a
 * NAK of PSN 1, and PSN 1 and 2 are sent again.
 */
class RdmaQueuePair : public Object
{
  public:
    struct Counters
    {
        // Sending
        uint64_t postedMessages{0};
        uint64_t postedBytes{0};
        uint64_t ackedMessages{0};
        uint64_t ackedBytes{0};
        uint64_t retransmissions{0}; //!< packets sent again
        uint64_t timeouts{0};
        uint64_t cnpsReceived{0};
        // Receiving
        uint64_t deliveredMessages{0};
        uint64_t deliveredBytes{0}; //!< in order, complete messages or not
        uint64_t naks{0};           //!< sent by this end
        uint64_t outOfOrder{0};     //!< packets beyond a gap, thrown away
        uint64_t duplicates{0};     //!< packets that had arrived before
        uint64_t markedPackets{0};  //!< packets that were marked on the way
        uint64_t cnpsSent{0};
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

    /**
     * Joins this end to queue pair `remote` of the NIC with fabric address `address`. Attributes
     * are read now; changing them later has no effect. Throws ConfigError on impossible values.
     *
     * `entropy` is the UDP source port by which ECMP tells flows apart; 0 takes one that follows
     * from the addresses and the number of the queue pair.
     */
    void Connect(uint32_t address, uint32_t remote, uint16_t entropy = 0);

    /// Posts a message; false if the queue pair has failed. 0 bytes are one empty packet.
    bool PostSend(scaleacross::Bytes bytes, uint64_t tag);

    /// Called at the sender when the whole message is acknowledged.
    void SetCompletionCallback(RdmaMessageCallback callback);
    /// Called at the receiver when the last byte has arrived in order.
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

    bool HasFailed() const;
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
    /// What the congestion control or RateLimit allows, on the wire, exact at the time of the call.
    DataRate GetRate();

    /// "queue pair 2 of node 0 port 0 to address 5".
    std::string Describe() const;

    // --- For RdmaNic (times in ps; the port has been brought up to date)
    // --------------------------

    void SetNic(RdmaNic* nic, uint32_t number);

    bool CanSend() const
    {
        return m_cursor < m_visible && m_next - m_una < m_window;
    }

    /// Handling this ACK, NAK or CNP may call back to a user. May be asked as long before as the
    /// packet is on the wire: an ACK that now reaches the end of no message will reach none then.
    bool MayComplete(const scaleacross::FabricPacket& packet) const
    {
        return packet.kind != scaleacross::PacketKind::Ack ||
               (!m_messages.empty() &&
                packet.psn >= m_messages.front().firstPsn + m_messages.front().packets);
    }

    /// Handling this data packet may call back to a user.
    bool MayDeliver(const scaleacross::FabricPacket& packet) const
    {
        return packet.lastOfMessage;
    }

    /// Fills in the next packet. Domain: CanSend().
    void FillNext(scaleacross::FabricPacket& packet, int64_t start);
    /// Messages posted so far may be sent from now on.
    void ShowPosted();
    void HandleData(const scaleacross::FabricPacket& packet, int64_t now);
    void HandleAck(const scaleacross::FabricPacket& packet, int64_t now);
    void HandleCnp(int64_t now);
    void HandleTimeout(int64_t now);

    /// ps; the next packet may start then or later. 0: at any time.
    int64_t Eligible() const
    {
        return m_pacer.Eligible();
    }

    /// When the retransmission timer runs out, kNever if it does not run.
    int64_t Deadline() const
    {
        return m_deadline;
    }

    bool m_active{false};                 //!< for RdmaNic: in its ring of senders, or waiting
    bool m_waiting{false};                //!< for RdmaNic: to be eligible
    RdmaQueuePair* m_nextActive{nullptr}; //!< for RdmaNic: next in the ring

  private:
    struct Message
    {
        uint64_t bytes;
        uint64_t tag;
        uint64_t firstPsn;
        uint64_t packets;
    };

    void DoDispose() override;
    void GoBack();
    void Fail();
    void SendAck(bool nak, const scaleacross::FabricPacket& cause, int64_t now);
    void Address(scaleacross::FabricPacket& packet) const;

    // Congestion
    void SetUpCongestionControl();
    void AdvanceControl(int64_t now);
    void ApplyWindow();
    void Pace(uint32_t bytes, int64_t start);
    void NoteMark(int64_t now);
    int64_t RoundTrip(const scaleacross::FabricPacket& ack, int64_t now);

    // Sender
    std::deque<Message> m_messages; //!< not completely acknowledged
    size_t m_visible{0};            //!< of them, those that may be sent
    size_t m_cursor{0};             //!< message of the next packet
    uint64_t m_next{0};             //!< PSN of the next packet
    uint64_t m_una{0};              //!< first unacknowledged PSN
    uint64_t m_sentUpTo{0};         //!< PSNs below have been sent at least once
    uint64_t m_endPsn{0};           //!< after the last posted message
    uint64_t m_window{0};           //!< packets
    int64_t m_deadline{scaleacross::kNever};
    int64_t m_timeout{0}; //!< ps
    uint32_t m_retries{0};
    uint32_t m_mtu{0};

    // Sender's rate
    bool m_paced{false};      //!< there is a control or a RateLimit
    bool m_ecnCapable{false}; //!< switches may mark its packets
    scaleacross::RatePacer m_pacer;
    Ptr<RdmaCongestionOps> m_control;
    RdmaCongestionState m_congestion;
    uint64_t m_portRate{0};    //!< bit/s
    uint64_t m_windowLimit{0}; //!< packets, by attribute
    int64_t m_timedStart{-1};  //!< ps; -1: no packet is being timed
    uint64_t m_timedPsn{0};

    // Receiver
    uint64_t m_expected{0};
    uint64_t m_messageBytes{0}; //!< of the message that is arriving
    bool m_nakSent{false};
    bool m_echo{false};   //!< a marked packet has come in since the last ACK
    int64_t m_nextCnp{0}; //!< ps: no CNP before
    int64_t m_cnpInterval{0};

    // Both
    RdmaNic* m_nic{nullptr};
    uint32_t m_number{0};
    uint32_t m_remoteAddress{0};
    uint32_t m_remoteNumber{0};
    uint16_t m_entropy{0};
    bool m_connected{false};
    std::string m_failure;

    // Attributes
    uint64_t m_windowBytes{0};
    uint32_t m_ackInterval{1};
    uint32_t m_timeoutExponent{14};
    uint32_t m_retryCount{7};
    uint8_t m_priority{3};
    uint8_t m_ackPriority{6};
    uint8_t m_cnpPriority{7};
    bool m_sendCnps{true};
    bool m_ecnAttribute{false};
    Time m_cnpIntervalTime;
    DataRate m_rateLimit;
    TypeId m_controlType;

    Counters m_counters;

    RdmaMessageCallback m_completion;
    RdmaMessageCallback m_delivery;
    RdmaFailureCallback m_failureCallback;

    TracedCallback<uint64_t, uint64_t, uint64_t, uint64_t> m_postedTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_startedTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_arrivingTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_sentTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_deliveredTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_retransmitTrace;
    scaleacross::WatchedTrace<uint64_t, uint32_t> m_timeoutTrace;
    scaleacross::WatchedTrace<> m_cnpTrace;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_QUEUE_PAIR_H
