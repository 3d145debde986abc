// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NSCC_H
#define SCALEACROSS_NSCC_H

#include "rdma-congestion-ops.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{

/**
 * NSCC: the sender's control of Ultra Ethernet, for packets sprayed over many paths.
 *
 * Model: with W the window, M the payload of a packet, n what an ACK newly says has arrived
 * (bytes), and q the queueing of the packet that caused it, its round trip less the base round trip
 * T. Marks rise and fall before delay does, and one marked packet may speak of one path only; so
 * the two together decide:
 *
 *   not marked, q <  target:  W += P a b (1 - q / target) M n / W     (proportional increase)
 *   not marked, q >= target:  W += F a M n / W                        (fair increase: it gets less)
 *   marked,     q <  target:  nothing, the entropies leave that path
 *   marked,     q >= target:  W *= max(1 - gamma (Q - target) / Q, 1 - D) if Q > target, at most
 *                             once in T                               (multiplicative decrease)
 *
 * and E a n / 8 is added at every ACK. Q is a mean of q: Q += g (q - Q), where an unmarked q above
 * the target, but no more than 5 T, counts as T / 4. When a whole window in a row has q <
 * FastDelay, W += I a n for every further such ACK. A trimmed packet takes M off the window. W is
 * at least M and at most MaxShare times the bandwidth-delay product B = line rate x T, where it
 * begins.
 *
 * Quick adapt: in periods of T + target; if in one a packet was trimmed or lost, or q reached
 * QuickAdaptDelay targets, and less than B MaxShare / QuickAdaptGate has arrived, the window is cut
 * to what has arrived, and the answers to what was under way change nothing.
 *
 * a = B / (ReferenceRate x ReferenceRtt) and b = target / ReferenceRtt make one set of gains fit
 * all speeds and distances. T is BaseRtt or, if that is 0, the least round trip so far, trimmed
 * packets included: their headers pass the queues, and a little faster than data would. Until one
 * is known the window has no limit, which is about a round trip of the line. Where nothing is
 * trimmed and a queue never empties, those who come later take it for part of the way, and more
 * than their share: give them BaseRtt.
 *
 * Source: the four cases, quick adapt and their purpose are those of the Ultra Ethernet
 * Specification 1.0, section 3.6.13, and of Bonato et al., FASTFLOW / SMaRTT-REPS, arXiv
 * 2404.01630, as descriptions of both and of public simulation code give them; so are the default
 * values. The text of the specification was not at hand.
 *
 * Left out: increases collected over 8 packets (they are applied at once), probes of an idle
 * sender, the part of receivers in it (their window penalty).
 *
 * Worked case: 100 Gb/s, packets of 1,000 in 1,082 bytes, T = 12 us: B = 138,632 bytes of payload
 * and a = 1; target 9 us, b = 0.75. W = 100,000, an unmarked packet with q = 4.5 us: W += 4 x 0.75
 * x 0.5 x 1,000 x 1,000 / 100,000 = 15 bytes, and 0.15 x 1,000 / 8 = 18.75.
 */
class Nscc : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    Nscc();
    ~Nscc() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    bool WantsRoundTrips() const override;
    void Init(RdmaCongestionState& state) override;
    void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now) override;
    void OnLoss(RdmaCongestionState& state, int64_t now) override;
    void OnTimeout(RdmaCongestionState& state, int64_t now) override;

    /// Bytes of payload; 0: no limit yet.
    double GetWindow() const;
    /// ps; what queueing is aimed at with the present base round trip.
    double GetTarget() const;
    /// ps; Q.
    double GetMeanDelay() const;
    /// How often quick adapt has set the window.
    uint64_t GetQuickAdapts() const;

  private:
    void LearnBase(RdmaCongestionState& state, const RdmaAck& ack, int64_t now);
    bool QuickAdapt(const RdmaCongestionState& state, int64_t now);
    void NoteDelay(double delay, bool marked);
    void Increase(const RdmaCongestionState& state, double bytes, double delay);
    void Decrease(int64_t now);
    void Publish(RdmaCongestionState& state);

    Time m_baseRtt;
    Time m_targetTime;
    double m_targetShare{0};
    double m_maxShare{0};
    double m_proportional{0};
    double m_fair{0};
    double m_eta{0};
    double m_gamma{0};
    double m_maxDecrease{0};
    double m_meanGain{0};
    double m_fastGain{0};
    Time m_fastDelay;
    double m_gate{0};
    double m_quickDelay{0};
    DataRate m_referenceRate;
    Time m_referenceRtt;

    double m_base{0};     //!< T, ps; 0: not known
    double m_target{0};   //!< ps
    double m_scaleA{0};   //!< a
    double m_scaleB{0};   //!< b
    double m_most{0};     //!< largest window, bytes
    double m_window{0};   //!< W, bytes; 0: no limit
    double m_mean{0};     //!< Q, ps
    double m_fastRun{0};  //!< bytes in a row with next to no queueing
    double m_achieved{0}; //!< bytes that have arrived in the present period
    double m_ignore{0};   //!< bytes of answers that are still to change nothing
    bool m_trouble{false};
    int64_t m_periodEnd{0};
    int64_t m_decreasedAt{INT64_MIN};
    uint64_t m_quickAdapts{0};
};

} // namespace ns3

#endif // SCALEACROSS_NSCC_H
