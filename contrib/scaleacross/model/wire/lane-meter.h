// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LANE_METER_H
#define SCALEACROSS_LANE_METER_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * What one direction of a wire has carried, against what its rate allowed while it was up.
 *
 *   carried = sum of the bytes of all packets whose last bit has left
 *   allowed = integral of rate / 8 over the time up, until the last bit of the last packet
 *
 * It counts on its own what the port says of its packets and what the wire says of its rate, and
 * computes nothing from when packets start: that carried <= allowed is a law that a port could
 * break. A packet that is being sent when the rate changes is finished at the old one, so the new
 * one counts from its end on.
 *
 * Times are in ps. Times of departure are rounded down to whole ps, which may make up a byte.
 *
 * Worked case: 100 Gb/s from 0 on, a packet of 1,000 bytes that ends at 80,000 ps: 1,000 carried,
 * 1,000 allowed. At 50 Gb/s from 60,000 ps on, and another packet, it may not end before 240,000.
 */
class LaneMeter
{
  public:
    /// A packet is put on the wire, whose last bit leaves at `end`.
    void Count(uint32_t bytes, int64_t end)
    {
        m_carried += bytes;
        m_end = end;
    }

    /// When the last bit leaves of what has been put on the wire.
    int64_t End() const
    {
        return m_end;
    }

    /// From `now` on, or when the packet being sent is finished.
    void SetRate(double bitsPerSecond, int64_t now);

    /// The wire breaks; `unfinished`: bytes of the packet that was being sent, 0 if none was.
    void Break(uint32_t unfinished, int64_t now);

    uint64_t Carried() const
    {
        return m_carried;
    }

    /// Bytes.
    double Allowed() const;

    /// Share of the time up until `now` at the rate then given; 0 if it was never up.
    double BusyShare(int64_t now) const;

    bool Holds() const;

    /// "carried 1000 bytes, 990.0 bytes were allowed at its rate until 79200 ps".
    std::string Text() const;

  private:
    /// Bits allowed until a time.
    double BitsUntil(int64_t time) const;

    uint64_t m_carried{0};
    int64_t m_end{0};
    double m_bits{0};      //!< allowed until m_since
    int64_t m_since{0};    //!< of the rate
    double m_bitsPerPs{0}; //!< since then, 0 while the wire is down
};

} // namespace scaleacross

#endif // SCALEACROSS_LANE_METER_H
