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
Append(const std::vector<Duration>& durations, std::vector<int64_t>& key)
{
    for (const Duration duration : durations)
    {
        key.push_back(duration.Ps());
    }
}

void
Append(const std::vector<PassTimes>& passes, std::vector<int64_t>& key)
{
    for (const PassTimes& pass : passes)
    {
        key.insert(key.end(),
                   {pass.forward.Ps(), pass.inputGradient.Ps(), pass.weightGradient.Ps()});
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
        Append(shape.times->passes, key.second);
        Append(shape.times->hops, key.second);
        Append(shape.times->holds, key.second);
    }
    return key;
}

/// Of one shape all keys have times of equally many positions, and pairs or none.
KnownReplays::Key
KnownReplays::KeyOf(const PipelineShape& shape, const ReplayTimes& times)
{
    Key key = KeyOf(shape);
    Append(times.passes, key.second);
    Append(times.hops, key.second);
    Append(times.pairs, key.second);
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

template <class Value, class Find>
Value
KnownReplays::Known(std::map<Key, Value>& known, Key key, const Find& find) const
{
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto entry = known.find(key);
        if (entry != known.end())
        {
            return entry->second;
        }
    }
    const Value found = find();
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    if (known.size() >= g_mostReplayed)
    {
        known.clear();
    }
    known.emplace(std::move(key), found);
    return found;
}

ReplayedPasses
KnownReplays::Of(const PipelineShape& shape, const ReplayTimes& times) const
{
    return Known(m_replayed, KeyOf(shape, times), [&] {
        return ReplayPasses(shape, *OrdersOf(shape), times);
    });
}

double
KnownReplays::Of(const PipelineShape& shape,
                 const ReplayTimes& times,
                 const PassWindow& window) const
{
    Key key = KeyOf(shape, times);
    key.second.insert(key.second.end(), {window.position, window.left.Ps()});
    Append(window.weights, key.second);
    Append(window.backwards, key.second);
    return Known(m_windows, std::move(key), [&] {
        return ReplayWindow(shape, *OrdersOf(shape), times, window);
    });
}

} // namespace scaleacross
