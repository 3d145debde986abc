// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLIP_H
#define SCALEACROSS_FLIP_H

#include "core/base/units.h"
#include "core/explore/sweep-scale.h"
#include "core/spec/parallel-plan.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// The best plan of each crossing at one value of a sweep; no time where no plan of it can run.
struct SweepPoint
{
    std::string value;
    std::vector<std::pair<Crossing, Duration>> times; //!< fastest first
    /// How likely it is that the first is faster than the second (model-error.h); none where the
    /// engine's times were not set beside measured ones.
    std::optional<double> probability{1};
    /// Whether the best plan sends anything between buildings: where nothing crosses no placement
    /// wins, and the crossing is only the order of ranks.
    bool crosses{true};
};

/// Where the better crossing changes between two neighbouring values of a sweep.
struct Flip
{
    std::string before;
    std::string after;
    Crossing from{Crossing::Data};
    Crossing to{Crossing::Data};
    /// Where the two times meet if both ran straight from one value to the next, in the unit of the
    /// scale; none where one of them is missing on a side.
    std::optional<double> about;
    SweepScale scale; //!< of the values of the sweep
    /// On one side at least the two are told apart (kSure); else the flip is no finding. None where
    /// no side's probability is known.
    std::optional<bool> toldApart;
};

/// The best crossing at a point, if any plan ran and something crosses.
std::optional<Crossing> WinnerAt(const SweepPoint& point);

/// How much longer the best plan of the worse crossing takes; none if only one crossing ran or
/// nothing crosses.
std::optional<double> MarginAt(const SweepPoint& point);

/// From the least value to the greatest, in whatever order they were swept. None between categories
/// (ScaleOf), which are no neighbours.
std::vector<Flip> FlipsOf(const std::vector<SweepPoint>& points);

} // namespace scaleacross

#endif // SCALEACROSS_FLIP_H
