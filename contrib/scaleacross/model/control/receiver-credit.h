// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RECEIVER_CREDIT_H
#define SCALEACROSS_RECEIVER_CREDIT_H

#include "rdma-congestion-ops.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <deque>

namespace ns3
{

/**
 * Receiver credits: after a first window, a sender sends a packet for each pull of the receiver.
 *
 * Model: the receiving NIC hands out pulls to its senders in turn, one in the time that its line
 * takes for a full packet (PullPacer). So however many send to it, no more comes than the line
 * takes, and in equal shares. What the sender keeps, in packets:
 *
 * - at hand: may be sent now. At first w, what the line carries in FirstWindow; less one with every
 *   packet that is sent, more by one with every pull;
 * - owed: pulls that have been asked for and have not come;
 * - backlog: what waits to be sent, for the first time or again.
 *
 * A packet asks for a pull (a bit) if, after it, backlog > at hand + owed.
 *
 * The receiver owes one for every packet that asks, and for every packet that came in trimmed, as
 * that has to be sent again; so as many pulls come as are of use, and none when the last packets
 * are on their way. What has not asked comes back when it has arrived: at hand is at least w less
 * what is owed and what is under way and has not asked, unless more than that is under way. So a
 * message that follows another finds what that one has left, and a sender that has rested begins
 * with a window again. Which packets have asked is known of numbers only, in the order of sending.
 * A packet that is lost unnoticed (not trimmed) takes its pull with it: when it is found, the
 * sender is given one back, and after a timeout all of w. Pulls carry their number, so that the
 * next one makes up for one that is lost.
 *
 * w bounds the rate to w per round trip, queueing and waiting for one's turn included.
 *
 * Needs, at both ends, RetransmissionMode SelectiveRepeat and WindowCountsFlight.
 *
 * Source: pulls are NDP's (Handley et al., SIGCOMM 2017), and so is their purpose; credits of a
 * receiver beside a window of the sender's own are Ultra Ethernet's RCCC. The bookkeeping is ours.
 *
 * Left out: unequal shares, pulls for shorter packets than full ones, a sender's own control beside
 * it for congestion inside the fabric.
 *
 * Worked case: w = 3, a message of 5 packets, A to E. A: backlog 4 > 2 at hand: asks. B: 3 > 1 at
 * hand + 1 owed: asks. C: 2 > 0 + 2 is false. D and E go by the two pulls and ask for nothing.
 */
class ReceiverCredit : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    ReceiverCredit();
    ~ReceiverCredit() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    bool WantsPulls() const override;
    void Init(RdmaCongestionState& state) override;
    void OnSent(RdmaCongestionState& state, uint32_t bytes, int64_t now) override;
    void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now) override;
    void OnPull(RdmaCongestionState& state, uint64_t number, int64_t now) override;
    void OnTimeout(RdmaCongestionState& state, int64_t now) override;

    /// Packets that may be sent now.
    uint64_t GetAtHand() const;
    /// Pulls that have been asked for and have not come.
    uint64_t GetOwed() const;

  private:
    /// Packets that were sent one after the other, and all asked or all did not.
    struct Run
    {
        bool asked;
        uint64_t packets;
    };

    void Leave(uint64_t packets);
    void Forget();
    void Refill(RdmaCongestionState& state);

    Time m_firstWindow;

    uint64_t m_first{1}; //!< w
    uint64_t m_atHand{0};
    uint64_t m_asked{0};
    uint64_t m_pulled{0};
    std::deque<Run> m_sent; //!< under way
    uint64_t m_silent{0};   //!< of these, have not asked
};

} // namespace ns3

#endif // SCALEACROSS_RECEIVER_CREDIT_H
