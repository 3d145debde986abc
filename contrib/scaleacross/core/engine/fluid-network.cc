// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/fluid-network.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

FluidNetwork::FluidNetwork(uint32_t classes, uint32_t cuts)
    : m_rates(classes * kPorts + cuts),
      m_firstCut(classes * kPorts),
      m_cuts(cuts)
{
}

double
FluidNetwork::Credit(const CutUse& use,
                     double seconds,
                     const TransferPlace& place,
                     Duration now) const
{
    const Cut& cut = m_cuts[use.cut];
    if (!place.staggered || cut.active > 0 || cut.sender != place.sender ||
        cut.round != place.round)
    {
        return 0.0;
    }
    const double turns = seconds * (1.0 - 1.0 / std::max(1.0, use.flows));
    return std::min({(now - cut.end).S(), turns, cut.spread});
}

FluidNetwork::Id
FluidNetwork::Start(const TransferCost& cost, const TransferPlace& place, Duration now)
{
    m_uses.clear();
    for (uint32_t p = 0; p < kPorts; p++)
    {
        if (cost.ports[p] > 0)
        {
            const uint32_t owner = IsIncoming(static_cast<Port>(p)) ? place.receiver : place.sender;
            m_uses.push_back({owner * kPorts + p, cost.ports[p]});
        }
    }
    double least = cost.least;
    for (const CutUse& use : cost.cuts)
    {
        m_uses.push_back({m_firstCut + use.cut, use.demand - Credit(use, use.demand, place, now)});
        least = std::max(least, use.seconds - Credit(use, use.seconds, place, now));
        m_cuts[use.cut].active++;
    }
    const double own = cost.OutSeconds();
    const double limit = least > 0 ? 1.0 / least : std::numeric_limits<double>::infinity();
    const Id id = m_rates.Add(own > 0 ? 1.0 / own : 1.0, limit, m_uses);
    if (id == m_transfers.size())
    {
        m_transfers.emplace_back();
    }
    Transfer& transfer = m_transfers[id];
    transfer = Transfer();
    transfer.cost = &cost;
    transfer.place = place;
    transfer.left = 1.0;
    transfer.since = now;
    transfer.finish = Duration::Max();
    Share(now);
    return id;
}

void
FluidNetwork::Finish(Id id, Duration now)
{
    const Transfer& transfer = m_transfers[id];
    for (const CutUse& use : transfer.cost->cuts)
    {
        m_cuts[use.cut].active--;
        Leave(transfer, use, now);
    }
    m_rates.Remove(id);
    Share(now);
}

void
FluidNetwork::Leave(const Transfer& transfer, const CutUse& use, Duration now)
{
    Cut& cut = m_cuts[use.cut];
    const TransferPlace& place = transfer.place;
    cut.end = now;
    if (!place.staggered)
    {
        cut.sender = UINT32_MAX;
        return;
    }
    const double spread = std::max(0.0, use.seconds - transfer.cost->PortSeconds());
    // What sets ranks apart once keeps them apart until they meet.
    const bool same = cut.sender == place.sender && cut.round == place.round;
    cut.spread = same ? std::max(cut.spread, spread) : spread;
    cut.sender = place.sender;
    cut.round = place.round;
}

void
FluidNetwork::Share(Duration now)
{
    m_rates.Solve();
    for (const Id id : m_rates.Changed())
    {
        Transfer& transfer = m_transfers[id];
        transfer.left = std::max(0.0, transfer.left - transfer.rate * (now - transfer.since).S());
        transfer.since = now;
        transfer.rate = m_rates.Rate(id);
        transfer.finish = now + Duration::Seconds(transfer.left / transfer.rate);
        m_changed.push_back(id);
    }
    m_rates.Changed().clear();
}

} // namespace scaleacross
