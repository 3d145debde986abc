// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NETWORK_SERIES_H
#define SCALEACROSS_NETWORK_SERIES_H

#include "core/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// What the values of a series are.
enum class SeriesKind : uint8_t
{
    Load,  //!< bytes that passed in a step
    Count, //!< how often something happened in a step
    Level, //!< bytes that are somewhere: the most that was found in a step
};

/// A figure of the network in time, a value for each step.
struct Series
{
    std::string name; //!< of a load as ResourceReport::name
    SeriesKind kind{SeriesKind::Load};
    BitRate capacity;   //!< Load: of all links of that name together, as they were built
    bool shared{false}; //!< Load: by ranks; else they are ports of one
    std::vector<double> values;

    /// Whether it is nothing all the time.
    bool IsIdle() const;
};

/**
 * Figures of the network in steps that follow each other. Step i is from at[i] to at[i + 1].
 *
 * Worked case: a link of 400 Gb/s with 25,000 bytes in a step of 1 us was in use for 0.5 us, a load
 * of a half.
 */
struct NetworkSeries
{
    std::vector<Duration> at; //!< ascending, one more than there are steps; empty: none
    std::vector<Series> series;

    uint32_t Steps() const
    {
        return at.empty() ? 0 : static_cast<uint32_t>(at.size() - 1);
    }

    /// Share of its capacity that a load is in a step. Domain: a load.
    double ShareOf(const Series& load, uint32_t step) const
    {
        return load.values[step] * 8.0 / load.capacity.Value() / (at[step + 1] - at[step]).S();
    }

    /// Leaves out those that are idle.
    void DropIdle();

    /// Adds to a load what has passed evenly from `begin` to `end`, as far as these are in its
    /// steps; at once if they are the same. Domain: begin <= end, steps of equal length but for the
    /// last.
    void Spread(Series& load, double bytes, Duration begin, Duration end) const;
};

} // namespace scaleacross

#endif // SCALEACROSS_NETWORK_SERIES_H
