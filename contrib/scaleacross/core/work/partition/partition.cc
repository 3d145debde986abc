// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/partition.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// Best value over all ways to cut the first j items into i parts; join(before, cost of the last).
class Cuts
{
  public:
    Cuts(uint32_t items, uint32_t parts)
        : m_items(items),
          m_best((parts + 1) * (items + 1), kImpossible),
          m_begin((parts + 1) * (items + 1), 0)
    {
        At(0, 0) = 0;
    }

    /// Parts that cost more than `most` are left out, and with them all that are longer.
    template <class Join>
    void Fill(uint32_t parts, const PartCost& cost, double most, const Join& join)
    {
        const std::vector<Range> reach = ReachOf(parts, cost, most);
        for (uint32_t i = 1; i <= parts; i++)
        {
            for (uint32_t end = reach[i].least; end <= reach[i].most; end++)
            {
                for (uint32_t first = std::min(end - 1, reach[i - 1].most) + 1;
                     first-- > reach[i - 1].least;)
                {
                    const double own = cost(i - 1, first, end);
                    if (own > most)
                    {
                        break;
                    }
                    const double before = At(i - 1, first);
                    if (before == kImpossible)
                    {
                        continue;
                    }
                    const double value = join(before, own);
                    // Of equal ones, that with the earliest beginning.
                    if (value <= At(i, end))
                    {
                        At(i, end) = value;
                        m_begin[i * (m_items + 1) + end] = first;
                    }
                }
            }
        }
    }

    double& At(uint32_t parts, uint32_t items)
    {
        return m_best[parts * (m_items + 1) + items];
    }

    std::vector<uint32_t> Ends(uint32_t parts) const
    {
        std::vector<uint32_t> ends(parts);
        uint32_t end = m_items;
        for (uint32_t i = parts; i > 0; i--)
        {
            ends[i - 1] = end;
            end = m_begin[i * (m_items + 1) + end];
        }
        return ends;
    }

  private:
    struct Range
    {
        uint32_t least{0};
        uint32_t most{0};
    };

    /// Where the first i parts may end, by i: with the longest parts before it, and behind it, that
    /// cost no more than `most`. Longer parts cost no less.
    std::vector<Range> ReachOf(uint32_t parts, const PartCost& cost, double most) const
    {
        std::vector<Range> reach(parts + 1);
        for (uint32_t i = 1; i <= parts; i++)
        {
            const uint32_t first = reach[i - 1].most;
            uint32_t& end = reach[i].most;
            end = first;
            while (end + (parts - i) < m_items && cost(i - 1, first, end + 1) <= most)
            {
                end++;
            }
        }
        reach[parts].least = m_items;
        for (uint32_t i = parts; i-- > 0;)
        {
            const uint32_t end = reach[i + 1].least;
            uint32_t& first = reach[i].least;
            first = end;
            while (first > i && cost(i, first - 1, end) <= most)
            {
                first--;
            }
        }
        reach[0].least = 0;
        return reach;
    }

    uint32_t m_items;
    std::vector<double> m_best;
    std::vector<uint32_t> m_begin;
};

/// A set of the whole numbers from 0 to a greatest one, 64 to a word.
class Sums
{
  public:
    explicit Sums(uint32_t greatest)
        : m_words(greatest / 64 + 1, 0)
    {
    }

    bool Has(uint64_t sum) const
    {
        return sum / 64 < m_words.size() && (m_words[sum / 64] >> sum % 64 & 1) != 0;
    }

    void Put(uint64_t sum)
    {
        m_words[sum / 64] |= uint64_t{1} << sum % 64;
    }

    /// What every number becomes by adding `by`; what goes beyond the end is lost.
    Sums Plus(uint64_t by) const
    {
        Sums sums = *this;
        const size_t words = static_cast<size_t>(std::min<uint64_t>(by / 64, m_words.size()));
        const uint64_t bits = by % 64;
        for (size_t i = m_words.size(); i-- > 0;)
        {
            uint64_t word = i >= words ? m_words[i - words] << bits : 0;
            if (bits > 0 && i > words)
            {
                word |= m_words[i - words - 1] >> (64 - bits);
            }
            sums.m_words[i] = word;
        }
        return sums;
    }

    void Add(const Sums& others)
    {
        for (size_t i = 0; i < m_words.size(); i++)
        {
            m_words[i] |= others.m_words[i];
        }
    }

  private:
    std::vector<uint64_t> m_words;
};

/// Sums that the first i weights reach, each taken at least once and at most as often as it may, by
/// i. Taken up to m times more, m = 1 + 2 + 4 + ... + rest: each term is taken or not.
std::vector<Sums>
Reachable(uint32_t total, const std::vector<uint32_t>& weights, const std::vector<uint32_t>& most)
{
    std::vector<Sums> reachable(1, Sums(total));
    reachable[0].Put(0);
    for (size_t i = 0; i < weights.size(); i++)
    {
        Sums sums = most[i] > 0 ? reachable[i].Plus(weights[i]) : Sums(total);
        uint64_t more = most[i] > 0 ? std::min(most[i] - 1, total / weights[i]) : 0;
        for (uint64_t term = 1; more > 0; more -= term, term *= 2)
        {
            term = std::min(term, more);
            sums.Add(sums.Plus(term * weights[i]));
        }
        reachable.push_back(std::move(sums));
    }
    return reachable;
}

} // namespace

std::vector<uint32_t>
Partition(uint32_t items, uint32_t parts, const PartCost& cost)
{
    // No best cut has a part that costs more than the dearest of any other cut.
    double most = 0;
    for (uint32_t i = 0; i < parts; i++)
    {
        most = std::max(most,
                        cost(i,
                             static_cast<uint32_t>(uint64_t{items} * i / parts),
                             static_cast<uint32_t>(uint64_t{items} * (i + 1) / parts)));
    }
    Cuts greatest(items, parts);
    greatest.Fill(parts, cost, most, [](double before, double own) {
        return std::max(before, own);
    });
    // Sums of floating point numbers may differ in their last digits by where they begin.
    const double limit = greatest.At(parts, items) * (1 + 1e-12);
    Cuts squares(items, parts);
    squares.Fill(parts, cost, limit, [](double before, double own) { return before + own * own; });
    return squares.Ends(parts);
}

std::vector<uint32_t>
DealOut(uint32_t total,
        const std::vector<uint32_t>& weights,
        uint32_t least,
        const std::function<double(uint32_t i, uint32_t n)>& cost)
{
    const auto count = static_cast<uint32_t>(weights.size());
    // All sums are multiples of what the weights have in common: in units of that there are fewer.
    uint32_t common = 0;
    for (const uint32_t weight : weights)
    {
        common = std::gcd(common, weight);
    }
    if (count == 0 || total % (uint64_t{common} * least) != 0)
    {
        return {};
    }
    const auto units = static_cast<uint32_t>(total / (uint64_t{common} * least));
    std::vector<uint32_t> steps; // units for `least` more, by number
    for (const uint32_t weight : weights)
    {
        steps.push_back(weight / common);
    }
    const auto mostUnder = [&](double limit) {
        std::vector<uint32_t> most; // in steps
        for (uint32_t i = 0; i < count; i++)
        {
            // The greatest multiple of `least` within the limit, by bisection.
            uint32_t fits = 0;
            for (uint32_t above = total / weights[i] / least + 1; above - fits > 1;)
            {
                const uint32_t middle = fits + (above - fits) / 2;
                (cost(i, middle * least) <= limit ? fits : above) = middle;
            }
            most.push_back(fits);
        }
        return most;
    };
    const auto reaches = [&](const std::vector<uint32_t>& most) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < count; i++)
        {
            sum += uint64_t{most[i]} * steps[i];
        }
        return sum >= units && Reachable(units, steps, most)[count].Has(units);
    };
    double enough = 0;
    for (uint32_t i = 0; i < count; i++)
    {
        enough = std::max(enough, cost(i, total / weights[i]));
    }
    if (!reaches(mostUnder(enough)))
    {
        return {};
    }
    double tooLittle = 0;
    while (enough - tooLittle > 1e-12 * enough)
    {
        const double middle = (tooLittle + enough) / 2;
        (reaches(mostUnder(middle)) ? enough : tooLittle) = middle;
    }
    const auto reachable = Reachable(units, steps, mostUnder(enough));
    std::vector<uint32_t> numbers(count);
    uint64_t left = units;
    for (uint32_t i = count; i > 0; i--)
    {
        uint32_t n = 1;
        while (!reachable[i - 1].Has(left - uint64_t{n} * steps[i - 1]))
        {
            n++;
        }
        numbers[i - 1] = n * least;
        left -= uint64_t{n} * steps[i - 1];
    }
    return numbers;
}

} // namespace scaleacross
