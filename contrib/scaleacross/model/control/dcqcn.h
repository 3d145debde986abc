// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DCQCN_H
#define SCALEACROSS_DCQCN_H

#include "rdma-congestion-ops.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{

/**
 * DCQCN's reaction point (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
 * SIGCOMM 2015).
 *
 * Model: the rate R_C starts at line rate. A CNP sets
 *
 *   R_T = R_C,   R_C = R_C (1 - alpha / 2),   alpha = (1 - g) alpha + g
 *
 * and restarts both timers and the byte counter. Whenever AlphaTimer passes without a CNP, alpha =
 * (1 - g) alpha. Whenever IncreaseTimer passes or ByteCounter bytes have been sent, the rate is
 * raised: with T and B the numbers of times that both have done so since the last CNP, this time
 * included,
 *
 *   max(T, B) <= F                 fast recovery       R_T stays
 *   min(T, B) > F                  hyper increase      R_T = R_T + i HyperIncrease, i = min(T, B) -
 * F else                           additive increase   R_T = R_T + AdditiveIncrease
 *
 * and then R_C = (R_T + R_C) / 2. R_T is at most the line rate, R_C at least MinRate. Before the
 * first CNP no timer runs; when the rate is back at line rate only alpha's does.
 *
 * Rates are bit/s on the wire, bytes are bytes on the wire. Defaults are the paper's where it has
 * them (its section 5 and figure 14); where it has none, the attribute says whence.
 *
 * Left out: the NIC's monitor period, within which several CNPs count as one (the receiver limits
 * their rate already), and a rate of its own after the first CNP.
 *
 * Worked case: a first CNP at 40 Gb/s and alpha = 1: R_T = 40, R_C = 20 Gb/s; 55 us later alpha is
 * 255/256 and R_C 30 Gb/s, then 35, 37.5, 38.75, 39.375; the sixth time R_T would be 40.04, is
 * 40, and R_C 39.6875.
 */
class Dcqcn : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    Dcqcn();
    ~Dcqcn() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    void Init(RdmaCongestionState& state) override;
    void OnSent(RdmaCongestionState& state, uint32_t bytes, int64_t now) override;
    void OnCnp(RdmaCongestionState& state, int64_t now) override;
    void Advance(RdmaCongestionState& state, int64_t now) override;

    /// As of the last call: bit/s, bit/s, and 0 to 1.
    double GetCurrentRate() const;
    double GetTargetRate() const;
    double GetAlpha() const;

  private:
    void Raise(RdmaCongestionState& state);
    void Publish(RdmaCongestionState& state);
    void PlanDeadline();

    double m_current{0};                    //!< R_C, bit/s
    double m_target{0};                     //!< R_T, bit/s
    double m_alpha{1};                      //!< estimate of the share of marked intervals
    int64_t m_alphaAt{scaleacross::kNever}; //!< ps: when alpha decays next
    int64_t m_raiseAt{scaleacross::kNever}; //!< ps: when the increase timer runs out
    uint64_t m_bytes{0};                    //!< sent since the byte counter began anew
    uint32_t m_timerCount{0};               //!< T
    uint32_t m_byteCount{0};                //!< B
    bool m_limited{false};                  //!< a CNP has come; not back at line rate

    double m_gain{0};
    Time m_alphaTimer;
    Time m_increaseTimer;
    uint64_t m_byteCounter{0};
    uint32_t m_fastRecovery{0};
    DataRate m_additive;
    DataRate m_hyper;
    DataRate m_minRate;
    bool m_clampTarget{true};
};

} // namespace ns3

#endif // SCALEACROSS_DCQCN_H
