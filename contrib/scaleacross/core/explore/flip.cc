// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/flip.h"

#include "core/explore/explanation.h"
#include "core/explore/model-error.h"

#include <algorithm>
#include <cstdlib>

namespace scaleacross
{

namespace
{

std::optional<double>
PlainNumber(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' ? std::optional<double>(value) : std::nullopt;
}

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

/// Where the difference of the two winners is zero.
std::optional<double>
Crossover(const SweepPoint& a, const SweepPoint& b)
{
    const auto x = PlainNumber(a.value);
    const auto y = PlainNumber(b.value);
    const auto from = Difference(a, *WinnerAt(a), *WinnerAt(b));
    const auto to = Difference(b, *WinnerAt(a), *WinnerAt(b));
    if (!x || !y || !from || !to)
    {
        return std::nullopt;
    }
    return *x + (*y - *x) * *from / (*from - *to);
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
    return point.times.empty() ? std::nullopt : std::optional<Crossing>(point.times.front().first);
}

std::optional<double>
MarginAt(const SweepPoint& point)
{
    if (point.times.size() < 2)
    {
        return std::nullopt;
    }
    return RelativeExcess(point.times[0].second, point.times[1].second);
}

std::vector<Flip>
FlipsOf(const std::vector<SweepPoint>& points)
{
    std::vector<Flip> flips;
    const SweepPoint* before = nullptr;
    for (const auto& point : points)
    {
        const auto winner = WinnerAt(point);
        if (!winner)
        {
            continue;
        }
        if (before != nullptr && *WinnerAt(*before) != *winner)
        {
            flips.push_back({before->value,
                             point.value,
                             *WinnerAt(*before),
                             *winner,
                             Crossover(*before, point),
                             AreToldApartAtEither(*before, point)});
        }
        before = &point;
    }
    return flips;
}

} // namespace scaleacross
