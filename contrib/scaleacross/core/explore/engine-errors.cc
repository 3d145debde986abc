// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/engine-errors.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace scaleacross
{

namespace
{

/// Ranks from 1, of equal values their mean.
std::vector<double>
RanksOf(const std::vector<double>& values)
{
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return values[a] < values[b];
    });
    std::vector<double> ranks(values.size());
    for (size_t begin = 0; begin < order.size();)
    {
        size_t end = begin + 1;
        while (end < order.size() && values[order[end]] == values[order[begin]])
        {
            end++;
        }
        for (size_t i = begin; i < end; i++)
        {
            ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
        }
        begin = end;
    }
    return ranks;
}

/// Pearson's; none where one of them does not vary.
std::optional<double>
CorrelationOf(const std::vector<double>& a, const std::vector<double>& b)
{
    const auto n = static_cast<double>(a.size());
    const double meanA = std::accumulate(a.begin(), a.end(), 0.0) / n;
    const double meanB = std::accumulate(b.begin(), b.end(), 0.0) / n;
    double both = 0;
    double ofA = 0;
    double ofB = 0;
    for (size_t i = 0; i < a.size(); i++)
    {
        both += (a[i] - meanA) * (b[i] - meanB);
        ofA += (a[i] - meanA) * (a[i] - meanA);
        ofB += (b[i] - meanB) * (b[i] - meanB);
    }
    if (ofA <= 0 || ofB <= 0)
    {
        return std::nullopt;
    }
    return both / std::sqrt(ofA * ofB);
}

} // namespace

EngineErrors
ErrorsOf(const std::vector<double>& times, const std::vector<double>& references)
{
    SCALEACROSS_INVARIANT(!times.empty() && times.size() == references.size(),
                          "a time for each reference");
    EngineErrors errors;
    errors.cases = times.size();
    std::vector<double> sizes;
    for (size_t i = 0; i < times.size(); i++)
    {
        const double error = times[i] / references[i] - 1;
        errors.bias += error / static_cast<double>(times.size());
        if (i == 0 || std::abs(error) > std::abs(errors.atWorst))
        {
            errors.worst = i;
            errors.atWorst = error;
        }
        sizes.push_back(std::abs(error));
    }
    std::sort(sizes.begin(), sizes.end());
    const auto quantile = [&](double part) {
        const double rank = std::ceil(part * static_cast<double>(sizes.size()));
        return sizes[static_cast<size_t>(std::max(1.0, rank)) - 1];
    };
    errors.median = quantile(0.5);
    errors.p95 = quantile(0.95);
    return errors;
}

Ordering
OrderingOf(const std::vector<double>& times, const std::vector<double>& references)
{
    SCALEACROSS_INVARIANT(times.size() > 1 && times.size() == references.size(),
                          "a time for each reference of several");
    Ordering ordering;
    ordering.rankCorrelation = CorrelationOf(RanksOf(times), RanksOf(references));
    const auto best = std::min_element(references.begin(), references.end());
    const double ofBest = times[static_cast<size_t>(best - references.begin())];
    ordering.rankOfBest += static_cast<size_t>(
        std::count_if(times.begin(), times.end(), [ofBest](double time) { return time < ofBest; }));
    const auto choice = std::min_element(times.begin(), times.end());
    ordering.regret = references[static_cast<size_t>(choice - times.begin())] / *best - 1;
    return ordering;
}

} // namespace scaleacross
