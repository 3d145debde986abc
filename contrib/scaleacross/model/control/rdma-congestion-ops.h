// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_CONGESTION_OPS_H
#define SCALEACROSS_RDMA_CONGESTION_OPS_H

#include "ns3/arrival-agenda.h"
#include "ns3/attribute-guard.h"
#include "ns3/object.h"

#include <cstdint>
#include <string>

namespace scaleacross
{
struct TelemetryTrail;
} // namespace scaleacross

namespace ns3
{

/// What a congestion control sees and sets of its queue pair.
struct RdmaCongestionState
{
    // Set by the queue pair before Init
    uint64_t lineRate{0}; //!< bit/s on the wire: that of the port, or the RateLimit if it is less
    uint32_t mtu{0};      //!< payload bytes of a full packet
    uint32_t wireSize{0}; //!< bytes that a full packet in the middle of a message takes on the wire
    // Kept by the queue pair
    uint64_t unacked{0}; //!< packets sent and not acknowledged; with WindowCountsFlight, under way
    /// With WantsPulls: packets that wait to be sent, for the first time or again.
    uint64_t backlog{0};
    // Set by the control; the queue pair starts with the line rate and no window
    uint64_t rate{0};                 //!< bit/s on the wire, more than 0, at most lineRate
    uint64_t windowBytes{UINT64_MAX}; //!< payload; besides the Window of the queue pair
    bool mayStop{false}; //!< a window of less than a packet stops it; else one may always be sent
    bool asks{false};    //!< with WantsPulls, by OnSent: the packet asks the receiver for a pull
};

/// What an ACK or NAK tells a congestion control.
struct RdmaAck
{
    uint64_t packets{0}; //!< newly acknowledged, all before them too; 0 is possible
    /// Newly known to have arrived: with selective repeat those beyond a gap count at once, and
    /// not again when the gap closes, where `packets` comes in lumps.
    uint64_t arrived{0};
    uint64_t lost{0};     //!< packets that it shows to be lost, but for one that was trimmed
    bool pullOwed{false}; //!< the receiver owes a pull for it that the packet had not asked for
    uint64_t psn{0};      //!< all packets before it have arrived
    uint64_t next{0};     //!< first PSN that has not been sent, or is to be sent again next
    bool marked{false};   //!< a packet that it answers was marked on the way
    bool trimmed{false};  //!< the packet that caused it has come in without its payload
    /// ps from the start of the packet that caused it until now; -1 if that has been sent more than
    /// once, if it was trimmed, and if the control does not WantRoundTrips.
    int64_t rtt{-1};
    int64_t trimmedRtt{-1}; //!< the same if it was trimmed: mostly less, as headers go first
    uint32_t switches{0};   //!< that it has passed on its way
    /// What the switches have written into the packet that caused it; null if the control does not
    /// WantTelemetry. Valid during the call.
    const scaleacross::TelemetryTrail* trail{nullptr};
};

/**
 * A congestion control of one queue pair, as TcpCongestionOps is one of a TCP socket: the strategy
 * apart from the transport.
 *
 * Every queue pair whose attribute CongestionOps names a subclass gets an object of its own. What
 * the transport notices it hands on by the On... functions, with its time `now` in ps; the control
 * answers by setting `rate` and `windowBytes` of the state, and touches nothing else. It must not
 * ask Simulator::Now(), schedule events, or draw random numbers from a stream that it does not own:
 * queue pairs are brought up to date in batches, earlier or later than the Simulator's time.
 *
 * A control with timers says by SetDeadline when the next one runs out. Before each On... function,
 * and before the rate is read or a wait that it has set ends, Advance is called for every deadline
 * that has come, one after the other, each with its own time. It leaves the next deadline later
 * than that. A timer that has run out may change the rate, which counts at once (RatePacer);
 * windows count from the next ACK on.
 *
 * Order at equal times: timers, then a packet that leaves, then what arrives.
 *
 * To add one: a file pair, a subclass with GetName and Fork and those of the others that it needs,
 * a page, a test.
 */
class RdmaCongestionOps : public Object, public scaleacross::FixedOnceUsed
{
  public:
    static TypeId GetTypeId();
    RdmaCongestionOps();
    ~RdmaCongestionOps() override;

    /// For messages and tables.
    virtual std::string GetName() const = 0;

    /// A new one with the same attributes, for another queue pair. Its state is fresh.
    virtual Ptr<RdmaCongestionOps> Fork() const = 0;

    /// It goes by RdmaAck::rtt; else no packet's time is kept.
    virtual bool WantsRoundTrips() const;

    /// It goes by RdmaAck::trail; else packets carry none.
    virtual bool WantsTelemetry() const;

    /// It goes by pulls, which the receiving NIC hands out to those of its packets that ask, and
    /// for those that come in trimmed.
    virtual bool WantsPulls() const;

    /// The queue pair is connected; nothing has been sent.
    virtual void Init(RdmaCongestionState& state);

    /// A data packet of `bytes` on the wire, new or not, starts. It is not in `unacked` yet.
    virtual void OnSent(RdmaCongestionState& state, uint32_t bytes, int64_t now);

    /// An ACK or NAK has arrived.
    virtual void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now);

    /// A congestion notification packet has arrived.
    virtual void OnCnp(RdmaCongestionState& state, int64_t now);

    /// A pull has arrived: the receiver has handed out `number` so far. Some may be lost, or come
    /// late.
    virtual void OnPull(RdmaCongestionState& state, uint64_t number, int64_t now);

    /// The receiver has reported a gap, or that a packet was trimmed.
    virtual void OnLoss(RdmaCongestionState& state, int64_t now);

    /// The retransmission timer has run out.
    virtual void OnTimeout(RdmaCongestionState& state, int64_t now);

    /// Carries out what timers have to do up to now, and sets the next deadline, after now.
    virtual void Advance(RdmaCongestionState& state, int64_t now);

    /// When Advance has something to do, kNever if no timer runs.
    int64_t NextDeadline() const
    {
        return m_deadline;
    }

  protected:
    void SetDeadline(int64_t deadline)
    {
        m_deadline = deadline;
    }

  private:
    int64_t m_deadline{scaleacross::kNever};
};

} // namespace ns3

#endif // SCALEACROSS_RDMA_CONGESTION_OPS_H
