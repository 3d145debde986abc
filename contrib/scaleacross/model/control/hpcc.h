// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_HPCC_H
#define SCALEACROSS_HPCC_H

#include "rdma-congestion-ops.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/telemetry.h"

#include <vector>

namespace ns3
{

/**
 * HPCC: a window from what every switch on the way says of its port.
 *
 * Model: an ACK brings, for each of any number of ports, the queue q, the bytes sent so far b, the
 * time t and the rate B (TelemetryTrail). With those of the ACK before (q', b', t') and T the base
 * round trip, what is under way on the fullest port, in units of B T, is
 *
 *   u = max over ports of  min(q, q') / (B T) + (b - b') / ((t - t') B)
 *   U = (1 - tau / T) U + tau / T u,    tau = min(t - t' of that port, T)
 *
 * and the window, in bytes on the wire, with W_c its value a round trip ago,
 *
 *   W = W_c / (U / eta) + W_AI   if U >= eta or MaxStage additive steps have been made,
 *   W = W_c + W_AI               else,
 *
 * W_c becomes W with the first ACK of a packet sent after it last did. The rate is W / T. W begins
 * as B T of the own port and is never more, nor less than a packet; W_AI = B T (1 - eta) / Flows.
 *
 * T is BaseRtt or, if that is 0, the least round trip so far; until the first ACK there is no
 * window, and the line rate. When the way changes (other ports, or another rate) or an
 * ACK has been overtaken, it is the new reference and changes nothing; so sprayed packets would
 * never change anything.
 *
 * Source: Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, algorithm 1; eta = 0.95
 * and MaxStage = 5 are the paper's.
 *
 * Worked case: 100 Gb/s, T = 10 us: W = 125,000 B. Two flows meet, each sends at 100 Gb/s: the port
 * sends 12.5 B/ns all the time, its queue has 125,000 B after T: u = 1 + 1 = 2, U = 2, W = 125,000
 * / (2 / 0.95) + W_AI = 59,375 B + W_AI, just below half of the line.
 */
class Hpcc : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    Hpcc();
    ~Hpcc() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    bool WantsRoundTrips() const override;
    bool WantsTelemetry() const override;
    void Init(RdmaCongestionState& state) override;
    void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now) override;

    /// U.
    double GetUtilization() const;
    /// W in bytes on the wire; 0: not limited yet.
    double GetWindow() const;

  private:
    bool SameWay(const std::vector<scaleacross::TelemetryHop>& hops) const;
    void Measure(const std::vector<scaleacross::TelemetryHop>& hops);
    void Publish(RdmaCongestionState& state);

    double m_eta{0};
    uint32_t m_maxStage{0};
    uint32_t m_flows{0};
    Time m_baseRttTime;

    double m_baseRtt{0};   //!< T, ps; 0: not known yet
    double m_most{0};      //!< B T, bytes
    double m_window{0};    //!< W
    double m_reference{0}; //!< W_c
    double m_utilization{0};
    uint32_t m_stage{0};
    uint64_t m_updated{0}; //!< PSN: W_c changes with the ACK of this packet or a later one
    std::vector<scaleacross::TelemetryHop> m_hops; //!< of the ACK before
};

} // namespace ns3

#endif // SCALEACROSS_HPCC_H
