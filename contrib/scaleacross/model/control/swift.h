// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWIFT_H
#define SCALEACROSS_SWIFT_H

#include "rdma-congestion-ops.h"

#include "ns3/nstime.h"

namespace ns3
{

/**
 * Swift: a window that keeps the round trip at a target.
 *
 * Model: with c the window in packets and d the round trip of an ACK that acknowledges n packets,
 *
 *   d < target:  c += ai * n / c                  (ai * n while c < 1)
 *   else:        c *= max(1 - beta (d - target) / d, 1 - max_mdf), at most once per round trip
 *   gap:         c *= 1 - max_mdf, at most once per round trip
 *   timeout:     the same; c = min_cwnd after RetransmitReset of them in a row
 *
 *   target = base + hops * HopDelay + clamp(alpha / sqrt(c) - alpha / sqrt(fs_max), 0, fs_range),
 *   alpha = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max))
 *
 * A window below one packet is a rate of c packets per round trip. Base is BaseTarget or, if that
 * is 0, the least round trip so far and QueueTarget on top: so one setting serves paths inside a
 * building and between buildings. Hops are switches on the way of the ACK, as its hop limit shows.
 *
 * Left out: the part of the round trip inside hosts, which have none here, and so the second window
 * that follows it; ACKs of several packets count by the round trip of the last.
 *
 * Source: Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter, SIGCOMM 2020.
 *
 * Worked case: c = 10, target 25 us, beta 0.8, max_mdf 0.5. d = 20 us and n = 1: c = 10.1. d = 30
 * us: c *= 1 - 0.8 * 5/30 = 0.8667. d = 100 us: 1 - 0.8 * 75/100 = 0.4 is below 1 - 0.5: c halves.
 */
class Swift : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    Swift();
    ~Swift() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    bool WantsRoundTrips() const override;
    void Init(RdmaCongestionState& state) override;
    void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now) override;
    void OnLoss(RdmaCongestionState& state, int64_t now) override;
    void OnTimeout(RdmaCongestionState& state, int64_t now) override;

    /// Packets.
    double GetWindow() const;
    /// The round trip aimed at with the present window over so many switches, ps.
    double TargetDelay(uint32_t switches) const;

  private:
    bool MayDecrease(int64_t now) const;
    void Decrease(double factor, int64_t now);
    void Publish(RdmaCongestionState& state);

    double m_ai{0};
    double m_beta{0};
    double m_maxMdf{0};
    double m_minWindow{0};
    double m_maxWindow{0};
    Time m_baseTarget;
    Time m_queueTarget;
    Time m_hopDelay;
    Time m_flowRange;
    double m_flowMin{0};
    double m_flowMax{0};
    uint32_t m_retransmitReset{0};

    double m_window{0};     //!< packets; 0: no limit yet
    double m_useful{1};     //!< packets, the most that can be under way at the target
    int64_t m_leastRtt{-1}; //!< ps
    int64_t m_rtt{-1};      //!< ps, of the last ACK that had one
    int64_t m_decreasedAt{INT64_MIN};
    uint32_t m_timeouts{0};
};

} // namespace ns3

#endif // SCALEACROSS_SWIFT_H
