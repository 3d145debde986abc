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
    /// Load: the part of the capacity that events leave in each step; empty: all of it.
    std::vector<double> left;

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

    /// Bytes that a load may be in a step. Domain: a load.
    double RoomOf(const Series& load, uint32_t step) const
    {
        const double left = load.left.empty() ? 1.0 : load.left[step];
        return load.capacity.Value() * left / 8.0 * (at[step + 1] - at[step]).S();
    }

    /// Share of its capacity, as far as events leave it, that a load is in a step. Where others
    /// take a part of links in the mean, and less in a step, no more than 1. Domain: a load.
    double ShareOf(const Series& load, uint32_t step) const
    {
        const double bytes = load.values[step];
        const double room = RoomOf(load, step);
        return load.left.empty() ? bytes / room
               : bytes < room    ? bytes / room
               : bytes > 0       ? 1.0
                                 : 0.0;
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
