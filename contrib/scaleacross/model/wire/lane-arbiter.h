// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LANE_ARBITER_H
#define SCALEACROSS_LANE_ARBITER_H

#include "egress-arbiter.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * InfiniBand's arbitration of virtual lanes: two tables, and a limit of the one of high priority.
 *
 * Model: each table is a list of (lane, weight), weights in units of 64 bytes. A table goes round
 * its list: the lane whose turn it is sends while it has a packet that may start and weight is
 * left, each packet taking its size in whole units of it; the last one may take more than is left.
 * A lane that may not send loses the rest of its turn. The table of high priority goes first until,
 * since the last packet of the low one, `limit` x 4,096 bytes of it have been sent, or one packet
 * if the limit is 0; then the low one has a turn, of one packet, if it has any. A limit of 255 is
 * none.
 *
 * A lane that no table names sends when none that is named may. Entries of weight 0 are skipped, as
 * the standard has it.
 *
 * Left out: the table for management (lane 15).
 *
 * Worked case: low 3:1,4:3 and packets of 64 bytes: 3 4 4 4, 3 4 4 4, ...
 */
class LaneArbiter : public EgressArbiter
{
  public:
    struct Entry
    {
        uint8_t lane;
        uint8_t weight;
    };

    struct Tables
    {
        std::vector<Entry> high;
        std::vector<Entry> low;
        uint32_t limit{255};
    };

    /// No limit of high priority.
    static constexpr uint32_t kNoLimit = 255;

    /// `tables` with at least one entry of a weight that is not 0.
    explicit LaneArbiter(Tables tables);

    /**
     * As in "high 6:64; low 0:1,3:200,4:100; limit 10": parts in any order, each at most once; 64
     * entries at most in a table, lanes 0 to 7, weights and limit 0 to 255. Throws ConfigError that
     * names `where` and what is wrong.
     */
    static Tables Parse(const std::string& text, const std::string& where);

    uint8_t Choose(uint32_t ready, uint64_t sentBytes) override;

  private:
    /// A table and whose turn it is.
    struct Round
    {
        std::vector<Entry> entries;
        uint32_t lanes{0}; //!< bit per lane that it names
        size_t turn{0};
        int64_t left{0}; //!< units of the turn
    };

    static Round MakeRound(const std::vector<Entry>& entries);
    /// The lane of a table that is served next. Domain: one of its lanes is ready.
    static uint8_t Next(Round& round, uint32_t ready);

    Round m_high;
    Round m_low;
    uint32_t m_limit;
    uint64_t m_highSent{0}; //!< bytes since the last packet of low priority
    uint64_t m_sentBytes{0};
    Round* m_payer{nullptr}; //!< who pays for what has been sent
};

} // namespace scaleacross

#endif // SCALEACROSS_LANE_ARBITER_H
