// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SERIAL_LINE_H
#define SCALEACROSS_SERIAL_LINE_H

#include <algorithm>
#include <cstdint>

namespace scaleacross
{

/**
 * A line that sends one packet after the other: when it is free, and how long it has been idle.
 *
 * Model: n bytes take 8 n / rate, exact to the picosecond: where packets follow each other without
 * a gap, what is left of a picosecond is carried on to the next. Times are in ps and only grow.
 *
 * Worked case: 3 Gb/s, packets of 1 byte: 2,666.67 ps each, so they leave 2,666, 2,667 and 2,667 ps
 * one after the other, and 8,000 ps are 3 bytes.
 */
class SerialLine
{
  public:
    /// Later packets take that rate, in bit/s. Domain: more than 0.
    void SetRate(uint64_t rate)
    {
        m_rate = rate;
        m_bitsPerSecond = static_cast<double>(rate);
        m_remainder = 0;
        m_psPerByte =
            kPsPerByteAtOneBitPerSecond % rate == 0 ? kPsPerByteAtOneBitPerSecond / rate : 0;
    }

    uint64_t Rate() const
    {
        return m_rate;
    }

    double BitsPerSecond() const
    {
        return m_bitsPerSecond;
    }

    int64_t FreeAt() const
    {
        return m_freeAt;
    }

    /// A packet starts at `start`, when the line is free. Domain: at most 65,535 bytes.
    void Occupy(int64_t start, uint32_t bytes)
    {
        m_freeAt = start + Serialise(bytes);
    }

    /// Looks busy until Occupy: for what is done between choosing a packet and starting it.
    void Hold()
    {
        m_freeAt = INT64_MAX;
    }

    /// There is nothing to send until then. Domain: not before FreeAt().
    void Idle(int64_t until)
    {
        if (m_freeAt < until)
        {
            m_idle += until - m_freeAt;
            m_freeAt = until;
            m_remainder = 0;
        }
    }

    /// What is being sent is cut off.
    void Cut(int64_t now)
    {
        m_freeAt = now;
        m_remainder = 0;
    }

    /// Time during which it was sending until `now`.
    int64_t BusyUntil(int64_t now) const
    {
        // Since m_freeAt, if that is past, there was nothing to send.
        return std::min(now, m_freeAt) - m_idle;
    }

    /// Time until `bytes` that wait behind what is being sent have left, to a picosecond or so.
    int64_t WaitFor(uint64_t bytes, int64_t now) const
    {
        const int64_t sending = m_freeAt > now ? m_freeAt - now : 0;
        return sending +
               (m_psPerByte != 0
                    ? static_cast<int64_t>(bytes * m_psPerByte)
                    : static_cast<int64_t>(8e12 * static_cast<double>(bytes) / m_bitsPerSecond));
    }

  private:
    static constexpr uint64_t kPsPerByteAtOneBitPerSecond = 8'000'000'000'000;

    int64_t Serialise(uint32_t bytes)
    {
        if (m_psPerByte != 0)
        {
            return static_cast<int64_t>(bytes * m_psPerByte);
        }
        // No overflow: 65,535 bytes are 5.2e17.
        const uint64_t work = bytes * kPsPerByteAtOneBitPerSecond + m_remainder;
        m_remainder = work % m_rate;
        return static_cast<int64_t>(work / m_rate);
    }

    int64_t m_freeAt{0};
    uint64_t m_psPerByte{0}; //!< 0 if that is not a whole number
    uint64_t m_rate{0};
    uint64_t m_remainder{0}; //!< of ps * rate
    int64_t m_idle{0};       //!< ps without anything to send, until m_freeAt
    double m_bitsPerSecond{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_SERIAL_LINE_H
