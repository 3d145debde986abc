// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMPUTE_CLOCK_H
#define SCALEACROSS_COMPUTE_CLOCK_H

#include "core/base/units.h"

#include <cmath>
#include <cstdint>

namespace scaleacross
{

/**
 * Progress of computing on a GPU of which collectives take a part.
 *
 * A collective is a kernel that holds some of the GPU's multiprocessors from its start to its end,
 * also while it waits for others. With n of them under way, each holding the fraction `share`,
 * computing progresses at the rate
 *
 *     r = 1 - n share
 *
 * of what it does alone. Kernels that are bound by memory suffer less, and messages of the pipeline
 * hold one or two multiprocessors: both are left out. Domain: n share < 1.
 *
 * Worked case: share 0.2, work of 10 ms, one collective in the first 5 ms: 4 ms are done by then,
 * the rest takes 6 ms, 11 ms in sum.
 */
class ComputeClock
{
  public:
    ComputeClock() = default;

    explicit ComputeClock(double share)
        : m_share(share)
    {
    }

    /// Whether collectives make a difference at all.
    bool IsShared() const
    {
        return m_share > 0;
    }

    /// Begins `work` (its time alone) with `active` collectives under way; returns when it ends if
    /// nothing changes.
    Duration Begin(Duration work, uint32_t active, Duration now)
    {
        m_left = static_cast<double>(work.Ps());
        m_since = now;
        m_rate = 1.0 - active * m_share;
        return End();
    }

    /// From now on `active` collectives are under way; returns when the work ends then.
    Duration Change(uint32_t active, Duration now)
    {
        m_left -= static_cast<double>((now - m_since).Ps()) * m_rate;
        m_left = m_left < 0 ? 0 : m_left; // by less than the picosecond that End() rounds to
        m_since = now;
        m_rate = 1.0 - active * m_share;
        return End();
    }

  private:
    Duration End() const
    {
        return m_since + Duration::Picoseconds(std::llround(m_left / m_rate));
    }

    double m_share{0};
    double m_left{0}; //!< picoseconds of work, alone
    double m_rate{1};
    Duration m_since;
};

} // namespace scaleacross

#endif // SCALEACROSS_COMPUTE_CLOCK_H
