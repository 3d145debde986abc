// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/chunk-partition.h"

#include <algorithm>
#include <array>
#include <optional>

namespace scaleacross
{

namespace
{

/// What is made least, in this order.
using Value = std::array<double, 3>;

/// Whether one is less than another by more than the last digits of sums.
bool
IsLess(const Value& a, const Value& b)
{
    for (size_t i = 0; i < a.size(); i++)
    {
        const double near = 1e-12 * std::max(a[i], b[i]);
        if (a[i] < b[i] - near || b[i] < a[i] - near)
        {
            return a[i] < b[i];
        }
    }
    return false;
}

class Descent
{
  public:
    Descent(const std::vector<uint32_t>& rankOf, const PartCost& cost)
        : m_rankOf(rankOf),
          m_cost(cost),
          m_ranks(*std::max_element(rankOf.begin(), rankOf.end()) + 1)
    {
    }

    Value ValueOf(const std::vector<uint32_t>& ends)
    {
        m_sums.assign(m_ranks, 0.0);
        Value value{};
        for (uint32_t i = 0; i < ends.size(); i++)
        {
            const double own = m_cost(i, i == 0 ? 0 : ends[i - 1], ends[i]);
            m_sums[m_rankOf[i]] += own;
            value[2] = std::max(value[2], own);
        }
        for (const double sum : m_sums)
        {
            value[0] = std::max(value[0], sum);
        }
        for (const double sum : m_sums)
        {
            value[1] += sum >= value[0] * (1 - 1e-9) ? 1 : 0;
        }
        return value;
    }

    /// The best that one item more on another rank makes, of the rank that has most; none: nothing
    /// is better.
    std::optional<std::vector<uint32_t>> Better(const std::vector<uint32_t>& ends)
    {
        Value least = ValueOf(ends);
        const auto dearest =
            static_cast<uint32_t>(std::max_element(m_sums.begin(), m_sums.end()) - m_sums.begin());
        std::optional<std::vector<uint32_t>> best;
        for (uint32_t from = 0; from < ends.size(); from++)
        {
            const uint32_t items = ends[from] - (from == 0 ? 0 : ends[from - 1]);
            for (uint32_t to = 0; m_rankOf[from] == dearest && items > 1 && to < ends.size(); to++)
            {
                if (m_rankOf[to] == dearest)
                {
                    continue;
                }
                // All between the two begin an item later, or earlier.
                std::vector<uint32_t> moved = ends;
                for (uint32_t i = std::min(from, to); i < std::max(from, to); i++)
                {
                    moved[i] += from < to ? -1 : 1;
                }
                const Value value = ValueOf(moved);
                if (IsLess(value, least))
                {
                    least = value;
                    best = std::move(moved);
                }
            }
        }
        return best;
    }

  private:
    const std::vector<uint32_t>& m_rankOf;
    const PartCost& m_cost;
    uint32_t m_ranks;
    std::vector<double> m_sums; //!< by rank, of the last that was asked for
};

} // namespace

std::vector<uint32_t>
PartitionOverRanks(const std::vector<std::vector<uint32_t>>& begins,
                   const std::vector<uint32_t>& rankOf,
                   const PartCost& cost)
{
    Descent descent(rankOf, cost);
    std::vector<uint32_t> best = begins.front();
    for (std::vector<uint32_t> ends : begins)
    {
        while (const auto better = descent.Better(ends))
        {
            ends = *better;
        }
        if (IsLess(descent.ValueOf(ends), descent.ValueOf(best)))
        {
            best = std::move(ends);
        }
    }
    return best;
}

} // namespace scaleacross
