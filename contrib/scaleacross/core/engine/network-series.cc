// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/network-series.h"

#include <algorithm>

namespace scaleacross
{

bool
Series::IsIdle() const
{
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

void
NetworkSeries::Spread(Series& load, double bytes, Duration begin, Duration end) const
{
    if (at.empty() || end < at.front() || begin >= at.back() || (end == at.front() && begin < end))
    {
        return;
    }
    const Duration step = at[1] - at[0];
    const Duration from = std::max(begin, at.front());
    auto i = static_cast<size_t>((from - at.front()).Ps() / step.Ps());
    if (begin == end)
    {
        load.values[i] += bytes;
        return;
    }
    const double perPicosecond = bytes / static_cast<double>((end - begin).Ps());
    for (; i < Steps() && at[i] < end; i++)
    {
        const Duration own = std::min(end, at[i + 1]) - std::max(begin, at[i]);
        load.values[i] += perPicosecond * static_cast<double>(own.Ps());
    }
}

void
NetworkSeries::DropIdle()
{
    series.erase(std::remove_if(series.begin(),
                                series.end(),
                                [](const Series& one) { return one.IsIdle(); }),
                 series.end());
}

} // namespace scaleacross
