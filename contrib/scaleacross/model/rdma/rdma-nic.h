// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_NIC_H
#define SCALEACROSS_RDMA_NIC_H

#include "core/base/packet-format.h"
#include "foreign-endpoint.h"
#include "pull-pacer.h"
#include "rdma-counters.h"
#include "retry-timer.h"
#include "sender-turns.h"
#include "stalled-lanes.h"
#include "timer-watch.h"
#include "turn-length.h"

#include "ns3/arrival-agenda.h"
#include "ns3/drop-counts.h"
#include "ns3/fabric-port.h"
#include "ns3/telemetry.h"

#include <unordered_map>
#include <vector>

namespace scaleacross
{
class RdmaRequester;
} // namespace scaleacross

namespace ns3
{

class RdmaQueuePair;

/**
 * An RDMA NIC with one port: queue pairs that share the port in turn, ACKs, and header sizes.
 *
 * Model: whenever the line is free, control packets (ACK, NAK, CNP) of the largest priority go
 * first; then the queue pairs of the largest priority that may send take turns, each of a packet, a
 * burst or a message (QueuePairTurn, TurnLength). One
 * with a rate of its own takes its turn when its next packet is due (RatePacer); those due at the
 * same time, in the order of their numbers. Nothing is queued but control packets: a data packet
 * comes into being when its first bit leaves. The NIC takes in whatever arrives at line rate and
 * obeys pause frames. Pulls, which some senders go by, leave when they are due
 * (PullPacer), after the ACKs of their priority (PullPriority). Behind a switch with Credits it has
 * that switch's buffer for every virtual lane, and gives it back as packets come in.
 *
 * Bytes on the wire of a data packet, by default those of RoCEv2: payload + 14 Ethernet + 20 IPv4 +
 * 8 UDP + 12 BTH + 4 ICRC (HeaderSize 58) + 24 for preamble, FCS and gap (FrameSize) + 16 RETH on
 * the first packet of a write + 4 ImmDt on the last packet of a write with immediate, and at least
 * 84. FixedOverhead replaces all of that by one number.
 *
 * Packets of other stacks (Send, for instance by IP) are carried opaquely as foreign packets: they
 * take their bytes + 14 Ethernet + FrameSize on the wire, at least 84, wait in a queue of their own
 * (ForeignQueueSize), have the priority ForeignPriority, and take turns, a packet each, with the
 * queue pairs of that priority together. They are routed by the MAC address of the destination,
 * which stands for its fabric address; broadcasts are refused. On arrival they are handed to the
 * receive callbacks as any NetDevice does.
 *
 * While its wire is down everything waits, and the retransmission timers of queue pairs that have
 * something to send run: a wire that stays down ends in their retry limit.
 *
 * Left out: PCIe and memory, doorbells, a limit on active queue pairs, ECN marks in IP headers.
 *
 * Worked case: MTU 4,096 at 400 Gb/s: a full packet is 4,178 bytes, 83.56 ns, so payload travels at
 * 392.1 Gb/s.
 */
class RdmaNic : public FabricPort,
                public scaleacross::RetryTimer::Watcher,
                private scaleacross::ArrivalAgenda::Owner
{
  public:
    /// Signature of a trace source.
    using QueuePairTracedCallback = void (*)(Ptr<RdmaQueuePair> queuePair);

    static TypeId GetTypeId();
    RdmaNic();
    ~RdmaNic() override;

    /// Number by which the fabric's routes know this NIC. The MAC address follows from it.
    uint32_t GetFabricAddress() const;
    void SetFabricAddress(uint32_t address);
    /// Throws ConfigError on any other MAC address than that of the fabric address.
    void SetAddress(Address address) override;

    /// Sends a packet of another stack; false if it is refused (GetForeignRefused counts why).
    bool Send(Ptr<Packet> packet, const Address& destination, uint16_t protocol) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol) override;
    bool SupportsSendFrom() const override;
    bool NeedsArp() const override;
    bool IsBroadcast() const override;

    /// A new queue pair of this NIC, not connected yet, with the default attributes.
    Ptr<RdmaQueuePair> CreateQueuePair();
    uint32_t GetNQueuePairs() const;

    /// How many paths to the NIC with this address were taken so far, and takes one more.
    uint32_t TakePath(uint32_t address)
    {
        return m_paths[address]++;
    }

    /// Fixes the random streams of the queue pairs, those to be created included: number n has
    /// stream + 2^40 (n + 1), out of the way of everything that is numbered through. Returns 1.
    int64_t AssignStreams(int64_t stream);
    Ptr<RdmaQueuePair> GetQueuePair(uint32_t number) const;

    /// Payload of a full RDMA packet in bytes. Not to be confused with GetMtu(), which is IP's.
    uint32_t GetPathMtu() const;

    /// Bytes of time on the wire of a data packet, the first or last (or neither) of its message.
    uint32_t WireSize(uint32_t payload,
                      scaleacross::RdmaOperation operation,
                      bool first,
                      bool last) const
    {
        return m_format.DataSize(payload,
                                 first && operation != scaleacross::RdmaOperation::Send,
                                 last &&
                                     operation == scaleacross::RdmaOperation::WriteWithImmediate);
    }

    /// Bytes of time on the wire of a foreign packet without its Ethernet header.
    uint32_t ForeignWireSize(uint32_t bytes) const;

    // --- Counters, exact at the time of the call ------------------------------------------------

    /// Data packets and control packets whose transmission has started, retransmissions included.
    uint64_t GetDataSent();
    uint64_t GetControlSent();
    /// Data packets and control packets that have arrived for this NIC.
    uint64_t GetDataReceived();
    uint64_t GetControlReceived();
    /// Foreign packets whose transmission has started, and that have arrived for this NIC.
    uint64_t GetForeignSent();
    uint64_t GetForeignReceived();
    /// Packets that Send has refused, by reason; they count in no balance.
    uint64_t GetForeignRefused(scaleacross::DropReason reason) const;
    uint64_t GetForeignRefused() const;
    /// Bytes and packets that wait in the queue of foreign packets, which GetQueueBytes leaves out.
    uint64_t GetForeignQueueBytes();
    uint64_t GetForeignQueuePackets();
    /// Time that foreign packets have waited in it so far, added up.
    Time GetForeignWaitedTime();
    /// Packets that arrived here and were for nobody, by reason.
    uint64_t GetDrops(scaleacross::DropReason reason) const;
    uint64_t GetDrops() const;
    /// Sums over the queue pairs.
    uint64_t GetDeliveredBytes() const;
    uint64_t GetRetransmissions() const;
    uint64_t GetTimeouts() const;

    // --- For queue pairs ------------------------------------------------------------------------

    bool IsWatched() const override;
    const char* WhyFixed() const override;
    uint32_t GetPortNumber() const override;
    scaleacross::ArrivalAgenda& Agenda() override;
    uint32_t FullPacketSize(uint8_t lane) const override;

    bool IsNic() const override
    {
        return true;
    }

    /// See the attribute StalledLanes.
    void SetStalledLanes(uint32_t lanes);
    uint32_t GetStalledLanes() const;

    /// Switches that a packet which has arrived here has passed, if all NICs have one HopLimit.
    uint32_t HopsOf(const scaleacross::FabricPacket& packet) const
    {
        return m_hopLimit - packet.hops;
    }

    /// A queue pair has messages that it may send, or receives that it may use, after all arrivals
    /// of this time.
    void Posted(RdmaQueuePair* queuePair);
    /// A queue pair may send or may no longer send.
    void UpdateActive(scaleacross::RdmaRequester* requester, int64_t now);
    /// The packet that is being pulled is the first of a message, for the first time: fires
    /// startedTrace when it is on the wire.
    void NoteStarted(scaleacross::RdmaRequester* requester, uint64_t bytes, uint64_t tag);
    void WatchDeadline(int64_t deadline, bool anew) override;
    void ForgetDeadline() override;
    /// Sends an ACK, NAK or CNP: the caller fills in kind, addresses, psn and priority.
    scaleacross::FabricPacket* NewControl();
    /// An empty trail for a data packet.
    scaleacross::TelemetryTrail* NewTrail();
    /// The trail of the packet that is being handled, null if it has none.
    const scaleacross::TelemetryTrail* ArrivedTrail() const;
    /// The same, for an answer to carry: the caller attaches it.
    scaleacross::TelemetryTrail* TakeArrivedTrail();
    scaleacross::FabricPacket* NewCnp();
    void SendControl(scaleacross::FabricPacket* packet, int64_t now);
    /// This NIC owes the sender to queue pair `number` one more pull.
    void AskPull(uint32_t number, int64_t now);

  private:
    struct StartedMessage
    {
        scaleacross::RdmaRequester* requester{nullptr};
        uint64_t bytes{0};
        uint64_t tag{0};
    };

    void DoInitialize() override;
    void DoDispose() override;
    void HandleAlarm(int64_t now) override;
    bool IsVisible(const scaleacross::FabricPacket& packet) const override;
    void Receive(scaleacross::FabricPacket* packet, int64_t now) override;
    scaleacross::FabricPacket* Pull(uint8_t priority, int64_t start) override;
    void AdmitEligible(int64_t now) override;
    void RateChanged(int64_t now) override;
    void Departed() override;
    void DoLinkChanged(bool up, int64_t now) override;
    scaleacross::FabricPacket* StartPull(int64_t start);
    void ReceiveForeign(scaleacross::FabricPacket* packet, int64_t now);
    bool Refuse(Ptr<const Packet> packet, scaleacross::DropReason reason);
    void SetQueuePairTurn(scaleacross::TurnLength::Unit unit);
    scaleacross::TurnLength::Unit GetQueuePairTurn() const;
    void UpdatePullable(uint8_t priority);
    void NoteEligible();
    /// Of all queue pairs.
    uint64_t Sum(uint64_t scaleacross::RdmaCounters::*counter) const;

    scaleacross::ArrivalAgenda m_agenda;
    scaleacross::SenderTurns<scaleacross::RdmaRequester> m_turns;
    scaleacross::TurnLength m_turnLength;
    scaleacross::ForeignEndpoint m_foreign;
    scaleacross::PullPacer m_pulls; //!< owed to those who send to this NIC
    uint8_t m_pullPriority{0};
    std::vector<Ptr<RdmaQueuePair>> m_queuePairs;
    std::unordered_map<uint32_t, uint32_t> m_paths; //!< that were taken, by fabric address
    int64_t m_stream{-1}; //!< from which those of the queue pairs follow, -1: not assigned
    std::vector<RdmaQueuePair*> m_posted;
    scaleacross::TimerWatch m_timers; //!< of the queue pairs
    scaleacross::TelemetryPool m_trails;
    scaleacross::TelemetryTrail* m_arrivedTrail{nullptr};
    StartedMessage m_started; //!< to be traced when its packet is on the wire
    scaleacross::StalledLanes m_stalled;
    uint64_t m_dataSent{0};
    uint64_t m_dataReceived{0};
    uint64_t m_controlReceived{0};
    scaleacross::DropCounts m_drops;

    uint32_t m_address{0};
    uint32_t m_pathMtu{0};
    scaleacross::PacketFormat m_format{scaleacross::kRoceFormat};
    uint32_t m_hopLimit{0};
    bool m_lookAhead{false};
    TracedCallback<Ptr<RdmaQueuePair>> m_queuePairTrace;
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_NIC_H
