// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PORT_CREDITS_H
#define SCALEACROSS_PORT_CREDITS_H

#include "credit-link.h"
#include "stopped-priorities.h"

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>

namespace scaleacross
{

/**
 * The credits of one end of a link, as the port has them: what CreditLink counts, the lanes that
 * they are not enough for, and the credit packets that wait to leave.
 *
 * A lane has at most one credit packet that waits, which is brought up to date in place. Without
 * one, a new one is worth its bytes when the limit has grown by CreditBuffer::update.
 */
class PortCredits
{
  public:
    CreditLink& Link()
    {
        return m_link;
    }

    const CreditLink& Link() const
    {
        return m_link;
    }

    /// The next packet of a lane takes so many blocks. True if that changes what is starved.
    bool Need(uint8_t lane, uint64_t blocks, int64_t now)
    {
        return m_starved.Set(lane, m_link.Left(lane) < blocks, now);
    }

    /// Lanes whose credits are not enough for the next packet.
    const StoppedPriorities& Starved() const
    {
        return m_starved;
    }

    /// The credit packet of a lane that waits, null if there is none.
    FabricPacket* Waiting(uint8_t lane) const
    {
        return m_waiting[lane];
    }

    /// By how much the limit of a lane has to grow for the neighbour to be told.
    uint64_t Step(uint8_t lane) const
    {
        return m_waiting[lane] != nullptr ? 1 : m_link.Buffer().update;
    }

    void SetWaiting(uint8_t lane, FabricPacket* frame)
    {
        m_waiting[lane] = frame;
    }

    void ForgetWaiting()
    {
        m_waiting.fill(nullptr);
    }

    uint64_t sent{0};     //!< credit packets
    uint64_t received{0}; //!< credit packets

  private:
    CreditLink m_link;
    StoppedPriorities m_starved;
    std::array<FabricPacket*, kPriorities> m_waiting{};
};

} // namespace scaleacross

#endif // SCALEACROSS_PORT_CREDITS_H
