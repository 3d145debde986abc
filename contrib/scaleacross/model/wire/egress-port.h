// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EGRESS_PORT_H
#define SCALEACROSS_EGRESS_PORT_H

#include "arrival-agenda.h"
#include "fabric-device.h"
#include "fabric-lane.h"
#include "priority-queues.h"
#include "serial-line.h"

#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"
#include "ns3/watched-trace.h"

#include <memory>
#include <string>

namespace scaleacross
{
class EgressArbiter;
} // namespace scaleacross

namespace ns3
{

/**
 * What a port sends: queues, an order among them, a line, and departures that are no events.
 *
 * Model: whenever the line is free, the first packet of the largest priority that is neither empty
 * nor blocked starts (SerialLine). With Quanta, some priorities share the line in weighted turns
 * (WeightedTurns); with LaneArbitration, as InfiniBand's tables have it (LaneArbiter). What keeps a
 * priority from starting is for FabricPort to say (SetBlocked).
 *
 * Departures are lazy: when packets leave follows from the queues. CatchUp(t) lets everything leave
 * that starts until t, and is called before anything at t can change the order, at the latest when
 * the packet before arrives at the far end. With `Eager`, or once a sink is connected to a trace
 * source that departures fire (WatchDepartures), every departure is an event, so that sinks see it
 * at its time. Results are the same either way.
 */
class EgressPort : public FabricDevice
{
  public:
    EgressPort();
    ~EgressPort() override;

    DataRate GetDataRate() const;
    virtual void SetDataRate(DataRate rate) = 0;
    /// WeightedTurns as eight numbers; "": strict priorities.
    std::string GetQuanta() const;
    void SetQuanta(std::string quanta);
    /// LaneArbiter's tables as text; "": Quanta decide.
    std::string GetLaneArbitration() const;
    void SetLaneArbitration(std::string tables);

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
    /// True if a packet of `priority` waits here.
    bool HasWaiting(uint8_t priority) const;
    /// Total time during which the port was sending, pause frames included. Its growth over an
    /// interval, divided by the interval, is the utilisation.
    Time GetBusyTime();
    /// Time that packets of `priority` have waited in this port until their first bit left, added
    /// up over all packets, those that still wait included (found by walking along the queue). It
    /// grows by one second per second for every packet that waits: growth means contention.
    Time GetWaitedTime(uint8_t priority);

    // --- For switches, NICs and wires (times in ps) ---------------------------------------------

    virtual scaleacross::ArrivalAgenda& Agenda() = 0;

    /// CatchUp, and all that should have been done here before: for whoever looks at it from
    /// outside at the Simulator's time.
    void BringUpToDate();

    /// Lets everything leave that starts until `now`.
    void CatchUp(int64_t now)
    {
        if (m_line.FreeAt() <= now)
        {
            DoCatchUp(now);
        }
    }

    /// The same for a port that only sends what was enqueued, and costs nothing while it is idle:
    /// to be called where no packet is about to be enqueued.
    void CatchUpIfBusy(int64_t now)
    {
        if (m_line.FreeAt() <= now && (m_inService || Ready() != 0))
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
    /// A sink is connected to a trace source of this port.
    virtual bool IsWatched() const;

    /// The packets that wait, by priority, as of the last CatchUp.
    const scaleacross::PriorityQueues& Queues() const
    {
        return m_queues;
    }

    const scaleacross::SerialLine& Line() const
    {
        return m_line;
    }

    /// Bytes sent as of the last CatchUp.
    uint64_t StaleSentBytes() const
    {
        return m_sentBytes;
    }

    /// Time in ps until everything is sent that was here at the last CatchUp(now).
    int64_t StaleWait(int64_t now) const
    {
        return m_line.WaitFor(m_queues.Bytes(), now);
    }

    /// Priorities (bit p) of which a packet could start now.
    uint32_t Ready() const
    {
        return (m_queues.Occupied() | m_pullable) & ~m_blocked;
    }

  protected:
    void DoDispose() override;

    /// Later packets take that rate.
    void SetLineRate(DataRate rate);
    /// What is being sent is cut off, and the frames that wait to control the link are forgotten.
    void CutLine(int64_t now);

    /// The next packet of a priority whose queue is empty and which SetPullable has announced.
    virtual scaleacross::FabricPacket* Pull(uint8_t priority, int64_t start);
    /// A packet starts. Returns true if Finished() is to be called.
    virtual bool Started(scaleacross::FabricPacket& packet, int64_t start);
    /// The last bit of the packet that Started() saw has left.
    virtual void Finished();
    /// A packet has started and is on the wire, and departures are watched: where a derived class
    /// calls sinks of its own, which may ask the port.
    virtual void Departed();
    /// SetNextEligible's time has come: announces by SetPullable what Pull has from `now` on, and
    /// sets the time anew.
    virtual void AdmitEligible(int64_t now);
    /// A frame that controls the link has started: where its sinks are called.
    virtual void ControlStarted(const scaleacross::FabricPacket& frame);

    // If `m_gated`: another packet than before is the next one of a priority, or none is; and a
    // packet has started, which occupies the line from then on.
    virtual void NextChanged(uint8_t priority, int64_t now);
    virtual void Occupied(const scaleacross::FabricPacket& packet, int64_t start);

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
    void MarkPullable(uint8_t priority, bool pullable)
    {
        const uint32_t bit = 1U << priority;
        m_pullable = pullable ? m_pullable | bit : m_pullable & ~bit;
    }

    /// Bit per priority (and PriorityQueues::kLinkControl) of which no packet may start.
    void SetBlocked(uint32_t priorities)
    {
        m_blocked = priorities;
    }

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

    scaleacross::FabricLane* m_lane{nullptr}; //!< by which it sends; null without a wire
    bool m_gated{false};                      //!< NextChanged and Occupied are to be called
    bool m_eager{false};                      //!< attribute: departures are events
    TracedCallback<const scaleacross::FabricPacket&> m_enqueueTrace;
    scaleacross::WatchedTrace<const scaleacross::FabricPacket&> m_transmitTrace;
    scaleacross::WatchedTrace<uint64_t, uint64_t> m_queueTrace;

  private:
    void DoCatchUp(int64_t now);
    void StartNext(uint32_t ready);
    void PlanDeparture(int64_t now, bool ready);
    void ScheduleDeparture(int64_t now, int64_t at);
    void Depart();
    void MakeArbiter();
    void TraceQueue(uint64_t before);

    // What every packet needs stands together.
    scaleacross::SerialLine m_line;
    int64_t m_nextEligible{scaleacross::kNever}; //!< ps: when AdmitEligible is due
    uint32_t m_pullable{0};                      //!< bit per priority that Pull can serve
    uint32_t m_blocked{0};                       //!< bit per priority that must not start
    bool m_inService{false};                     //!< Finished() is due when the line is free
    bool m_watched{false};                       //!< departures are events, as a sink sees them
    std::unique_ptr<scaleacross::EgressArbiter> m_turns; //!< null: strict priorities
    uint64_t m_sentPackets{0};
    uint64_t m_sentBytes{0};
    scaleacross::PriorityQueues m_queues;
    int64_t m_departureAt{-1}; //!< time of the pending departure event
    std::string m_quanta;
    std::string m_laneArbitration;
};

} // namespace ns3

#endif // SCALEACROSS_EGRESS_PORT_H
