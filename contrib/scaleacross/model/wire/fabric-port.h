// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_PORT_H
#define SCALEACROSS_FABRIC_PORT_H

#include "arrival-agenda.h"
#include "fabric-device.h"
#include "fabric-lane.h"

#include "ns3/attribute-guard.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"
#include "ns3/watched-trace.h"

#include <array>
#include <memory>
#include <string>

namespace scaleacross
{
class CreditLink;
class EgressArbiter;
class FabricLane;
struct CreditBuffer;
} // namespace scaleacross

namespace ns3
{

class FabricWire;

/**
 * The egress side of a switch port or NIC: one FIFO per priority, a serialiser, and PFC's pauses.
 *
 * Model: whenever the line is free, the first packet of the largest priority that is neither empty
 * nor paused starts, and takes size * 8 / DataRate, exact to the picosecond with the remainder
 * carried over back-to-back packets. A pause stops what is queued from the moment it has arrived;
 * the packet being sent is finished. Pause frames themselves go before everything else and are
 * never paused. With Quanta, some priorities share the line in weighted turns (WeightedTurns).
 *
 * Departures are lazy: when packets leave follows from the queue, so they are not events of their
 * own. CatchUp(t) lets everything leave that starts until t, and is called before anything at t can
 * change the order, at the latest when the packet before arrives at the far end. With `Eager`, or
 * once a sink is connected to a trace source that departures fire (Transmit, QueueBytes, PauseSent,
 * MessageStarted of a queue pair), every departure is an event, so that sinks see it at its time.
 * Results are the same either way.
 *
 * While its wire is down the port starts nothing and its queues keep what they hold (a switch may
 * throw it away: FabricSwitch::KeepAtDownPort); the packet being sent is cut off, and pauses of
 * both ends are void.
 *
 * Between switches with Credits, priorities are virtual lanes, and a packet starts only if the
 * neighbour has granted room for it (CreditLink). Where nothing waits yet that has a size, as in a
 * NIC, room for a packet of full size is asked for. What is granted anew comes as credit packets,
 * which go before everything else as pause frames do; one that still waits is brought up to date
 * in place. They are never lost, and a packet that the wire has lost counts as received and gone
 * when it would have arrived: the sender's counter, which real credit packets carry, says so then.
 * A link that comes up begins with the room there is at its ends.
 *
 * Left out: cut-through, pause quanta that run out.
 */
class FabricPort : public FabricDevice, public scaleacross::AttributeOwner
{
  public:
    /// Signatures of the trace sources.
    using PacketTracedCallback = void (*)(const scaleacross::FabricPacket& packet);
    using DropTracedCallback = void (*)(const scaleacross::FabricPacket& packet,
                                        scaleacross::DropReason reason);
    /// A priority, and whether it is stopped (true) or may go on.
    using PauseTracedCallback = void (*)(uint8_t priority, bool pause);
    using QueueTracedCallback = void (*)(uint64_t before, uint64_t after);
    /// A virtual lane, and blocks of 64 bytes.
    using CreditTracedCallback = void (*)(uint8_t lane, uint64_t blocks);

    static TypeId GetTypeId();
    FabricPort();
    ~FabricPort() override;

    // --- Configuration --------------------------------------------------------------------------

    DataRate GetDataRate() const;
    /// The packet that is being sent is finished at the old rate. During a run it throws
    /// ConfigError if an end of the wire has run ahead of now, and if a switch has reserved too
    /// little headroom for it; the rate is then what it was. What else was computed at time zero
    /// from the rate stays: thresholds of ECN and trimming, the line rate of congestion controls.
    void SetDataRate(DataRate rate);
    /// WeightedTurns as eight numbers; "": strict priorities.
    std::string GetQuanta() const;
    void SetQuanta(std::string quanta);
    /// LaneArbiter's tables as text; "": Quanta decide.
    std::string GetLaneArbitration() const;
    void SetLaneArbitration(std::string tables);

    Ptr<Channel> GetChannel() const override;
    /// It has a wire, and that is not down.
    bool IsLinkUp() const override;
    Ptr<FabricWire> GetWire() const;
    /// Port at the other end of the wire, null if there is none.
    Ptr<FabricPort> GetPeer() const;

    /// "node 3 port 1": how messages name the port.
    std::string Describe() const;

    // --- Counters, exact at the time of the call ------------------------------------------------

    /// Packets whose transmission has started, pause frames not counted.
    uint64_t GetSentPackets();
    /// Their bytes on the wire.
    uint64_t GetSentBytes();
    /// Bytes waiting, all priorities; the packet being sent is not one of them.
    uint64_t GetQueueBytes();
    /// Bytes waiting in one priority.
    uint64_t GetQueueBytes(uint8_t priority);
    /// Packets waiting, found by walking along the queues; pause frames are not counted.
    uint64_t GetQueuedPackets() const;
    /// Pause and resume frames sent, and received.
    uint64_t GetPausesSent() const;
    uint64_t GetPausesReceived();
    /// Credit packets sent, and received.
    uint64_t GetCreditsSent() const;
    uint64_t GetCreditsReceived();
    /// Blocks of 64 bytes that may be sent on a virtual lane as things are; 0 without credits.
    uint64_t GetCreditsLeft(uint8_t lane);
    /// Blocks of a virtual lane's receive buffer that are in use; 0 without credits.
    uint64_t GetHeldBlocks(uint8_t lane);
    /// Most blocks that any lane's receive buffer has held, and what each can hold.
    uint64_t GetPeakHeldBlocks() const;
    uint64_t GetBlockCapacity() const;
    /// Total time during which credits were not enough for the next packet of a lane (one of full
    /// size, if none waits).
    Time GetStarvedTime(uint8_t lane);
    /// True while they are not enough; false without credits.
    bool IsStarved(uint8_t lane);
    /// True while the neighbour keeps `priority` stopped.
    bool IsPaused(uint8_t priority);
    /// True if a packet of `priority` waits here.
    bool HasWaiting(uint8_t priority) const;
    /// True if one waits that must not start because of a pause or for want of credits.
    bool IsBlocked(uint8_t priority) const;
    /// Total time during which at least one priority was paused.
    Time GetPausedTime();
    /// Total time during which the neighbour kept `priority` stopped.
    Time GetPausedTime(uint8_t priority);
    /// Total time during which the port was sending, pause frames included. Its growth over an
    /// interval, divided by the interval, is the utilisation.
    Time GetBusyTime();
    /// Time that packets of `priority` have waited in this port until their first bit left, added
    /// up over all packets, those that still wait included (found by walking along the queue). It
    /// grows by one second per second for every packet that waits: growth means contention.
    Time GetWaitedTime(uint8_t priority);

    // --- For switches, NICs and wires (times in ps) ---------------------------------------------

    /// Number within the node's agenda: what orders arrivals of equal time.
    virtual uint32_t GetPortNumber() const = 0;
    virtual scaleacross::ArrivalAgenda& Agenda() = 0;
    void SetWire(FabricWire* wire, scaleacross::FabricLane* lane);

    /// The same, and all that should have been done here before: for whoever looks at it from
    /// outside at the Simulator's time.
    void BringUpToDate();

    /// Lets everything leave that starts until `now`.
    void CatchUp(int64_t now)
    {
        if (m_freeAt <= now)
        {
            DoCatchUp(now);
        }
    }

    /// The same for a port that only sends what was enqueued, and costs nothing while it is idle:
    /// to be called where no packet is about to be enqueued.
    void CatchUpIfBusy(int64_t now)
    {
        if (m_freeAt <= now && (m_inService || Ready() != 0))
        {
            DoCatchUp(now);
        }
    }

    /// After a change at `now` (CatchUp(now) came before it): starts a packet if the line is free.
    void Kick(int64_t now);

    /// Appends to the queue of the packet's priority. CatchUp first, Kick after.
    void Enqueue(scaleacross::FabricPacket* packet, int64_t now);

    /// Takes all packets of a priority that wait in its queue. CatchUp first.
    scaleacross::PacketList TakeQueue(uint8_t priority, int64_t now);

    /// Departures are to be seen from now on: makes them events.
    void WatchDepartures();

    /// The packets that wait in the queue of a priority, as of the last CatchUp.
    const scaleacross::PacketList& QueueOf(uint8_t priority) const
    {
        return m_queues[priority].packets;
    }

    /// Lets a priority send although the neighbour keeps it stopped. CatchUp first, Kick after.
    void IgnorePause(uint8_t priority, bool ignore);

    /// Its wire breaks, or is back: cuts off what is being sent, forgets pauses and starts nothing
    /// until it is back. CatchUp first, LinkChanged after.
    void SetLinkUp(bool up, int64_t now);

    /// After SetLinkUp, and when the wire is empty: goes on, and tells whoever wants to know.
    void LinkChanged(bool up, int64_t now);

    /// Throws ConfigError if the run has begun and the wire cannot get these rates, of this end and
    /// of the other, and this delay any more.
    virtual void CheckLink(DataRate own, DataRate peer, Time delay) const;

    /// SetDataRate, once the wire has seen to all else.
    void ApplyDataRate(DataRate rate);

    /// The rate of an end of the wire has changed.
    virtual void RateChanged(int64_t now);

    /// Before time zero: something has been set here, at the peer or at the wire.
    virtual void ConfigChanged();

    const char* WhyFixed() const override;
    void AttributeSet() override;

    /// Sends a pause or resume frame at the head of everything; none while the wire is down.
    void SendPause(uint8_t priority, bool pause, int64_t now);

    /// Gives this end a receive buffer for every lane, and the neighbour the right to fill it.
    void SetUpCredits(const scaleacross::CreditBuffer& buffer);

    /// Before time zero: the opposite.
    void ForgetCredits();

    /// Tells the neighbour what it may send on a lane, if that has grown enough. Any time.
    void SendCredit(uint8_t lane, int64_t now);

    /// With credits: the neighbour could be granted enough for its next packet of a lane when so
    /// many blocks were all that is held of it here.
    bool CouldGrant(uint8_t lane, uint64_t held) const;

    /// A packet for this port has been lost on the wire.
    void NoteLost(const scaleacross::FabricPacket& packet, int64_t now)
    {
        if (m_credits)
        {
            CreditLost(packet, now);
        }
    }

    /// Bytes of the longest packet that Pull may have for a lane, to be known before it exists.
    virtual uint32_t FullPacketSize(uint8_t lane) const;

    /// Messages begin and end here; else it is a port of a switch.
    virtual bool IsNic() const
    {
        return false;
    }

    /// A packet has come in by this port.
    void Arrive(scaleacross::FabricPacket* packet, int64_t now);

    void NotifyDrop(const scaleacross::FabricPacket& packet, scaleacross::DropReason reason);

    /// A sink is connected to a trace source of this port.
    virtual bool IsWatched() const;

    /// Bytes of time that a pause frame takes on the wire.
    uint32_t PauseSize() const
    {
        return m_pauseSize;
    }

    /// Bytes of time that a credit packet takes on the wire.
    uint32_t CreditSize() const
    {
        return m_creditSize;
    }

    double BitsPerSecond() const
    {
        return m_bitsPerSecond;
    }

    /// When the line is free again.
    int64_t FreeAt() const
    {
        return m_freeAt;
    }

    /// Bytes waiting as of the last CatchUp.
    uint64_t StaleQueueBytes(uint8_t priority) const
    {
        return m_queues[priority].bytes;
    }

    /// Bytes sent as of the last CatchUp.
    uint64_t StaleSentBytes() const
    {
        return m_sentBytes;
    }

    /// Time in ps until everything is sent that was here at the last CatchUp(now).
    int64_t StaleWait(int64_t now) const
    {
        const int64_t sending = m_freeAt > now ? m_freeAt - now : 0;
        return sending + (m_psPerByte != 0
                              ? static_cast<int64_t>(m_queueBytes * m_psPerByte)
                              : static_cast<int64_t>(8e12 * static_cast<double>(m_queueBytes) /
                                                     m_bitsPerSecond));
    }

    /// True if a packet of this priority must not start because of the neighbour, and not because
    /// the wire is down.
    bool IsToldToStop(uint8_t priority) const
    {
        return ((((m_told & ~m_ignored) | m_starved) >> priority) & 1U) != 0;
    }

    /// Priorities (bit p) of which a packet could start now.
    uint32_t Ready() const
    {
        return (m_queued | m_pullable) & ~m_paused;
    }

  protected:
    void DoInitialize() override;
    void DoDispose() override;

    /// A packet other than a pause frame has come in by this port.
    virtual void Receive(scaleacross::FabricPacket* packet, int64_t now) = 0;

    /// The next packet of a priority whose queue is empty and which SetPullable has announced.
    virtual scaleacross::FabricPacket* Pull(uint8_t priority, int64_t start);

    /// The last bit of the packet that Started() saw has left.
    virtual void Finished();

    /// A packet starts. Returns true if Finished() is to be called.
    virtual bool Started(scaleacross::FabricPacket& packet, int64_t start);

    /// A packet has started and is on the wire, and departures are watched: where a derived class
    /// calls sinks of its own, which may ask the port.
    virtual void Departed();

    /// The neighbour has stopped a priority that it had not stopped, or lets it go on.
    virtual void PauseChanged(uint8_t priority, bool paused, int64_t now);

    /// With credits: something has started, and the line is free again at `end`.
    virtual void Leaving(int64_t end);

    /// Null without credits.
    scaleacross::CreditLink* Credits() const
    {
        return m_credits.get();
    }

    /// The packet, which has arrived, is not in the receive buffer any more: NICs.
    void FreeCredit(const scaleacross::FabricPacket& packet, int64_t now);

    /// The neighbour has lifted a pause, or the wire is back.
    virtual void Resumed(int64_t now);

    /// The wire has broken, or is back.
    virtual void DoLinkChanged(bool up, int64_t now);

    /// SetNextEligible's time has come: announces by SetPullable what Pull has from `now` on, and
    /// sets the time anew.
    virtual void AdmitEligible(int64_t now);

    /// When AdmitEligible is to be called next, kNever if nothing waits for a time of its own. The
    /// port goes on by itself at that time.
    void SetNextEligible(int64_t time)
    {
        m_nextEligible = time;
    }

    int64_t NextEligible() const
    {
        return m_nextEligible;
    }

    /// Announces that Pull(priority) has a packet, or no longer has one.
    void SetPullable(uint8_t priority, bool pullable)
    {
        uint32_t bit = 1U << priority;
        m_pullable = pullable ? m_pullable | bit : m_pullable & ~bit;
        if (m_credits && pullable)
        {
            CheckLane(priority);
        }
    }

    scaleacross::PacketPool m_pool; //!< packets first sent by this port

  private:
    /// Queue above all priorities, for pause frames.
    static constexpr uint8_t kLinkControl = scaleacross::kPriorities;
    /// Mask of all of them: the priorities and kLinkControl.
    static constexpr uint32_t kEverything = (2U << kLinkControl) - 1;

    struct Queue
    {
        scaleacross::PacketList packets;
        uint64_t bytes{0};
        /// Sum of the times (ps) at which packets left, less those at which they came, modulo 2^64:
        /// the time they have waited, once the queue is empty.
        uint64_t waited{0};
    };

    /// What a port with credits keeps for each lane.
    struct CreditLanes
    {
        /// The credit packet that waits, null if there is none.
        std::array<scaleacross::FabricPacket*, scaleacross::kPriorities> frames{};
        std::array<int64_t, scaleacross::kPriorities> starvedSince{};
        std::array<int64_t, scaleacross::kPriorities> starvedTotal{};
    };

    void DoCatchUp(int64_t now);
    void StartNext(uint32_t ready);

    /// What the receiver, and whoever wants departures as events, need to know of what waits here.
    void NoteBacklog(int64_t now)
    {
        const bool ready = Ready() != 0;
        const bool waiting = m_nextEligible != scaleacross::kNever;
        m_lane->SetSenderHasMore(ready || waiting);
        if (waiting || (ready && (m_eager || m_watched)))
        {
            PlanDeparture(now, ready);
        }
    }

    void PlanDeparture(int64_t now, bool ready);
    int64_t Serialise(uint32_t bytes);
    void HandlePause(const scaleacross::FabricPacket& packet, int64_t now);
    void SetStopped(uint8_t priority, bool stopped, int64_t now);
    void UpdatePaused();
    scaleacross::CreditLink& MakeCredits();
    void CheckLane(uint8_t lane) const;
    uint64_t NeededBlocks(uint8_t lane) const;
    void UpdateStarved(uint8_t lane, int64_t now);
    void BeginCredits(int64_t now);
    void NoteCreditStarted(const scaleacross::FabricPacket& packet, int64_t start);
    void CreditLost(const scaleacross::FabricPacket& packet, int64_t now);
    void HandleCredit(const scaleacross::FabricPacket& packet, int64_t now);
    void MakeArbiter();
    void TraceQueue(uint64_t before);
    void ScheduleDeparture(int64_t now, int64_t at);
    void Depart();
    uint64_t CountWaiting(uint8_t priority) const;

    // What every packet needs stands together.
    int64_t m_freeAt{0};                         //!< ps: when the line is free
    int64_t m_nextEligible{scaleacross::kNever}; //!< ps: when AdmitEligible is due
    uint32_t m_queued{0};                        //!< bit per non-empty queue
    uint32_t m_pullable{0};                      //!< bit per priority that Pull can serve
    uint32_t m_paused{0};                        //!< bit per priority that must not start
    bool m_inService{false};                     //!< Finished() is due at m_freeAt
    bool m_eager{false};                         //!< attribute: departures are events
    bool m_watched{false};                       //!< departures are events, as a sink sees them
    bool m_receiveWatched{false};                //!< the Receive trace has had a sink
    std::unique_ptr<scaleacross::EgressArbiter> m_turns; //!< null: strict priorities
    std::unique_ptr<scaleacross::CreditLink> m_credits;  //!< null: no credits
    uint64_t m_psPerByte{0};                             //!< 0 if that is not a whole number
    scaleacross::FabricLane* m_lane{nullptr};
    uint64_t m_queueBytes{0};
    uint64_t m_sentPackets{0};
    uint64_t m_sentBytes{0};
    TracedCallback<const scaleacross::FabricPacket&> m_enqueueTrace;
    scaleacross::WatchedTrace<const scaleacross::FabricPacket&> m_transmitTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_queueTrace;
    std::array<Queue, scaleacross::kPriorities + 1> m_queues;

    uint64_t m_remainder{0}; //!< of ps * rate, carried between back-to-back packets
    uint64_t m_pausesSent{0};
    uint64_t m_pausesReceived{0};
    uint32_t m_told{0};    //!< bit per priority that the neighbour has stopped
    uint32_t m_ignored{0}; //!< bit per priority that sends in spite of it
    bool m_down{false};    //!< the wire is broken
    uint32_t m_starved{0}; //!< bit per lane whose credits are not enough for the next packet
    uint32_t m_creditSize{8};
    uint64_t m_creditsSent{0};
    uint64_t m_creditsReceived{0};
    std::unique_ptr<CreditLanes> m_creditLanes; //!< null without credits
    int64_t m_pausedSince{0};
    int64_t m_pausedTotal{0};
    std::array<int64_t, scaleacross::kPriorities> m_stoppedSince{};
    std::array<int64_t, scaleacross::kPriorities> m_stoppedTotal{};
    int64_t m_idle{0};         //!< ps without anything to send, until m_freeAt
    int64_t m_departureAt{-1}; //!< time of the pending departure event
    DataRate m_rate;
    double m_bitsPerSecond{0};
    std::string m_quanta;
    std::string m_laneArbitration;
    uint32_t m_pauseSize{84};
    FabricWire* m_wire{nullptr};

    TracedCallback<const scaleacross::FabricPacket&, scaleacross::DropReason> m_dropTrace;
    TracedCallback<uint8_t, bool> m_pauseTrace;
    scaleacross::WatchedTrace<uint8_t, bool> m_pauseSentTrace;
    TracedCallback<uint8_t, uint64_t> m_creditTrace;
    scaleacross::WatchedTrace<uint8_t, uint64_t> m_creditSentTrace;
    scaleacross::WatchedTrace<const scaleacross::FabricPacket&> m_receiveTrace;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_PORT_H
