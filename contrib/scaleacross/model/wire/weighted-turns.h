// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WEIGHTED_TURNS_H
#define SCALEACROSS_WEIGHTED_TURNS_H

#include "egress-arbiter.h"

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * Which priority a port serves next, if not strictly the largest: some of them in weighted turns.
 *
 * Model, as in IEEE 802.1Q's enhanced transmission selection: priorities with a quantum of 0 are
 * strict and go first, a larger one before a smaller one. The others share what is left by surplus
 * round robin, from larger to smaller: when its turn comes a priority gets its quantum of bytes as
 * credit, sends as long as its credit is positive, pays for each packet by its size, and keeps what
 * it owes. A priority that has nothing to send, or is paused, loses its turn and its positive
 * credit. So backlogged priorities get bytes in the proportion of their quanta, with an error of
 * one packet each.
 *
 * Worked case: quanta of 1,048 bytes for priority 3 and 3,144 for priority 4, packets of 1,048:
 * 4 4 4 3, 4 4 4 3, ...
 */
class WeightedTurns : public EgressArbiter
{
  public:
    using Quanta = std::array<uint32_t, kPriorities>;

    explicit WeightedTurns(const Quanta& quanta);

    /// Eight whole numbers, of priority 0 first, separated by commas; bytes. Throws ConfigError.
    static Quanta Parse(const std::string& text);

    uint8_t Choose(uint32_t ready, uint64_t sentBytes) override;

  private:
    Quanta m_quanta;
    uint32_t m_shared{0}; //!< bit per priority with a quantum
    std::array<int64_t, kPriorities> m_credit{};
    uint64_t m_sentBytes{0};
    uint8_t m_turn{0};  //!< whose turn it is, if it has one
    bool m_pays{false}; //!< what has been sent is paid by m_turn
};

} // namespace scaleacross

#endif // SCALEACROSS_WEIGHTED_TURNS_H
