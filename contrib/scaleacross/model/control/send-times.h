// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEND_TIMES_H
#define SCALEACROSS_SEND_TIMES_H

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * When each unacknowledged packet of a sender started, for round trips by packet.
 *
 * A packet that has been sent more than once has no time: whether an answer is to the first or to
 * the second could not be told (Karn and Partridge, SIGCOMM 1987). The times form a ring that is
 * doubled when it is full: 8 bytes per unacknowledged packet, none before the first Note.
 *
 * Worked case: Note(5, 100), Note(6, 180), Note(5, 900): StartOf(6) is 180, StartOf(5) is kNone.
 */
class SendTimes
{
  public:
    static constexpr int64_t kNone = -1;

    /// Forgets everything; the first packet will be `psn`.
    void Reset(uint64_t psn)
    {
        m_base = psn;
        m_end = psn;
    }

    /// Packet `psn` starts at `start` ps, for the first time or again. Below the base: no effect.
    void Note(uint64_t psn, int64_t start);

    /// ps; kNone if it is not known, or not the only one.
    int64_t StartOf(uint64_t psn) const
    {
        return psn >= m_base && psn < m_end ? m_ring[psn & (m_ring.size() - 1)] : kNone;
    }

    /// Forgets all packets before `psn`.
    void AdvanceTo(uint64_t psn)
    {
        m_base = psn > m_base ? psn : m_base;
        m_end = m_end > m_base ? m_end : m_base;
    }

  private:
    void Grow();

    std::vector<int64_t> m_ring; //!< a power of two of them; PSN p at p mod size
    uint64_t m_base{0};
    uint64_t m_end{0}; //!< after the last PSN that has been noted
};

} // namespace scaleacross

#endif // SCALEACROSS_SEND_TIMES_H
