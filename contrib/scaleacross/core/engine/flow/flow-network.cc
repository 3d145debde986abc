// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/flow-network.h"

#include "core/base/errors.h"
#include "core/topology/ecmp-collision.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

FlowNetwork::FlowNetwork(const std::vector<BitRate>& rates)
    : m_rates(static_cast<uint32_t>(rates.size())),
      m_carried(rates.size())
{
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

uint32_t
FlowNetwork::AddLink(BitRate rate)
{
    m_bitRates.push_back(rate.Value());
    m_carried.push_back(0);
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
    flow.limit = limit.Value();
    flow.carried = carried;
    flow.since = now;
    flow.finish = Duration::Max();
    flow.there = true;
    flow.uses = uses;
    Count(flow, 1.0);
    return id;
}

void
FlowNetwork::Finish(Id id, Duration now)
{
    Flow& flow = m_flows[id];
    SCALEACROSS_INVARIANT(flow.there && flow.finish == now, "a flow ends before it is through");
    for (const FlowUse& use : flow.uses)
    {
        m_carried[use.resource] += flow.carried * use.share;
    }
    Count(flow, -1.0);
    flow.there = false;
    m_rates.Remove(id);
}

void
FlowNetwork::Count(const Flow& flow, double sign)
{
    for (const FlowUse& use : flow.uses)
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
    for (const uint32_t resource : m_recounted)
    {
        Bundle& bundle = m_bundles.at(resource);
        bundle.changed = false;
        m_rates.SetCapacity(resource, 1.0 / SlowdownOf(bundle));
    }
    m_recounted.clear();
    m_changed.clear();
    m_rates.Solve();
    for (const MaxMin::Flow id : m_rates.Changed())
    {
        Flow& flow = m_flows[id];
        const double rate = m_rates.Rate(id);
        if (!flow.there || rate == flow.rate)
        {
            continue; // gone, or there twice
        }
        SCALEACROSS_INVARIANT(rate > 0 || m_tellsApart, "a flow does not move");
        flow.left = Left(id, now);
        flow.since = now;
        flow.rate = rate;
        m_changed.push_back(id);
        if (rate == 0)
        {
            flow.finish = Duration::Max(); // as long as other classes go before
            continue;
        }
        // Never early by more than rounding; the clock is no finer than a picosecond.
        constexpr double kPart = 1e-3; // of a picosecond
        const double ps = std::ceil(flow.left / rate * 1e12 - kPart);
        flow.finish = now + Duration::Picoseconds(static_cast<int64_t>(std::max(0.0, ps)));
    }
    m_rates.Changed().clear();
}

std::vector<double>
FlowNetwork::Carried(Duration now) const
{
    std::vector<double> carried = m_carried;
    for (Id id = 0; id < m_flows.size(); id++)
    {
        const Flow& flow = m_flows[id];
        if (flow.there)
        {
            const double left = Left(id, now);
            for (const FlowUse& use : flow.uses)
            {
                carried[use.resource] += flow.carried * use.share * (1.0 - left / flow.bits);
            }
        }
    }
    return carried;
}

} // namespace scaleacross
