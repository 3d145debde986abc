// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-costs.h"

#include "core/engine/layout-key.h"

namespace scaleacross
{

namespace
{

/// Phases of all layouts together, and of one: more are not kept. With a dozen cuts to each, a
/// kilobyte, this bounds memory to some 100 MB. A layout with unlike buildings has as many as
/// classes times what each does, 128 x 60, which have to be there when the next plan asks for them.
constexpr size_t g_mostPhases = 1U << 17;
constexpr size_t g_mostOfLayout = 1U << 15;
/// Layouts that a plan looks through to count these.
constexpr size_t g_mostLayouts = 64;

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
    if (m_costs.size() >= g_mostOfLayout)
    {
        m_costs.clear();
    }
    m_costs.emplace(placed, cost);
    return cost;
}

size_t
PhaseCosts::Size()
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    return m_costs.size();
}

std::shared_ptr<PhaseCosts>
KnownCosts::Of(const Plan& plan)
{
    std::pair key(CanonicalText({ParallelPlan(), plan.network}), LayoutKey(plan.parallel));
    const std::lock_guard<std::mutex> lock(m_mutex);
    size_t phases = 0;
    for (const auto& [layout, costs] : m_known)
    {
        phases += costs->Size();
    }
    const bool isFull = m_known.size() >= g_mostLayouts && m_known.count(key) == 0;
    if (isFull || phases >= g_mostPhases)
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
