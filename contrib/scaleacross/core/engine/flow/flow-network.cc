// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-network.h"

#include "core/base/errors.h"
#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

namespace
{

constexpr double kRounding = 1e-9; //!< of rates and shares

/// Never early by more than rounding; the clock is no finer than a picosecond.
Duration
RoundedUp(double seconds)
{
    constexpr double kPart = 1e-3; // of a picosecond
    return Duration::Picoseconds(static_cast<int64_t>(std::ceil(seconds * 1e12 - kPart)));
}

bool
IsOfSeveral(const FlowUse& use)
{
    return use.share > 1.0 + kRounding;
}

} // namespace

FlowNetwork::FlowNetwork(const std::vector<BitRate>& rates)
    : m_rates(static_cast<uint32_t>(rates.size())),
      m_carried(rates.size())
{
    m_queues.resize(rates.size());
    m_sent.resize(rates.size());
    for (const BitRate rate : rates)
    {
        m_bitRates.push_back(rate.Value());
    }
}

void
FlowNetwork::TellApart(const ClassWeights& weights)
{
    m_tellsApart = true;
    m_rates.TellClassesApart({weights.begin(), weights.end()});
}

void
FlowNetwork::LetWait(uint32_t resource, Bytes room, Bytes packet)
{
    if (room == Bytes())
    {
        return;
    }
    Queue& queue = m_queues[resource];
    queue.room = static_cast<double>(room.Count()) * 8.0 / m_bitRates[resource];
    queue.packet = static_cast<double>(packet.Count()) * 8.0 / m_bitRates[resource];
    m_rates.LetWait(resource);
}

uint32_t
FlowNetwork::AddLink(BitRate rate)
{
    m_bitRates.push_back(rate.Value());
    m_carried.push_back(0);
    m_sent.push_back(0);
    m_queues.emplace_back();
    return m_rates.AddResource();
}

uint32_t
FlowNetwork::AddBundle(BitRate rate, uint32_t links, Multipath multipath)
{
    const uint32_t resource = AddLink(rate);
    Bundle& bundle = m_bundles[resource];
    bundle.links = links;
    bundle.multipath = multipath;
    return resource;
}

FlowNetwork::Id
FlowNetwork::Start(double bits,
                   double carried,
                   double weight,
                   BitRate limit,
                   const std::vector<FlowUse>& uses,
                   Duration now,
                   uint32_t trafficClass)
{
    SCALEACROSS_INVARIANT(bits > 0, "a flow without a volume");
    m_scratch.clear();
    for (const FlowUse& use : uses)
    {
        m_scratch.push_back({use.resource, use.share / m_bitRates[use.resource]});
    }
    const Id id = m_rates.Add(weight, limit.Value(), m_scratch, trafficClass);
    if (id == m_flows.size())
    {
        m_flows.emplace_back();
    }
    Flow& flow = m_flows[id];
    flow.bits = flow.left = bits;
    flow.rate = 0;
    flow.carried = carried;
    flow.since = now;
    flow.finish = Duration::Max();
    flow.there = true;
    flow.uses = uses;
    Count(flow.uses, 1.0);
    for (const FlowUse& use : uses)
    {
        m_queues[use.resource].alike += IsOfSeveral(use) ? 1 : 0;
    }
    return id;
}

Duration
FlowNetwork::Finish(Id id, Duration now)
{
    Flow& flow = m_flows[id];
    SCALEACROSS_INVARIANT(flow.there && flow.finish == now, "a flow ends before it is through");
    Duration wait;
    for (const FlowUse& use : flow.uses)
    {
        m_carried[use.resource] += flow.carried * use.share;
        m_sent[use.resource] += flow.bits * use.share;
        wait = std::max(wait, WaitOf(use, now));
    }
    flow.there = false;
    m_rates.Remove(id);
    if (wait == Duration())
    {
        Count(flow.uses, -1.0);
    }
    else
    {
        m_departing.push({now + wait, std::move(flow.uses)});
    }
    return wait;
}

/// How long the last bit of a flow waits at a resource, which leaves its sender now.
Duration
FlowNetwork::WaitOf(const FlowUse& use, Duration now)
{
    Queue& queue = m_queues[use.resource];
    if (queue.room == 0)
    {
        return Duration();
    }
    Touch(use.resource, now);
    if (queue.ended != now)
    {
        queue.ended = now;
        queue.behind = EndingOn(use.resource, now);
    }
    queue.behind -= queue.behind > 0 ? 1 : 0; // none, if rounding has it end just after the others
    queue.alike -= IsOfSeveral(use) ? 1 : 0;
    const double ahead = queue.waiting - queue.behind * queue.packet;
    if (ahead <= 0)
    {
        return Duration();
    }
    m_orderDecides = m_orderDecides || queue.behind > 0;
    return Duration::Seconds(ahead / queue.capacity);
}

Duration
FlowNetwork::WaitNow(const std::vector<FlowUse>& uses, Duration now) const
{
    double wait = 0;
    for (const FlowUse& use : uses)
    {
        const Queue& queue = m_queues[use.resource];
        wait = std::max(wait, queue.room > 0 ? WaitingAt(queue, now) / queue.capacity : 0.0);
    }
    return Duration::Seconds(wait);
}

/// Flows over this resource whose last bit leaves the sender now.
uint32_t
FlowNetwork::EndingOn(uint32_t resource, Duration now) const
{
    uint32_t ending = 0;
    m_rates.ForFlowsOf(resource, [&](Id id) { ending += m_flows[id].finish == now ? 1 : 0; });
    return ending;
}

double
FlowNetwork::WaitingAt(const Queue& queue, Duration now)
{
    const double more = (queue.load - queue.capacity) * (now - queue.since).S();
    return queue.full ? queue.room : std::clamp(queue.waiting + more, 0.0, queue.room);
}

/// What comes to a resource that has room, or leaves it, is about to change.
void
FlowNetwork::Touch(uint32_t resource, Duration now)
{
    Queue& queue = m_queues[resource];
    queue.waiting = WaitingAt(queue, now);
    queue.since = now;
    if (!queue.touched)
    {
        queue.touched = true;
        m_touched.push_back(resource);
    }
}

Duration
FlowNetwork::NextChange() const
{
    const Duration departs = m_departing.empty() ? Duration::Max() : m_departing.top().at;
    return m_fills.Empty() ? departs : std::min(departs, m_fills.Earliest().at);
}

/// Looks where there is no room left, or some again. True if rates change by that.
bool
FlowNetwork::Settle(Duration now)
{
    bool changes = false;
    for (const uint32_t resource : m_touched)
    {
        changes = Settle(resource, now) || changes;
    }
    m_touched.clear();
    return changes;
}

bool
FlowNetwork::Settle(uint32_t resource, Duration now)
{
    Queue& queue = m_queues[resource];
    queue.touched = false;
    queue.load = m_rates.Load(resource);
    m_fills.Remove(resource);
    if (queue.full)
    {
        if (queue.load < queue.capacity * (1.0 - kRounding))
        {
            queue.full = false; // it holds nobody back
            m_rates.SetCapacity(resource, MaxMin::kUnlimited);
        }
        return false;
    }
    if (queue.load <= queue.capacity * (1.0 + kRounding))
    {
        return false;
    }
    m_orderDecides = m_orderDecides || queue.alike > 0;
    const double seconds = (queue.room - queue.waiting) / (queue.load - queue.capacity);
    constexpr double kNever = 1e6; // s, longer than any iteration
    const Duration fills = RoundedUp(std::min(seconds, kNever));
    if (fills > Duration())
    {
        m_fills.Set(resource, {now + fills, resource});
        return false;
    }
    queue.full = true;
    m_rates.SetCapacity(resource, queue.capacity);
    return true;
}

void
FlowNetwork::Count(const std::vector<FlowUse>& uses, double sign)
{
    for (const FlowUse& use : uses)
    {
        if (use.pairs == 0)
        {
            continue; // no bundle, or nothing that chooses
        }
        Bundle& bundle = m_bundles.at(use.resource);
        bool counts = true;
        if (use.group != FlowUse::kNoGroup)
        {
            uint32_t& there = bundle.groups[use.group];
            counts = sign > 0 ? there++ == 0 : --there == 0;
        }
        if (counts)
        {
            bundle.connections += sign * use.connections;
            bundle.pairs += sign * use.pairs;
        }
        if (!bundle.changed)
        {
            bundle.changed = true;
            m_recounted.push_back(use.resource);
        }
    }
}

double
FlowNetwork::SlowdownOf(const Bundle& bundle)
{
    // Sums of shares are whole numbers but for rounding; the slowdown is smooth between them.
    const double connections = std::max(1.0, std::round(bundle.connections));
    const double pairs = std::max(connections, std::round(bundle.pairs));
    const bool byPair = bundle.multipath->owner == PathOwner::QueuePair;
    const auto flows = static_cast<uint64_t>(byPair ? pairs : connections);
    const auto [found, isNew] = m_slowdowns.try_emplace({flows, bundle.links}, 1.0);
    if (isNew)
    {
        found->second =
            PathSlowdown(bundle.multipath, static_cast<double>(flows), 1.0, bundle.links);
    }
    return found->second;
}

void
FlowNetwork::Share(Duration now)
{
    while (!m_departing.empty() && m_departing.top().at <= now)
    {
        Count(m_departing.top().uses, -1.0);
        m_departing.pop();
    }
    for (const uint32_t resource : m_recounted)
    {
        Bundle& bundle = m_bundles.at(resource);
        bundle.changed = false;
        const double capacity = 1.0 / SlowdownOf(bundle);
        Queue& queue = m_queues[resource];
        if (queue.room > 0)
        {
            Touch(resource, now);
            queue.capacity = capacity;
        }
        if (queue.room == 0 || queue.full)
        {
            m_rates.SetCapacity(resource, capacity);
        }
    }
    m_recounted.clear();
    while (!m_fills.Empty() && m_fills.Earliest().at <= now)
    {
        const uint32_t resource = m_fills.First();
        m_fills.Remove(resource);
        Touch(resource, now);
    }
    m_changed.clear();
    do
    {
        m_rates.Solve();
        TakeRates(now);
    } while (Settle(now));
}

/// What the last Solve() has changed.
void
FlowNetwork::TakeRates(Duration now)
{
    for (const MaxMin::Flow id : m_rates.Changed())
    {
        Flow& flow = m_flows[id];
        const double rate = m_rates.Rate(id);
        if (!flow.there || rate == flow.rate)
        {
            continue; // gone, or there twice
        }
        SCALEACROSS_INVARIANT(rate > 0 || m_tellsApart, "a flow does not move");
        for (const FlowUse& use : flow.uses)
        {
            if (m_queues[use.resource].room > 0)
            {
                Touch(use.resource, now);
            }
        }
        flow.left = Left(id, now);
        flow.since = now;
        flow.rate = rate;
        m_changed.push_back(id);
        if (rate == 0)
        {
            flow.finish = Duration::Max(); // as long as other classes go before
            continue;
        }
        flow.finish = now + RoundedUp(std::max(0.0, flow.left / rate));
    }
    m_rates.Changed().clear();
}

std::vector<double>
FlowNetwork::Carried(Duration now) const
{
    std::vector<double> carried = m_carried;
    std::vector<double> sent = m_sent;
    for (Id id = 0; id < m_flows.size(); id++)
    {
        const Flow& flow = m_flows[id];
        if (flow.there)
        {
            const double left = Left(id, now);
            for (const FlowUse& use : flow.uses)
            {
                carried[use.resource] += flow.carried * use.share * (1.0 - left / flow.bits);
                sent[use.resource] += use.share * (flow.bits - left);
            }
        }
    }
    for (size_t r = 0; r < carried.size(); r++)
    {
        if (m_queues[r].room > 0 && sent[r] > 0)
        {
            const double waiting = WaitingAt(m_queues[r], now) * m_bitRates[r];
            carried[r] *= std::max(0.0, 1.0 - waiting / sent[r]);
        }
    }
    return carried;
}

} // namespace scaleacross
