// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

double
EcmpSlowdown(uint64_t flows, uint32_t paths)
{
    if (paths <= 1 || flows == 0)
    {
        return 1.0;
    }
    const double pi = std::acos(-1.0);
    const auto n = static_cast<double>(flows);
    const double m = paths;
    const double mean = n / m;
    const double logSumMass = n * std::log(n) - n - std::lgamma(n + 1); // log P(Poisson(n) = n)
    const double last = std::min(n, mean + 12.0 * std::sqrt(mean) + 24.0);
    double expectedMax = 0.0;
    double cumulative = 0.0; // P(X <= k) and the first two moments of X cut off at k
    double first = 0.0;
    double second = 0.0;
    for (double k = 0.0; k < last; k += 1.0)
    {
        const double mass = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
        cumulative += mass;
        first += k * mass;
        second += k * k * mass;
        // The fullest path holds at least the mean, and a count cut off below it is far in the tail.
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
        expectedMax += 1.0 - std::clamp(within, 0.0, 1.0);
    }
    return std::clamp(expectedMax / mean, 1.0, m);
}

} // namespace scaleacross
