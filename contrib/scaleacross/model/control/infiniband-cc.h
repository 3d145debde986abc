// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_INFINIBAND_CC_H
#define SCALEACROSS_INFINIBAND_CC_H

#include "rdma-congestion-ops.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * The sender's side of InfiniBand's congestion control (InfiniBand Architecture Specification,
 * volume 1, annex A10).
 *
 * Model: switches mark packets (FECN), receivers answer marks with BECN, here a CNP. A queue pair
 * has an index into the congestion control table, CCTI. BECN moves it on,
 *
 *   CCTI = min(CCTI + Increase, Limit),
 *
 * and each time Timer x 1.024 us passes it goes back by one, down to Min. An entry of the table is
 * a shift s and a multiplier m, and after a packet that took the time t on the line the queue pair
 * sends nothing for
 *
 *   t m / 2^s,        hence rate = line rate / (1 + m / 2^s).
 *
 * The timer runs while CCTI is above Min, from the BECN that has lifted it on. The state is that of
 * a queue pair, as with the standard's control by QP.
 *
 * Without a table of one's own, entry i has multiplier i and shift 3: each step adds an eighth of a
 * packet's time, and N senders share a line at index 8 (N - 1).
 *
 * At rest every sender gets as many BECNs as the timer takes back: rate p Increase / L = 1 / (Timer
 * x 1.024 us) with the share p of packets that are marked and their length L. As p is the same for
 * all who share a queue and have BECNs for every mark, so are their rates, and with N senders on a
 * line of rate C
 *
 *   p = N L / (C x Increase x Timer x 1.024 us).
 *
 * Switches that mark one packet in M beyond the threshold can hold that many senders for which p is
 * less than 1 / M. In a round trip above the threshold an index goes on by the packets of it / M,
 * after which the line may be idle if there is no queue to outlast the timers that take them back:
 * a small M is for many senders, a large one for long wires.
 *
 * Left out: control by service level (all queue pairs of a port together), the trigger threshold,
 * which only logs, and BECN in ACKs.
 *
 * Worked case: 100 Gb/s, Increase 4: a BECN makes it 100 / 1.5 Gb/s; then 100 / 1.375, 100 / 1.25,
 * 100 / 1.125 and 100 Gb/s, a step each 10.24 us with Timer 10.
 */
class InfinibandCc : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    InfinibandCc();
    ~InfinibandCc() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    void Init(RdmaCongestionState& state) override;
    void OnCnp(RdmaCongestionState& state, int64_t now) override;
    void Advance(RdmaCongestionState& state, int64_t now) override;

    /// CCTI as of the last call.
    uint32_t GetIndex() const;

    /// The table as text; empty: that by formula. Throws ConfigError with the entry that is wrong.
    std::string GetTable() const;
    void SetTable(std::string text);

  private:
    void Publish(RdmaCongestionState& state);

    uint32_t m_index{0};
    std::vector<double> m_delays; //!< by index: in times of a packet
    std::string m_table;

    uint32_t m_increase{0};
    uint32_t m_limit{0};
    uint32_t m_min{0};
    uint32_t m_timer{0};
};

} // namespace ns3

#endif // SCALEACROSS_INFINIBAND_CC_H
