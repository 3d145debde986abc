// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIMELY_H
#define SCALEACROSS_TIMELY_H

#include "rdma-congestion-ops.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{

/**
 * TIMELY: a rate that follows the gradient of the round trip.
 *
 * Model: once per Segment of acknowledged bytes, with the round trip r of the ACK that completes
 * it, m the least round trip and q = r - m its queueing,
 *
 *   g = (1 - alpha) g + alpha (r - r_before),   G = g / m
 *   q < LowThreshold:    R += delta
 *   q > HighThreshold:   R *= 1 - beta (1 - (m + HighThreshold) / r)
 *   else G <= 0:         R += N delta, N = 5 after HyperSegments segments in a row with G <= 0,
 *                        else 1
 *   else:                R *= 1 - beta G
 *
 * The paper's thresholds are round trips (50 and 500 us) in a fabric whose least is 20 us; here
 * they are queueing, so that they mean the same on a path between buildings. With MinRtt, m is
 * given and not the least so far.
 *
 * With Patched, the third and fourth line become those of "ECN or Delay", which have one fixed
 * point and so are fair:
 *
 *   w = 0 if G <= -1/4, 1 if G >= 1/4, else 2 G + 1/2
 *   R = delta (1 - w) + R (1 - beta w (q - LowThreshold) / (m + LowThreshold))
 *
 * Left out: segments sent as bursts: packets are spaced (the paper's "packet pacing"); the time the
 * NIC takes for the segment is then no part of r.
 *
 * Source: Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015; Zhu
 * et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT 2016.
 *
 * Worked case: R = 10 Gb/s, m = 20 us, r = 120 after 110 us, alpha 0.875, g = 0 before: g = 8.75
 * us, G = 0.4375, R = 10 (1 - 0.8 * 0.4375) = 6.5 Gb/s.
 */
class Timely : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    Timely();
    ~Timely() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    bool WantsRoundTrips() const override;
    void Init(RdmaCongestionState& state) override;
    void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now) override;

    /// G, of the last segment.
    double GetGradient() const;

  private:
    void Update(RdmaCongestionState& state, double rtt);

    double m_alpha{0};
    double m_beta{0};
    DataRate m_delta;
    Time m_low;
    Time m_high;
    Time m_minRttTime;
    uint64_t m_segment{0};
    uint32_t m_hyperSegments{0};
    DataRate m_minRate;
    bool m_patched{false};

    double m_rate{0};       //!< bit/s
    double m_difference{0}; //!< g, ps
    double m_gradient{0};   //!< G
    double m_minRtt{0};     //!< ps; 0: not known yet
    double m_before{-1};    //!< ps: round trip of the segment before; -1: there was none
    uint64_t m_bytes{0};    //!< acknowledged since the last segment
    uint32_t m_falling{0};  //!< segments in a row with G <= 0
};

} // namespace ns3

#endif // SCALEACROSS_TIMELY_H
