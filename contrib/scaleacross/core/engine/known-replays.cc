// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/known-replays.h"

#include <mutex>

namespace scaleacross
{

namespace
{

/// More are not kept: bounds memory to some 100 MB.
constexpr size_t g_mostActions = size_t{1} << 23;
constexpr size_t g_mostReplayed = size_t{1} << 14;

void
Append(const PipelineTimes& times, std::vector<int64_t>& key)
{
    for (size_t i = 0; i < times.passes.size(); i++)
    {
        const PassTimes& pass = times.passes[i];
        key.insert(key.end(),
                   {pass.forward.Ps(),
                    pass.inputGradient.Ps(),
                    pass.weightGradient.Ps(),
                    i < times.hops.size() ? times.hops[i].Ps() : 0,
                    i < times.holds.size() ? times.holds[i].Ps() : 0});
    }
}

} // namespace

/// What orders depend on: of a schedule that is made for times, these too.
KnownReplays::Key
KnownReplays::KeyOf(const PipelineShape& shape)
{
    Key key{shape.schedule->Name(),
            {shape.ranks, shape.microbatches, shape.chunks, shape.round, shape.inFlight}};
    if (shape.times)
    {
        Append(*shape.times, key.second);
    }
    return key;
}

std::shared_ptr<const PipelineOrders>
KnownReplays::OrdersOf(const PipelineShape& shape) const
{
    Key key = KeyOf(shape);
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_orders.find(key);
        if (known != m_orders.end())
        {
            return known->second;
        }
    }
    auto orders = std::make_shared<const PipelineOrders>(shape.schedule->Orders(shape));
    size_t actions = 0;
    for (const std::vector<PipelineAction>& order : *orders)
    {
        actions += order.size();
    }
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    if (m_actions + actions > g_mostActions)
    {
        m_orders.clear();
        m_actions = 0;
    }
    m_actions += m_orders.emplace(std::move(key), orders).second ? actions : 0;
    return orders;
}

ReplayedPasses
KnownReplays::Of(const PipelineShape& shape, const PipelineTimes& times) const
{
    Key key = KeyOf(shape);
    Append(times, key.second);
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_replayed.find(key);
        if (known != m_replayed.end())
        {
            return known->second;
        }
    }
    const ReplayedPasses replayed = ReplayPasses(shape, *OrdersOf(shape), times);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    if (m_replayed.size() >= g_mostReplayed)
    {
        m_replayed.clear();
    }
    m_replayed.emplace(std::move(key), replayed);
    return replayed;
}

} // namespace scaleacross
