// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMPUTE_CLOCK_H
#define SCALEACROSS_COMPUTE_CLOCK_H

#include "core/base/units.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace scaleacross
{

/// Of a GPU, what collectives take from computing.
struct CollectiveShare
{
    double usual{0};        //!< fraction that each under way takes
    uint32_t processors{0}; //!< of the GPU, where a collective says how many it takes
    uint32_t most{0};       //!< of them that one collective takes
};

/// The fraction of computing that a collective takes which says so many processors, or 0.
inline double
TakenFrom(const CollectiveShare& share, uint32_t processors)
{
    return processors == 0
               ? share.usual
               : static_cast<double>(std::min(processors, share.most)) / share.processors;
}

/// What collectives under way on a GPU take from computing.
struct Underway
{
    uint32_t usual{0};      //!< those that take the usual fraction
    uint32_t processors{0}; //!< that the others take

    Underway& operator+=(const Underway& other)
    {
        usual += other.usual;
        processors += other.processors;
        return *this;
    }

    Underway& operator-=(const Underway& other)
    {
        usual -= other.usual;
        processors -= other.processors;
        return *this;
    }
};

/**
 * Progress of computing on a GPU of which collectives take a part.
 *
 * A collective is a kernel that holds some of the GPU's multiprocessors from its start to its end,
 * also while it waits for others. With n of them under way that hold the usual fraction, and others
 * that hold m of P processors, such as one for each channel of NCCL's, computing progresses at the
 * rate
 *
 *     r = 1 - n usual - m / P
 *
 * of what it does alone. Kernels that are bound by memory suffer less, and messages of the pipeline
 * hold one or two multiprocessors: both are left out. Domain: r > 0, as with five collectives at
 * most.
 *
 * Worked case: usual 0.2, work of 10 ms, one collective in the first 5 ms: 4 ms are done by then,
 * the rest takes 6 ms, 11 ms in sum.
 */
class ComputeClock
{
  public:
    ComputeClock() = default;

    explicit ComputeClock(const CollectiveShare& share)
        : m_share(share)
    {
    }

    /// Whether collectives make a difference at all.
    bool IsShared() const
    {
        return m_share.usual > 0;
    }

    /// What a collective takes that says so many processors, or 0.
    Underway Of(uint32_t processors) const
    {
        return processors == 0 ? Underway{1, 0} : Underway{0, std::min(processors, m_share.most)};
    }

    /// Begins `work` (its time alone) beside what is under way; returns when it ends if nothing
    /// changes.
    Duration Begin(Duration work, const Underway& underway, Duration now)
    {
        m_left = static_cast<double>(work.Ps());
        m_since = now;
        m_rate = RateBeside(underway);
        return End();
    }

    /// From now on so much is under way; returns when the work ends then.
    Duration Change(const Underway& underway, Duration now)
    {
        m_left -= static_cast<double>((now - m_since).Ps()) * m_rate;
        m_left = m_left < 0 ? 0 : m_left; // by less than the picosecond that End() rounds to
        m_since = now;
        m_rate = RateBeside(underway);
        return End();
    }

    /// Adds to `words` what decides how work that has begun goes on.
    template <class Words>
    void Describe(Duration now, Words& words) const
    {
        words.Add(m_left);
        words.Add(m_rate);
        words.Add(now - m_since);
    }

    /// What has begun goes on so much later.
    void Delay(Duration by)
    {
        m_since += by;
    }

  private:
    Duration End() const
    {
        return m_since + Duration::Picoseconds(std::llround(m_left / m_rate));
    }

    double RateBeside(const Underway& underway) const
    {
        const double rate = 1.0 - underway.usual * m_share.usual;
        return underway.processors == 0
                   ? rate
                   : rate - static_cast<double>(underway.processors) / m_share.processors;
    }

    CollectiveShare m_share;
    double m_left{0}; //!< picoseconds of work, alone
    double m_rate{1};
    Duration m_since;
};

} // namespace scaleacross

#endif // SCALEACROSS_COMPUTE_CLOCK_H
