// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// Of as many switches as there are, a chance that is none.
constexpr double kCertain = 1e-12;

using Series = std::vector<double>; //!< coefficients of a power series, cut off at some degree

/// How many flows are on the fullest of paths.
struct Fullest
{
    uint64_t least{0};          //!< it has at least these
    std::vector<double> within; //!< P(max <= least + index), rising to 1
    double mean{0};
};

/// One path has the mean at least.
uint64_t
LeastOf(uint64_t flows, uint32_t paths)
{
    return (flows + paths - 1) / paths;
}

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
Fullest
FullestExact(uint32_t n, uint32_t m)
{
    const double scale =
        std::exp(std::lgamma(n + 1.0) - static_cast<double>(n) * std::log(static_cast<double>(m)));
    Fullest fullest;
    fullest.least = LeastOf(n, m);
    for (uint64_t k = fullest.least; k < n; k++)
    {
        Series factor(n + 1, 0.0);
        for (uint64_t j = 0; j <= k; j++)
        {
            factor[j] = std::exp(-std::lgamma(static_cast<double>(j) + 1.0));
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
        fullest.within.push_back(std::clamp(power[n] * scale, 0.0, 1.0));
    }
    return fullest;
}

/// Of two paths: k at most on either, n - k at least.
Fullest
FullestOfTwo(uint64_t flows)
{
    const auto n = static_cast<double>(flows);
    Fullest fullest;
    fullest.least = LeastOf(flows, 2);
    double within = 0.0;
    for (auto k = static_cast<double>(fullest.least); k < n && within < 1.0 - kCertain; k += 1.0)
    {
        const double mass = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) -
                                     std::lgamma(n - k + 1) - n * std::log(2.0));
        within += k == n - k ? mass : 2.0 * mass;
        fullest.within.push_back(std::min(1.0, within));
    }
    return fullest;
}

/// By Levin's representation, or by Mallows' bound where that is lower.
Fullest
FullestOfMany(uint64_t flows, uint32_t paths)
{
    const auto n = static_cast<double>(flows);
    const double m = paths;
    const double mean = n / m;
    const double reach = 12.0 * std::sqrt(mean) + 24.0; // beyond which nothing is
    const double last = std::min(n, mean + reach);
    Fullest fullest;
    fullest.least = LeastOf(flows, paths);
    double cumulative = 0.0; // P(X <= k) and the first two moments of X cut off at k
    double first = 0.0;
    double second = 0.0;
    double onOne = 0.0; // P(at most k are on a path)
    for (double k = std::max(0.0, std::floor(mean - reach)); k < last; k += 1.0)
    {
        const double mass = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
        cumulative += mass;
        first += k * mass;
        second += k * k * mass;
        onOne += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                          k * std::log(m) + (n - k) * std::log1p(-1.0 / m));
        if (k < static_cast<double>(fullest.least))
        {
            continue;
        }
        const double cutMean = first / cumulative;
        const double variance = m * (second / cumulative - cutMean * cutMean);
        const double off = n - m * cutMean;
        const double levin = variance <= 0.0 ? 0.0
                                             : std::pow(cumulative, m) * std::sqrt(n / variance) *
                                                   std::exp(-0.5 * off * off / variance);
        const double within = std::min({levin, std::pow(onOne, m), 1.0});
        if (within < kCertain && fullest.within.empty())
        {
            fullest.least = static_cast<uint64_t>(k) + 1;
            continue;
        }
        fullest.within.push_back(within);
        if (within > 1.0 - kCertain)
        {
            break;
        }
    }
    return fullest;
}

/// Up to here the exact sum costs microseconds, from here on the normal density is good.
constexpr uint64_t kExactFlows = 32;

/// Domain: there are flows, and more paths than one.
std::shared_ptr<const Fullest>
FullestOf(uint64_t flows, uint32_t paths)
{
    // The plans of a search ask for the same ones again and again, at microseconds each, from
    // threads that come and go.
    constexpr size_t most = 1U << 16;
    static std::shared_mutex mutex;
    static std::map<std::pair<uint64_t, uint32_t>, std::shared_ptr<const Fullest>> table;
    {
        const std::shared_lock<std::shared_mutex> lock(mutex);
        const auto known = table.find({flows, paths});
        if (known != table.end())
        {
            return known->second;
        }
    }
    const auto fullest = std::make_shared<Fullest>(
        flows <= kExactFlows ? FullestExact(static_cast<uint32_t>(flows), paths)
        : paths == 2         ? FullestOfTwo(flows)
                             : FullestOfMany(flows, paths));
    fullest->mean = static_cast<double>(fullest->least);
    for (const double chance : fullest->within)
    {
        fullest->mean += 1.0 - chance;
    }
    const std::unique_lock<std::shared_mutex> lock(mutex);
    if (table.size() < most)
    {
        table.emplace(std::make_pair(flows, paths), fullest);
    }
    return fullest;
}

/// One of HashedLinks.
struct Links
{
    std::shared_ptr<const Fullest> fullest;
    double flow{0}; //!< seconds that a link takes for one
    double switches{1};
    size_t index{0}; //!< the fullest link has `index` flows more than it has at least

    double Least() const
    {
        return flow * static_cast<double>(fullest->least);
    }

    /// When the fullest is through if it has one more.
    double Next() const
    {
        return index < fullest->within.size()
                   ? flow * static_cast<double>(fullest->least + index + 1)
                   : std::numeric_limits<double>::infinity();
    }

    /// That all of these are through.
    double Chance() const
    {
        return index < fullest->within.size() ? std::pow(fullest->within[index], switches) : 1.0;
    }
};

} // namespace

double
EcmpSlowdown(uint64_t flows, uint32_t paths)
{
    if (paths <= 1 || flows == 0)
    {
        return 1.0;
    }
    return FullestOf(flows, paths)->mean * paths / static_cast<double>(flows);
}

double
FullestSeconds(const std::vector<HashedLinks>& sets)
{
    std::vector<Links> all;
    double time = 0; // before which none of them all is through
    for (const HashedLinks& set : sets)
    {
        if (set.paths <= 1 || set.flows == 0)
        {
            time = std::max(time, set.wire);
            continue;
        }
        const auto fullest = FullestOf(set.flows, set.paths);
        const double flow = set.wire * set.paths / static_cast<double>(set.flows);
        const auto alike = std::find_if(all.begin(), all.end(), [&](const Links& links) {
            return links.fullest == fullest && links.flow == flow;
        });
        if (alike != all.end())
        {
            alike->switches += set.switches;
            continue;
        }
        all.push_back({fullest, flow, set.switches});
        time = std::max(time, all.back().Least());
    }
    double expected = time;
    while (true)
    {
        double chance = 1.0;
        double next = std::numeric_limits<double>::infinity();
        for (Links& links : all)
        {
            while (links.Next() <= time)
            {
                links.index++;
            }
            chance *= links.Chance();
            next = std::min(next, links.Next());
        }
        if (chance > 1.0 - kCertain || std::isinf(next))
        {
            return expected;
        }
        expected += (1.0 - chance) * (next - time);
        time = next;
    }
}

uint64_t
HashedFlows(Multipath multipath, double connections, double pairs)
{
    if (multipath->IsSprayed() || multipath->owner == PathOwner::Destination)
    {
        return 0;
    }
    return static_cast<uint64_t>(std::ceil(
        connections * (multipath->owner == PathOwner::NicPair ? std::min(1.0, pairs) : pairs)));
}

double
PathSlowdown(Multipath multipath, double connections, double pairs, uint32_t paths)
{
    if (multipath->owner == PathOwner::Destination)
    {
        const double flows = std::ceil(connections * std::min(1.0, pairs));
        const double most = std::ceil(flows / paths);
        return flows <= 0 || paths <= 1 ? 1.0 : std::clamp(most * paths / flows, 1.0, 1.0 * paths);
    }
    return EcmpSlowdown(HashedFlows(multipath, connections, pairs), paths);
}

} // namespace scaleacross
