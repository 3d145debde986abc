// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-costs.h"

#include "core/engine/layout-key.h"

namespace scaleacross
{

namespace
{

/// More are not kept: with a dozen cuts to each, a kilobyte, this bounds memory to some 100 MB.
constexpr size_t g_mostLayouts = 64;
constexpr size_t g_mostPhases = 2048;

} // namespace

bool
operator==(const RankCount& a, const RankCount& b)
{
    return a.one == b.one && a.ranks == b.ranks;
}

bool
operator==(const PlacedPhase& a, const PlacedPhase& b)
{
    return a.representative == b.representative && a.phase == b.phase && a.members == b.members;
}

size_t
PhaseCosts::Hash::operator()(const PlacedPhase& placed) const
{
    // What tells most of them apart.
    uint64_t hash = static_cast<uint64_t>(placed.phase.pattern);
    const auto add = [&hash](uint64_t value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    };
    add(placed.phase.bytes.Count());
    add(placed.phase.shift);
    add(placed.phase.lane);
    add(placed.representative);
    for (const RankGroup::Axis& axis : placed.phase.group.Axes())
    {
        add(axis.stride);
        add(axis.count);
    }
    return hash;
}

TransferCost
PhaseCosts::Of(const PlacedPhase& placed, const std::function<TransferCost()>& find)
{
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        const auto known = m_costs.find(placed);
        if (known != m_costs.end())
        {
            return known->second;
        }
    }
    TransferCost cost = find();
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (m_costs.size() >= g_mostPhases)
    {
        m_costs.clear();
    }
    m_costs.emplace(placed, cost);
    return cost;
}

std::shared_ptr<PhaseCosts>
KnownCosts::Of(const Plan& plan)
{
    std::pair key(CanonicalText({ParallelPlan(), plan.network}), LayoutKey(plan.parallel));
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (m_known.size() >= g_mostLayouts && m_known.count(key) == 0)
    {
        m_known.clear();
    }
    std::shared_ptr<PhaseCosts>& costs = m_known[std::move(key)];
    if (!costs)
    {
        costs = std::make_shared<PhaseCosts>();
    }
    return costs;
}

} // namespace scaleacross
