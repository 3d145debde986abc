// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Series = std::vector<double>; //!< coefficients of a power series, cut off at some degree

Series
Multiply(const Series& a, const Series& b)
{
    Series product(a.size(), 0.0);
    for (size_t i = 0; i < a.size(); i++)
    {
        for (size_t j = 0; i + j < a.size(); j++)
        {
            product[i + j] += a[i] * b[j];
        }
    }
    return product;
}

/// Exactly: P(max <= k) = n! / m^n [x^n] (sum over j <= k of x^j / j!)^m.
double
ExpectedMaxExact(uint32_t n, uint32_t m)
{
    const double scale =
        std::exp(std::lgamma(n + 1.0) - static_cast<double>(n) * std::log(static_cast<double>(m)));
    double expected = 0.0;
    for (uint32_t k = 0; k < n; k++)
    {
        Series factor(n + 1, 0.0);
        for (uint32_t j = 0; j <= k; j++)
        {
            factor[j] = std::exp(-std::lgamma(j + 1.0));
        }
        Series power(n + 1, 0.0);
        power[0] = 1.0;
        for (uint32_t rest = m; rest > 0; rest /= 2)
        {
            if (rest % 2 == 1)
            {
                power = Multiply(power, factor);
            }
            factor = Multiply(factor, factor);
        }
        const double beyond = 1.0 - power[n] * scale;
        if (beyond < 1e-9)
        {
            break;
        }
        expected += beyond;
    }
    return expected;
}

/// By Levin's representation.
double
ExpectedMax(double n, double m)
{
    const double pi = std::acos(-1.0);
    const double mean = n / m;
    const double logSumMass = n * std::log(n) - n - std::lgamma(n + 1); // log P(Poisson(n) = n)
    const double last = std::min(n, mean + 12.0 * std::sqrt(mean) + 24.0);
    double expected = 0.0;
    double cumulative = 0.0; // P(X <= k) and the first two moments of X cut off at k
    double first = 0.0;
    double second = 0.0;
    for (double k = 0.0; k < last; k += 1.0)
    {
        const double mass = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
        cumulative += mass;
        first += k * mass;
        second += k * k * mass;
        // The fullest path holds at least the mean, and a count cut off below it is far in the
        // tail.
        double within = 0.0;
        if (k >= mean && cumulative > 0.0)
        {
            const double cutMean = first / cumulative;
            const double variance = m * (second / cumulative - cutMean * cutMean);
            const double off = n - m * cutMean;
            within = variance <= 0.0 ? 0.0
                                     : std::exp(m * std::log(cumulative) - logSumMass -
                                                0.5 * off * off / variance -
                                                0.5 * std::log(2.0 * pi * variance));
        }
        expected += 1.0 - std::clamp(within, 0.0, 1.0);
    }
    return expected;
}

/// Up to here the exact sum costs microseconds, from here on the normal density is good.
constexpr uint64_t kExactFlows = 32;

double
Slowdown(uint64_t flows, uint32_t paths)
{
    const double n = static_cast<double>(flows);
    const double most = flows <= kExactFlows ? ExpectedMaxExact(static_cast<uint32_t>(flows), paths)
                                             : ExpectedMax(n, paths);
    return std::clamp(most * paths / n, 1.0, static_cast<double>(paths));
}

} // namespace

double
EcmpSlowdown(uint64_t flows, uint32_t paths)
{
    if (paths <= 1 || flows == 0)
    {
        return 1.0;
    }

    // The plans of a search ask for the same values again and again, at microseconds each, from
    // threads that come and go.
    constexpr size_t most = 1U << 16;
    static std::shared_mutex mutex;
    static std::map<std::pair<uint64_t, uint32_t>, double> table;
    {
        const std::shared_lock<std::shared_mutex> lock(mutex);
        const auto known = table.find({flows, paths});
        if (known != table.end())
        {
            return known->second;
        }
    }
    const double slowdown = Slowdown(flows, paths);
    const std::unique_lock<std::shared_mutex> lock(mutex);
    if (table.size() < most)
    {
        table.emplace(std::make_pair(flows, paths), slowdown);
    }
    return slowdown;
}

double
PathSlowdown(Multipath multipath, double connections, double pairs, uint32_t paths)
{
    if (multipath->IsSprayed())
    {
        return 1.0;
    }
    if (multipath->owner == PathOwner::Destination)
    {
        const double flows = std::ceil(connections * std::min(1.0, pairs));
        const double most = std::ceil(flows / paths);
        return flows <= 0 || paths <= 1 ? 1.0 : std::clamp(most * paths / flows, 1.0, 1.0 * paths);
    }
    const double hashed =
        connections * (multipath->owner == PathOwner::NicPair ? std::min(1.0, pairs) : pairs);
    return EcmpSlowdown(static_cast<uint64_t>(std::ceil(hashed)), paths);
}

} // namespace scaleacross
