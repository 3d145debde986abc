// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_QUEUE_PAIR_H
#define SCALEACROSS_RDMA_QUEUE_PAIR_H

#include "core/base/units.h"
#include "rdma-counters.h"
#include "rdma-receiver.h"
#include "selective-repeat.h"
#include "sender-turns.h"

#include "ns3/arrival-agenda.h"
#include "ns3/attribute-guard.h"
#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/psn.h"
#include "ns3/rate-pacer.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-entropy-ops.h"
#include "ns3/send-times.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"
#include "ns3/watched-trace.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace ns3
{

class RdmaNic;

/// A message of `bytes` with the tag it was posted with.
using RdmaMessageCallback = Callback<void, scaleacross::Bytes, uint64_t>;
/// Why no more messages will get through, as a sentence with the values.
using RdmaFailureCallback = Callback<void, const std::string&>;

/**
 * One end of a reliable connection (RC): messages by writes and sends, in the order of posting.
 *
 * Model: a message is cut into packets of the NIC's PathMtu, which are numbered through (PSN,
 * psn.h). The receiver (RdmaReceiver) answers with cumulative ACKs and NAKs. How losses are
 * repaired is RetransmissionMode:
 *   - GoBackN: the receiver takes the expected packet only and reports a gap once; on a NAK the
 *     sender goes back to the missing packet. A lost repetition costs a timeout.
 *   - SelectiveRepeat: the receiver keeps what comes early, up to OutOfOrderLimit packets; every
 *     answer names the packet that caused it, and the sender repeats what was sent more than
 *     ReorderTolerance packets before that and has not arrived (selective-repeat.h). A packet that
 * a switch has trimmed (FabricSwitch::Trim) is answered by a NAK that names it, sent again at once,
 * and the timer starts anew.
 *
 * Window and congestion control bound the packets from the first unacknowledged one on, or with
 * WindowCountsFlight those that are under way: sent, and known neither to have arrived nor to be
 * lost. Repetitions then need room in the window as well. That is what paths of unequal delay, or a
 * congested one, need: a single missing packet does not stop the others.
 *
 * If nothing is acknowledged for 4.096 us * 2^Timeout since the last progress, the sender goes back
 * to the first unacknowledged packet, or repeats all that are not known to have arrived; after
 * RetryCount timeouts without progress the next one is an error. The timer runs while anything that
 * has been sent is unacknowledged. It starts with the first such packet and with each progress;
 * when the sender has gone back, at once, and again when the first repetition leaves. A pause may
 * keep repetitions from leaving, but not the timer from running. While the wire of the NIC is down,
 * the timer also runs for what has been posted and could not leave yet.
 *
 * Operations: a write is placed in memory and the receiver's software hears nothing; a write with
 * immediate and a send use up a posted receive and notify it. ReceiveQueueDepth 0 stands for a
 * receiver that is always ready; else a message that finds no receive is answered by a
 * receiver-not-ready NAK with the receiver's RnrTimer, and the sender repeats it after that, up to
 * RnrRetryCount times in a row (7: without end). The delivery callback and trace are the
 * simulator's eye and see every message, of any operation. ImmDt carries the lower 32 bits of the
 * tag.
 *
 * Rate and window may be set by a congestion control (CongestionOps), to which this end's CNPs,
 * ACKs, gaps and timeouts are handed on; RateLimit bounds the rate besides. Rates count bytes on
 * the wire; RatePacer says when the next packet is due. The receiving end answers packets that were
 * marked on the way with at most one CNP per CnpInterval, and says on its next ACK that there were
 * any.
 *
 * All packets of one end have one UDP source port, by which switches tell flows apart: Entropy, or
 * one that follows from the addresses. With EntropyOps every data packet has its own
 * (RdmaEntropyOps), and every answer that of the packet it answers.
 *
 * States, as in the standard: RESET until Connect, then RTS (INIT and RTR take no time), and ERR
 * after an error, in which everything posted is flushed and everything that arrives is ignored.
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

    /**
     * Joins this end to queue pair `remote` of the NIC with fabric address `address`. Attributes
     * are read now, and are refused later. Throws ConfigError on impossible values.
     *
     * `entropy` is the UDP source port by which ECMP tells flows apart; 0 takes the attribute
     * Entropy, and if that is 0 too, one that follows from the addresses and the number of the
     * queue pair.
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

    void SetNic(RdmaNic* nic, uint32_t number);

    /// Throws ConfigError if a full packet, or one that has been posted, is longer than the
    /// switches on its way let pass. Called at time zero, when there are routes.
    void CheckSizes() const;

    bool CanSend() const
    {
        return (m_cursor < m_visible && m_next - m_una < m_window) || m_mayRepeat;
    }

    /// Fills in the next packet. Domain: CanSend().
    void FillNext(scaleacross::FabricPacket& packet, int64_t start);
    /// Messages posted so far may be sent from now on, and receives be used.
    void ShowPosted();

    void TraceStarted(uint64_t bytes, uint64_t tag)
    {
        m_startedTrace(bytes, tag);
    }

    void HandleData(const scaleacross::FabricPacket& packet, int64_t now);
    void HandleAck(const scaleacross::FabricPacket& packet, int64_t now);
    void HandleCnp(int64_t now);
    void HandlePull(const scaleacross::FabricPacket& packet, int64_t now);
    /// One more packet is asked of the other end: fills in what tells it.
    void FillPull(scaleacross::FabricPacket& packet);
    void HandleTimeout(int64_t now);
    /// The wire of its NIC has broken, or is back.
    void LinkChanged(bool up, int64_t now);
    /// While the wire of its NIC is down, and while it waits for pulls, its timer runs although
    /// nothing is under way.
    void RunTimerIfHeldUp(int64_t now);

    /// ps; the next packet may start then or later. 0: at any time.
    int64_t Eligible() const
    {
        return m_pacer.Eligible();
    }

    /// ps; until then nothing makes Eligible() earlier but what arrives: it is that, or a timer of
    /// the control comes before, which may change the rate.
    int64_t EligibleUnlessTimed() const
    {
        return m_control ? std::min(Eligible(), m_control->NextDeadline()) : Eligible();
    }

    /// EligibleUnlessTimed() has come: what the timers do.
    void AdvanceWait(int64_t now);

    /// When the next timer runs out (retransmission, or receiver not ready), kNever if none runs.
    int64_t Deadline() const
    {
        return m_deadline;
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
        if (m_state == State::Reset)
        {
            return true; // it may be connected until then
        }
        if (packet.kind != scaleacross::PacketKind::Ack &&
            packet.kind != scaleacross::PacketKind::TrimNak)
        {
            return true;
        }
        if (m_mode == SelectiveRepeat && !m_retransmitTrace.IsEmpty())
        {
            return true; // any answer may show losses
        }
        return !m_messages.empty() && scaleacross::PsnNear(packet.psn, m_una) >=
                                          m_messages.front().firstPsn + m_messages.front().packets;
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
        if (packet.trimmed)
        {
            return false;
        }
        const bool connected = m_state != State::Reset;
        const uint64_t expected = connected ? m_receiver.Expected() : m_startingPsn;
        if (packet.lastOfMessage)
        {
            m_lastOnWay = std::max(m_lastOnWay, scaleacross::PsnNear(packet.psn, expected) + 1);
            return true;
        }
        return !connected || (m_lastOnWay > expected && m_mode == SelectiveRepeat);
    }

    /// Its place among those of its NIC that can send.
    scaleacross::SenderTurn<RdmaQueuePair>& Turn()
    {
        return m_turn;
    }

  private:
    struct Message
    {
        uint64_t bytes;
        uint64_t tag;
        uint64_t firstPsn;
        uint64_t packets;
        scaleacross::RdmaOperation operation;
    };

    void DoDispose() override;

    // Sender
    void NoteLargest(scaleacross::RdmaOperation operation,
                     scaleacross::Bytes bytes,
                     uint64_t packets);
    void CheckFits(uint32_t size) const;
    const Message& MessageOf(uint64_t psn) const;
    void Fill(scaleacross::FabricPacket& packet, const Message& message, uint64_t psn);
    void Advance(uint64_t psn, std::vector<Message>& completed);
    void Found(const scaleacross::SelectiveRepeat::Finding& finding);
    void GoBack(int64_t now);
    bool HoldBack(uint64_t timerCode, int64_t now);
    void RestartTimer(int64_t now);
    void SetDeadline(int64_t deadline);
    void UpdateSending(int64_t now);
    void UpdateWindow();
    uint64_t UnderWay(uint64_t from) const;
    void Complete(const std::vector<Message>& messages);
    void Fail(const std::string& error, int64_t now);

    // Receiver
    void Answer(scaleacross::RdmaAnswer answer,
                const scaleacross::FabricPacket& packet,
                int64_t now);
    void Deliver();

    void Address(scaleacross::FabricPacket& packet) const;

    void SetUpEntropy(uint16_t entropy);

    // Congestion
    void SetUpCongestionControl();
    void CheckPulls() const;
    void AdvanceControl(int64_t now);
    void ApplyControl(int64_t now);
    void ApplyRate(int64_t now);
    void WaitIfTimed();
    void Pace(scaleacross::FabricPacket& packet, int64_t start);
    uint64_t Backlog() const;
    void NoteMark(int64_t now);
    void TellAck(const scaleacross::FabricPacket& packet,
                 RdmaAck& ack,
                 uint64_t cause,
                 int64_t now);

    Counters m_counters;

    // Sender
    std::deque<Message> m_messages; //!< not completely acknowledged
    size_t m_visible{0};            //!< of them, those that may be sent
    size_t m_cursor{0};             //!< message of the next packet
    uint64_t m_next{0};             //!< PSN of the next packet
    uint64_t m_una{0};              //!< first unacknowledged PSN
    uint64_t m_sentUpTo{0};         //!< PSNs below have been sent at least once
    uint64_t m_endPsn{0};           //!< after the last posted message
    uint64_t m_window{0};           //!< packets that may be unacknowledged now
    bool m_mayRepeat{false};        //!< a lost packet may be sent again now (SelectiveRepeat)
    bool m_heldBack{false};         //!< the receiver was not ready; m_deadline ends that
    RetransmissionMode m_mode{GoBackN};
    scaleacross::SelectiveRepeat m_selective;
    int64_t m_deadline{scaleacross::kNever};
    bool m_timesNext{true}; //!< the next packet starts the retransmission timer anew
    int64_t m_timeout{0};   //!< ps
    uint64_t m_allowed{0};  //!< packets, by attribute and congestion control
    uint32_t m_retries{0};
    uint32_t m_rnrRetries{0};
    uint32_t m_mtu{0};
    uint32_t m_largest{0}; //!< packet of all messages, in bytes on the wire without telemetry

    static constexpr uint64_t kNothing = UINT64_MAX;
    uint64_t m_asked{kNothing}; //!< newest packet that asked for an answer and has none yet

    // Sender's rate
    bool m_paced{false};      //!< there is a control or a RateLimit
    bool m_ecnCapable{false}; //!< switches may mark its packets
    scaleacross::RatePacer m_pacer;
    Ptr<RdmaCongestionOps> m_control;
    RdmaCongestionState m_congestion;
    uint64_t m_portRate{0};     //!< bit/s
    uint64_t m_windowLimit{0};  //!< packets, by attribute
    bool m_timesPackets{false}; //!< the control wants round trips
    bool m_telemetry{false};    //!< data packets carry telemetry
    bool m_pulls{false};        //!< the control goes by pulls, and the other end's as well
    scaleacross::SendTimes m_sendTimes;

    // Receiver
    scaleacross::RdmaReceiver m_receiver{m_counters};
    bool m_echo{false};        //!< a marked packet has come in since the last ACK
    int64_t m_nextCnp{0};      //!< ps: no CNP before
    uint64_t m_newReceives{0}; //!< posted, and not to be used yet
    /// PSN after the furthest last packet of a message that has been put on the wire to here.
    uint64_t m_lastOnWay{0};
    uint64_t m_pulled{0};      //!< pulls sent
    uint16_t m_pullEntropy{0}; //!< of the last packet that had one of its own
    int64_t m_cnpInterval{0};

    // Both
    scaleacross::SenderTurn<RdmaQueuePair> m_turn;
    RdmaNic* m_nic{nullptr};
    uint32_t m_number{0};
    uint32_t m_remoteAddress{0};
    uint32_t m_remoteNumber{0};
    uint16_t m_entropy{0};
    Ptr<RdmaEntropyOps> m_entropyOps;
    int64_t m_stream{-1}; //!< of m_entropyOps
    State m_state{State::Reset};
    std::string m_failure;

    // Attributes
    uint64_t m_windowBytes{0};
    uint64_t m_outOfOrderLimit{0};
    bool m_countFlight{false};
    uint64_t m_reorderTolerance{0};
    uint32_t m_startingPsn{0};
    uint32_t m_ackInterval{1};
    uint32_t m_timeoutExponent{14};
    uint32_t m_retryCount{7};
    uint32_t m_receiveQueueDepth{0};
    uint32_t m_rnrTimer{12};
    uint32_t m_rnrRetryCount{7};
    uint8_t m_priority{3};
    uint8_t m_ackPriority{6};
    uint8_t m_cnpPriority{7};
    bool m_sendCnps{true};
    bool m_ecnAttribute{false};
    Time m_cnpIntervalTime;
    DataRate m_rateLimit;
    TypeId m_controlType;
    TypeId m_entropyType;
    uint16_t m_pinnedEntropy{0};

    RdmaMessageCallback m_completion;
    RdmaMessageCallback m_delivery;
    RdmaFailureCallback m_failureCallback;

    TracedCallback<uint64_t, uint64_t, uint64_t, uint64_t> m_postedTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_startedTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_arrivingTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_sentTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_deliveredTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_flushedTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_retransmitTrace;
    scaleacross::WatchedTrace<uint64_t, uint32_t> m_timeoutTrace;
    scaleacross::WatchedTrace<> m_cnpTrace;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_QUEUE_PAIR_H
