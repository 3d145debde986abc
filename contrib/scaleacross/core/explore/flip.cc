// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/flip.h"

#include "core/explore/explanation.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <string>

namespace scaleacross
{

namespace
{

/// How much longer the best plan of crossing `a` takes than that of `b`, in seconds.
std::optional<double>
Difference(const SweepPoint& point, const Crossing& a, const Crossing& b)
{
    std::optional<Duration> ofA;
    std::optional<Duration> ofB;
    for (const auto& [crossing, time] : point.times)
    {
        if (crossing == a)
        {
            ofA = time;
        }
        if (crossing == b)
        {
            ofB = time;
        }
    }
    return ofA && ofB ? std::optional<double>(ofA->S() - ofB->S()) : std::nullopt;
}

/// A point, and where it lies.
struct Placed
{
    const SweepPoint* point;
    double number;
};

/// Where the difference of the two winners is zero.
std::optional<double>
Crossover(const Placed& a, const Placed& b)
{
    const auto from = Difference(*a.point, *WinnerAt(*a.point), *WinnerAt(*b.point));
    const auto to = Difference(*b.point, *WinnerAt(*a.point), *WinnerAt(*b.point));
    if (!from || !to)
    {
        return std::nullopt;
    }
    return a.number + (b.number - a.number) * *from / (*from - *to);
}

std::optional<bool>
AreToldApartAtEither(const SweepPoint& a, const SweepPoint& b)
{
    // None is less than any probability.
    const auto surest = std::max(a.probability, b.probability);
    return surest ? std::optional<bool>(*surest >= kSure) : std::nullopt;
}

} // namespace

std::optional<Crossing>
WinnerAt(const SweepPoint& point)
{
    return point.times.empty() || !point.crosses
               ? std::nullopt
               : std::optional<Crossing>(point.times.front().first);
}

std::optional<double>
MarginAt(const SweepPoint& point)
{
    if (point.times.size() < 2 || !point.crosses)
    {
        return std::nullopt;
    }
    return RelativeExcess(point.times[0].second, point.times[1].second);
}

std::vector<Flip>
FlipsOf(const std::vector<SweepPoint>& points)
{
    std::vector<std::string> values;
    for (const SweepPoint& point : points)
    {
        values.push_back(point.value);
    }
    const auto scale = ScaleOf(values);
    if (!scale)
    {
        return {};
    }
    std::vector<Placed> placed; // those that have a winner
    for (size_t i = 0; i < points.size(); i++)
    {
        if (WinnerAt(points[i]))
        {
            placed.push_back({&points[i], scale->numbers[i]});
        }
    }
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return a.number < b.number;
    });
    std::vector<Flip> flips;
    for (size_t i = 1; i < placed.size(); i++)
    {
        const SweepPoint& before = *placed[i - 1].point;
        const SweepPoint& after = *placed[i].point;
        if (*WinnerAt(before) != *WinnerAt(after))
        {
            flips.push_back({before.value,
                             after.value,
                             *WinnerAt(before),
                             *WinnerAt(after),
                             Crossover(placed[i - 1], placed[i]),
                             *scale,
                             AreToldApartAtEither(before, after)});
        }
    }
    return flips;
}

} // namespace scaleacross
