// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/fluid-network.h"

#include "core/base/errors.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

FluidNetwork::FluidNetwork(uint32_t classes, uint32_t cuts)
    : m_rates(classes * kPorts + cuts),
      m_firstCut(classes * kPorts),
      m_leftOut(classes * kPorts + cuts, false)
{
}

FluidNetwork::Id
FluidNetwork::Start(const TransferCost& cost,
                    const TransferPlace& place,
                    Duration now,
                    uint32_t alike)
{
    m_uses.clear();
    for (uint32_t p = 0; p < kPorts; p++)
    {
        const uint32_t owner = IsIncoming(static_cast<Port>(p)) ? place.receiver : place.sender;
        if (cost.ports[p] > 0 && !m_leftOut[owner * kPorts + p])
        {
            m_uses.push_back({owner * kPorts + p, cost.ports[p] * alike});
        }
    }
    for (const CutUse& use : cost.cuts)
    {
        if (!m_leftOut[m_firstCut + use.cut])
        {
            m_uses.push_back({m_firstCut + use.cut, use.demand * alike});
        }
    }
    const double own = cost.OutSeconds();
    const double least = cost.Seconds();
    const double limit = least > 0 ? 1.0 / least : std::numeric_limits<double>::infinity();
    const Id id = m_rates.Add(own > 0 ? 1.0 / own : 1.0, limit, m_uses);
    if (id == m_transfers.size())
    {
        m_transfers.emplace_back();
    }
    m_transfers[id] = {1.0, 0.0, now, Duration::Max()};
    Share(now);
    return id;
}

void
FluidNetwork::Finish(Id id, Duration now)
{
    m_rates.Remove(id);
    Share(now);
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
        SCALEACROSS_INVARIANT(transfer.rate > 0, "a transfer has no share of what it uses");
        transfer.finish = now + Duration::Seconds(transfer.left / transfer.rate);
        m_changed.push_back(id);
    }
    m_rates.Changed().clear();
}

} // namespace scaleacross
