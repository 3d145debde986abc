// SPDX-License-Identifier: GPL-2.0-only

#include "credit-link.h"

#include "core/base/errors.h"

#include <string>

namespace scaleacross
{

void
CreditLink::Begin(const CreditLink& neighbour)
{
    m_lanes = neighbour.m_buffer.lanes;
    m_sent = {};
    for (uint8_t lane = 0; lane < kPriorities; ++lane)
    {
        m_limit[lane] =
            HasLane(lane) ? neighbour.Limit(lane) - neighbour.m_received[lane] : uint64_t{0};
    }
}

void
CreditLink::BeginReceiving()
{
    m_received = {};
    for (uint8_t lane = 0; lane < kPriorities; ++lane)
    {
        Tell(lane);
    }
}

void
CreditLink::Overspent(uint8_t lane, uint64_t blocks) const
{
    SCALEACROSS_INVARIANT(blocks <= Left(lane),
                          "a packet of " + std::to_string(blocks) + " blocks starts on lane " +
                              std::to_string(lane) + ", which has " + std::to_string(Left(lane)) +
                              " left");
}

void
CreditLink::Overfull(uint8_t lane) const
{
    SCALEACROSS_INVARIANT(m_held[lane] <= m_buffer.capacity,
                          "lane " + std::to_string(lane) + " holds " +
                              std::to_string(m_held[lane]) + " blocks of " +
                              std::to_string(m_buffer.capacity));
}

void
CreditLink::Underflow(uint8_t lane, uint64_t blocks) const
{
    SCALEACROSS_INVARIANT(blocks <= m_held[lane],
                          "lane " + std::to_string(lane) + " frees " + std::to_string(blocks) +
                              " blocks but holds " + std::to_string(m_held[lane]));
}

} // namespace scaleacross
