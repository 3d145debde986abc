// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RATE_PACER_H
#define SCALEACROSS_RATE_PACER_H

#include <cstdint>

namespace scaleacross
{

/**
 * The earliest time of a queue pair's next packet.
 *
 * Model: a packet of s bytes on the wire makes the next one wait until 8 s bits have been worked
 * off at the rate of the time, r(t), from the time d at which the packet was due:
 *
 *   integral of r(t) dt from d to the next d = 8 s,
 *
 * s * 8 / r while the rate stays. A packet is due when its own wait is over or, after a rest
 * (nothing to send, window closed), when it starts. If others on the port or a pause held it up by
 * more than its wait, what is beyond that is forfeited: the next one is due at once, but never two.
 * So a queue pair keeps its rate as long as it is held up by less than one wait, and never sends
 * more than one packet ahead of it, however the rate changes: a raise shortens a wait that has
 * begun, and a cut lengthens it.
 *
 * At the rate of the line a wait is over when the packet has left it, so it need not be waited for,
 * and Eligible() says so; but it has begun like any other. If the rate is cut while the packet is
 * on the line, the bits that are left of it are worked off at the new rate. A packet at the rate of
 * the line is due when it starts: what holds it up is the line, and that is not owed to anybody.
 *
 * Picoseconds, with what is left of one carried on.
 *
 * Domain: rate > 0, bytes < 65,536; what is to be waited for is at most 2,000,000 bytes.
 *
 * Worked case: 1,048 bytes at 30 Gb/s are 279,466 2/3 ps; packets start at 0, 279,466, 558,933,
 * 838,400. If the second starts at 300,000, the third still starts at 558,933; if at 600,000, the
 * third is due at 600,000 and the fourth at 879,466. If a packet starts at 0 at 1 Mb/s, the next
 * one is due at 8,384,000,000; if the rate becomes 100 Gb/s at 1,000,000, when 1 of 8,384 bits has
 * been worked off, at 1,000,000 + 8,383 * 10 = 1,083,830. If a packet starts at 0 on a line of 100
 * Gb/s and has its rate, the next one is due at any time, as the line is free at 83,840; if the
 * rate becomes 1 Gb/s at 40,000, when 4,000 bits have been worked off, at 40,000 + 4,384 * 1,000 =
 * 4,424,000; if at 90,000, still at any time.
 */
class RatePacer
{
  public:
    /// ps; a packet may start then or later. 0: at any time.
    int64_t Eligible() const
    {
        return m_atLineRate && !m_bound ? 0 : m_eligible;
    }

    /// ps; when what the last packet makes wait is worked off at the present rate, be it the
    /// line's.
    int64_t WaitEnd() const
    {
        return m_eligible;
    }

    /// A packet has started.
    void Sent(uint32_t bytes, int64_t start, uint64_t rate)
    {
        int64_t due = m_eligible;
        if (rate != m_rate)
        {
            m_rate = rate;
            m_remainder = 0;
        }
        if ((m_resting || m_atLineRate) && start > due)
        {
            due = start;
            m_remainder = 0;
        }
        m_resting = false;
        m_atLineRate = false;
        const uint64_t work = bytes * kPsPerByteAtOneBitPerSecond + m_remainder;
        m_remainder = work % rate;
        m_eligible = due + static_cast<int64_t>(work / rate);
        if (m_eligible < start)
        {
            m_eligible = start;
            m_remainder = 0;
        }
    }

    /// The rate is another one from `now` on.
    void RateChanged(uint64_t rate, int64_t now)
    {
        if (rate == m_rate || m_eligible <= now)
        {
            return; // nobody waits, or not for that
        }
        const uint64_t work = static_cast<uint64_t>(m_eligible - now) * m_rate + m_remainder;
        m_rate = rate;
        m_remainder = work % rate;
        m_eligible = now + static_cast<int64_t>(work / rate);
        m_atLineRate = false;
    }

    /// A packet has started at the rate of the line, which is no limit. Domain: the one before has
    /// left the line.
    void SentAtLineRate(uint32_t bytes, int64_t start, uint64_t lineRate)
    {
        m_resting = true;
        Sent(bytes, start, lineRate);
        m_atLineRate = true;
        m_bound = false;
    }

    /// The wait at the rate of the line is to be waited for: the rate may be cut before its end.
    void Bind()
    {
        m_bound = true;
    }

    /// There is nothing to send after the last packet.
    void Rest()
    {
        m_resting = true;
    }

  private:
    static constexpr uint64_t kPsPerByteAtOneBitPerSecond = 8'000'000'000'000;

    int64_t m_eligible{0};
    uint64_t m_rate{0};
    uint64_t m_remainder{0}; //!< of ps * rate
    bool m_resting{true};
    bool m_atLineRate{false}; //!< the rate has been the line's since the last packet started
    bool m_bound{false};      //!< and the end of the wait counts all the same
};

} // namespace scaleacross

#endif // SCALEACROSS_RATE_PACER_H
