// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/flip.h"

#include "core/explore/explanation.h"

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

/// PP-out less DP-out, in seconds: its zero is where the placement flips.
double
Difference(const SweepPoint& point)
{
    return point.pipeline->S() - point.data->S();
}

std::optional<double>
Crossover(const SweepPoint& a, const SweepPoint& b)
{
    const auto x = PlainNumber(a.value);
    const auto y = PlainNumber(b.value);
    if (!x || !y || !a.data || !a.pipeline || !b.data || !b.pipeline)
    {
        return std::nullopt;
    }
    const double from = Difference(a);
    const double to = Difference(b);
    return *x + (*y - *x) * from / (from - to);
}

} // namespace

std::optional<Crossing>
WinnerAt(const SweepPoint& point)
{
    if (!point.data && !point.pipeline)
    {
        return std::nullopt;
    }
    const bool pipeline = point.pipeline && (!point.data || *point.pipeline < *point.data);
    return pipeline ? Crossing::Pipeline : Crossing::Data;
}

std::optional<double>
MarginAt(const SweepPoint& point)
{
    if (!point.data || !point.pipeline)
    {
        return std::nullopt;
    }
    return RelativeExcess(std::min(*point.data, *point.pipeline),
                          std::max(*point.data, *point.pipeline));
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
            const auto margin = MarginAt(*before);
            const auto next = MarginAt(point);
            flips.push_back({before->value,
                             point.value,
                             *WinnerAt(*before),
                             *winner,
                             Crossover(*before, point),
                             margin && next && *margin < kModelError && *next < kModelError});
        }
        before = &point;
    }
    return flips;
}

} // namespace scaleacross
