// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/partition.h"

#include <algorithm>
#include <limits>

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

    template <class Join>
    void Fill(uint32_t parts, const PartCost& cost, const Join& join)
    {
        for (uint32_t i = 1; i <= parts; i++)
        {
            for (uint32_t end = i; end + (parts - i) <= m_items; end++)
            {
                for (uint32_t first = i - 1; first < end; first++)
                {
                    const double before = At(i - 1, first);
                    if (before == kImpossible)
                    {
                        continue;
                    }
                    const double value = join(before, cost(i - 1, first, end));
                    if (value < At(i, end))
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
    uint32_t m_items;
    std::vector<double> m_best;
    std::vector<uint32_t> m_begin;
};

/// Sums that the first i weights reach within their limits, by i.
std::vector<std::vector<uint8_t>>
Reachable(uint32_t total,
          const std::vector<uint32_t>& weights,
          uint32_t least,
          const std::vector<uint32_t>& most)
{
    std::vector<std::vector<uint8_t>> reachable(weights.size() + 1,
                                                std::vector<uint8_t>(total + 1, 0));
    reachable[0][0] = 1;
    for (size_t i = 0; i < weights.size(); i++)
    {
        const uint64_t step = uint64_t{weights[i]} * least;
        const uint64_t steps = most[i] / least;
        for (uint64_t origin = 0; origin < step && origin <= total; origin++)
        {
            // Along one residue: the last sum before from which at most `steps` steps lead here.
            int64_t last = -1;
            for (uint64_t sum = origin, n = 0; sum <= total; sum += step, n++)
            {
                if (last >= 0 && n - static_cast<uint64_t>(last) <= steps)
                {
                    reachable[i + 1][sum] = 1; // at least one step
                }
                if (reachable[i][sum] != 0)
                {
                    last = static_cast<int64_t>(n);
                }
            }
        }
    }
    return reachable;
}

} // namespace

std::vector<uint32_t>
Partition(uint32_t items, uint32_t parts, const PartCost& cost)
{
    Cuts greatest(items, parts);
    greatest.Fill(parts, cost, [](double before, double own) { return std::max(before, own); });
    // Sums of floating point numbers may differ in their last digits by where they begin.
    const double limit = greatest.At(parts, items) * (1 + 1e-12);
    Cuts squares(items, parts);
    squares.Fill(parts, cost, [limit](double before, double own) {
        return own > limit ? kImpossible : before + own * own;
    });
    return squares.Ends(parts);
}

std::vector<uint32_t>
DealOut(uint32_t total,
        const std::vector<uint32_t>& weights,
        uint32_t least,
        const std::function<double(uint32_t i, uint32_t n)>& cost)
{
    const auto count = static_cast<uint32_t>(weights.size());
    const auto mostUnder = [&](double limit) {
        std::vector<uint32_t> most;
        for (uint32_t i = 0; i < count; i++)
        {
            // The greatest multiple of `least` within the limit, by bisection.
            uint32_t fits = 0;
            for (uint32_t above = total / weights[i] / least + 1; above - fits > 1;)
            {
                const uint32_t middle = fits + (above - fits) / 2;
                (cost(i, middle * least) <= limit ? fits : above) = middle;
            }
            most.push_back(fits * least);
        }
        return most;
    };
    const auto reaches = [&](const std::vector<uint32_t>& most) {
        return Reachable(total, weights, least, most)[count][total] != 0;
    };
    double enough = 0;
    for (uint32_t i = 0; i < count; i++)
    {
        enough = std::max(enough, cost(i, total / weights[i]));
    }
    if (count == 0 || !reaches(mostUnder(enough)))
    {
        return {};
    }
    double tooLittle = 0;
    while (enough - tooLittle > 1e-12 * enough)
    {
        const double middle = (tooLittle + enough) / 2;
        (reaches(mostUnder(middle)) ? enough : tooLittle) = middle;
    }
    const auto most = mostUnder(enough);
    const auto reachable = Reachable(total, weights, least, most);
    std::vector<uint32_t> numbers(count);
    uint32_t left = total;
    for (uint32_t i = count; i > 0; i--)
    {
        uint32_t n = least;
        while (reachable[i - 1][left - n * weights[i - 1]] == 0)
        {
            n += least;
        }
        numbers[i - 1] = n;
        left -= n * weights[i - 1];
    }
    return numbers;
}

} // namespace scaleacross
