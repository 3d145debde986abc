// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/series-sampler.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

SeriesSampler::SeriesSampler(std::vector<Series> series)
{
    m_result.series = std::move(series);
}

void
SeriesSampler::Begin(Duration now, const std::vector<double>& totals)
{
    const Duration passed = now / kMost;
    m_step = passed > Duration() ? passed : Duration::Microseconds(1);
    m_result.at = {now};
    m_totals = totals;
    m_due = now + m_step;
}

void
SeriesSampler::Take(Duration now, const std::vector<double>& totals)
{
    if (now == m_result.at.back())
    {
        return;
    }
    for (size_t i = 0; i < totals.size(); i++)
    {
        Series& one = m_result.series[i];
        one.values.push_back(one.kind == SeriesKind::Level ? std::max(m_totals[i], totals[i])
                                                           : totals[i] - m_totals[i]);
    }
    m_totals = totals;
    m_result.at.push_back(now);
    if (m_result.Steps() == kMost)
    {
        Halve();
    }
    m_due = now + m_step;
}

void
SeriesSampler::Halve()
{
    const size_t steps = m_result.Steps();
    const size_t left = (steps + 1) / 2; // the last may stay alone
    for (Series& one : m_result.series)
    {
        for (size_t i = 0; i < left; i++)
        {
            double value = one.values[2 * i];
            if (2 * i + 1 < steps)
            {
                const double next = one.values[2 * i + 1];
                value = one.kind == SeriesKind::Level ? std::max(value, next) : value + next;
            }
            one.values[i] = value;
        }
        one.values.resize(left);
    }
    for (size_t i = 1; i < left; i++)
    {
        m_result.at[i] = m_result.at[2 * i];
    }
    m_result.at[left] = m_result.at[steps];
    m_result.at.resize(left + 1);
    m_step = m_step * 2;
}

NetworkSeries
SeriesSampler::Result() const
{
    NetworkSeries result = m_result;
    result.DropIdle();
    return result;
}

} // namespace scaleacross
