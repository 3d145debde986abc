// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SERIES_SAMPLER_H
#define SCALEACROSS_SERIES_SAMPLER_H

#include "core/engine/network-series.h"

#include <vector>

namespace scaleacross
{

/**
 * Takes samples of what an engine counts, in steps of equal length as long as it is asked when a
 * sample is due.
 *
 * How long a run is nobody knows before: when there are as many steps as kMost, each two become
 * one, and steps are twice as long from then on.
 */
class SeriesSampler
{
  public:
    static constexpr uint32_t kMost = 2048; //!< steps; at least half as many of a run longer than
                                            //!< these at their first length

    /// @param series what is sampled, without values
    explicit SeriesSampler(std::vector<Series> series);

    /// The measured iterations begin. Steps are first a kMost-th of what has passed, which is the
    /// warm-up, or 1 us. Totals: of loads and counts all so far, of levels what is there.
    void Begin(Duration now, const std::vector<double>& totals);

    /// When the next sample is due; Max: never.
    Duration Due() const
    {
        return m_due;
    }

    /// Ends a step. Domain: begun; not before the step begins. One without length is none.
    void Take(Duration now, const std::vector<double>& totals);

    /// What was found, from Begin() to the last Take().
    NetworkSeries Result() const;

  private:
    void Halve();

    NetworkSeries m_result;
    std::vector<double> m_totals; //!< at the last sample
    Duration m_step;
    Duration m_due{Duration::Max()};
};

} // namespace scaleacross

#endif // SCALEACROSS_SERIES_SAMPLER_H
