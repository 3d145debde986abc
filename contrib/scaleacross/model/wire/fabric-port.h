// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_PORT_H
#define SCALEACROSS_FABRIC_PORT_H

#include "egress-port.h"
#include "port-credits.h"
#include "stopped-priorities.h"

#include "ns3/attribute-guard.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"
#include "ns3/watched-trace.h"

#include <memory>
#include <string>

namespace ns3
{

class FabricWire;

/**
 * One end of a wire: what it sends (EgressPort), and what the other end tells it: pauses, credits,
 * and that the wire breaks or is back.
 *
 * A pause stops what is queued from the moment it has arrived; the packet being sent is finished.
 * Pause frames themselves go before everything else and are never paused.
 *
 * While its wire is down the port starts nothing and its queues keep what they hold (a switch may
 * throw it away: FabricSwitch::KeepAtDownPort); the packet being sent is cut off, and pauses of
 * both ends are void.
 *
 * Between switches with Credits, priorities are virtual lanes, and a packet starts only if the
 * neighbour has granted room for it (CreditLink). Where nothing waits yet that has a size, as in a
 * NIC, room for a packet of full size is asked for. What is granted anew comes as credit packets
 * (PortCredits), which go before everything else as pause frames do. They are never lost, and a
 * packet that the wire has lost counts as received and gone when it would have arrived: the
 * sender's counter, which real credit packets carry, says so then. A link that comes up begins with
 * the room there is at its ends. Left out: cut-through, pause quanta that run out.
 */
class FabricPort : public EgressPort, public scaleacross::AttributeOwner
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

    /// The packet that is being sent is finished at the old rate. During a run it throws
    /// ConfigError if an end of the wire has run ahead of now, and if a switch has reserved too
    /// little headroom for it; the rate is then what it was. What else was computed at time zero
    /// from the rate stays: thresholds of ECN and trimming, the line rate of congestion controls.
    void SetDataRate(DataRate rate) override;

    Ptr<Channel> GetChannel() const override;
    /// It has a wire, and that is not down.
    bool IsLinkUp() const override;
    Ptr<FabricWire> GetWire() const;
    /// Port at the other end of the wire, null if there is none.
    Ptr<FabricPort> GetPeer() const;

    /// "node 3 port 1": how messages name the port.
    std::string Describe() const;

    // --- Counters, exact at the time of the call ------------------------------------------------

    /// Pause and resume frames sent, and received.
    uint64_t GetPausesSent() const;
    uint64_t GetPausesReceived();
    /// True while the neighbour keeps `priority` stopped.
    bool IsPaused(uint8_t priority);
    /// True if a packet waits that must not start because of a pause or for want of credits.
    bool IsBlocked(uint8_t priority) const;
    /// Total time during which at least one priority was paused, and during which `priority` was.
    Time GetPausedTime();
    Time GetPausedTime(uint8_t priority);
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
    /// size, if none waits), and whether they are not now. 0 and false without credits.
    Time GetStarvedTime(uint8_t lane);
    bool IsStarved(uint8_t lane);

    // --- For switches, NICs and wires (times in ps) ---------------------------------------------

    /// Number within the node's agenda: what orders arrivals of equal time.
    virtual uint32_t GetPortNumber() const = 0;
    void SetWire(FabricWire* wire, scaleacross::FabricLane* lane);

    /// Lets a priority send although the neighbour keeps it stopped. CatchUp first, Kick after.
    void IgnorePause(uint8_t priority, bool ignore);
    /// Sends a pause or resume frame at the head of everything; none while the wire is down.
    void SendPause(uint8_t priority, bool pause, int64_t now);

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
    /// Gives this end a receive buffer for every lane, and the neighbour the right to fill it.
    void SetUpCredits(const scaleacross::CreditBuffer& buffer);
    /// Before time zero: the opposite.
    void ForgetCredits();

    /// Null without credits.
    scaleacross::CreditLink* Credits() const
    {
        return m_credits ? &m_credits->Link() : nullptr;
    }

    /// Tells the neighbour what it may send on a lane, if that has grown enough. Any time.
    void SendCredit(uint8_t lane, int64_t now);
    /// With credits: the neighbour could be granted enough for its next packet of a lane when so
    /// many blocks were all that is held of it here.
    bool CouldGrant(uint8_t lane, uint64_t held) const;
    /// A packet for this port has been lost on the wire.
    void NoteLost(const scaleacross::FabricPacket& packet, int64_t now);
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
    bool IsWatched() const override;

    /// Bytes of time that a pause frame and a credit packet take on the wire.
    uint32_t PauseSize() const;
    uint32_t CreditSize() const;

    /// True if a packet of this priority must not start because of the neighbour, and not because
    /// the wire is down.
    bool IsToldToStop(uint8_t priority) const
    {
        return ((NeighbourStops() >> priority) & 1U) != 0;
    }

  protected:
    void DoInitialize() override;
    void DoDispose() override;

    /// A packet other than a pause frame has come in by this port.
    virtual void Receive(scaleacross::FabricPacket* packet, int64_t now) = 0;
    /// The neighbour has stopped a priority that it had not stopped, or lets it go on.
    virtual void PauseChanged(uint8_t priority, bool paused, int64_t now);
    /// The neighbour has lifted a pause, or the wire is back.
    virtual void Resumed(int64_t now);
    /// The wire has broken, or is back.
    virtual void DoLinkChanged(bool up, int64_t now);
    /// With credits: something has started, and the line is free again at `end`.
    virtual void Leaving(int64_t end);

    void ControlStarted(const scaleacross::FabricPacket& frame) override;
    void NextChanged(uint8_t priority, int64_t now) override;
    void Occupied(const scaleacross::FabricPacket& packet, int64_t start) override;

    /// The packet, which has arrived, is not in the receive buffer any more: NICs.
    void FreeCredit(const scaleacross::FabricPacket& packet, int64_t now);

    /// Announces that Pull(priority) has a packet, or no longer has one.
    void SetPullable(uint8_t priority, bool pullable)
    {
        MarkPullable(priority, pullable);
        if (m_credits && pullable)
        {
            CheckLane(priority);
        }
    }

    scaleacross::PacketPool m_pool; //!< packets first sent by this port

  private:
    void HandlePause(const scaleacross::FabricPacket& packet, int64_t now);
    void SetStopped(uint8_t priority, bool stopped, int64_t now);
    void UpdateBlocked();
    scaleacross::FabricPacket* NewFrame(scaleacross::PacketKind kind,
                                        uint8_t priority,
                                        uint32_t bytes);

    scaleacross::PortCredits& MakeCredits();
    void BeginCredits(int64_t now);
    void CheckLane(uint8_t lane) const;
    uint64_t NeededBlocks(uint8_t lane) const;
    void UpdateStarved(uint8_t lane, int64_t now);
    void HandleCredit(const scaleacross::FabricPacket& packet, int64_t now);

    /// Bit per priority that must not start because of pauses or for want of credits.
    uint32_t NeighbourStops() const
    {
        return (m_pauses.Mask() & ~m_ignored) | (m_credits ? m_credits->Starved().Mask() : 0);
    }

    scaleacross::StoppedPriorities m_pauses; //!< what the neighbour has stopped
    uint32_t m_ignored{0};                   //!< bit per priority that sends in spite of it
    std::unique_ptr<scaleacross::PortCredits> m_credits; //!< null: no credits
    FabricWire* m_wire{nullptr};
    bool m_down{false};           //!< the wire is broken
    bool m_receiveWatched{false}; //!< the Receive trace has had a sink
    uint64_t m_pausesSent{0};
    uint64_t m_pausesReceived{0};
    uint32_t m_pauseSize{0};
    uint32_t m_creditSize{0};

    TracedCallback<const scaleacross::FabricPacket&, scaleacross::DropReason> m_dropTrace;
    TracedCallback<uint8_t, bool> m_pauseTrace;
    scaleacross::WatchedTrace<uint8_t, bool> m_pauseSentTrace;
    TracedCallback<uint8_t, uint64_t> m_creditTrace;
    scaleacross::WatchedTrace<uint8_t, uint64_t> m_creditSentTrace;
    scaleacross::WatchedTrace<const scaleacross::FabricPacket&> m_receiveTrace;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_PORT_H
