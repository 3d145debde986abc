// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/fluid-network.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

namespace
{

void
Remove(std::vector<uint32_t>& list, uint32_t value)
{
    // Keeps the order, on which the order of equal events depends.
    list.erase(std::find(list.begin(), list.end(), value));
}

} // namespace

FluidNetwork::FluidNetwork(uint32_t classes, uint32_t cuts)
    : m_ports(size_t{classes} * kPorts),
      m_cuts(cuts)
{
}

double
FluidNetwork::Credit(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now) const
{
    const Cut& cut = m_cuts[cost.cut];
    if (!cut.active.empty() || cut.classId != classId || cut.round != round)
    {
        return 0.0;
    }
    const double turns = cost.cutSeconds * (1.0 - 1.0 / std::max(1.0, cost.flows));
    return std::min({(now - cut.end).S(), turns, cut.spread});
}

FluidNetwork::Id
FluidNetwork::Start(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now)
{
    Id id;
    if (m_free.empty())
    {
        id = static_cast<Id>(m_transfers.size());
        m_transfers.emplace_back();
    }
    else
    {
        id = m_free.back();
        m_free.pop_back();
    }
    Transfer& transfer = m_transfers[id];
    transfer = Transfer();
    transfer.cost = &cost;
    transfer.port = classId * kPorts + static_cast<uint32_t>(cost.port);
    transfer.round = round;
    transfer.left = 1.0;
    transfer.since = now;
    transfer.finish = Duration::Max();
    m_ports[transfer.port].push_back(id);
    if (cost.cut != TransferCost::kNoCut)
    {
        transfer.cutSeconds = cost.cutSeconds - Credit(cost, classId, round, now);
        m_cuts[cost.cut].active.push_back(id);
        m_cuts[cost.cut].weight += cost.flows;
    }
    Share(transfer.port, cost.cut, now);
    return id;
}

void
FluidNetwork::Finish(Id id, Duration now)
{
    const uint32_t port = m_transfers[id].port;
    const TransferCost& cost = *m_transfers[id].cost;
    Remove(m_ports[port], id);
    if (cost.cut != TransferCost::kNoCut)
    {
        Cut& cut = m_cuts[cost.cut];
        Remove(cut.active, id);
        cut.weight = cut.active.empty() ? 0.0 : cut.weight - cost.flows;
        Leave(cost, port / kPorts, m_transfers[id].round, now);
    }
    m_free.push_back(id);
    Share(port, cost.cut, now);
}

Duration
FluidNetwork::Pass(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now)
{
    double rate = 1.0 / cost.portSeconds;
    if (cost.cut != TransferCost::kNoCut)
    {
        rate = std::min(rate, 1.0 / (cost.cutSeconds - Credit(cost, classId, round, now)));
    }
    const Duration end = now + Duration::Seconds(1.0 / rate);
    if (cost.cut != TransferCost::kNoCut)
    {
        Leave(cost, classId, round, end);
    }
    return end;
}

void
FluidNetwork::Leave(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now)
{
    Cut& cut = m_cuts[cost.cut];
    const double spread = std::max(0.0, cost.cutSeconds - cost.portSeconds);
    // What sets ranks apart once keeps them apart until they meet.
    const bool same = cut.classId == classId && cut.round == round;
    cut.spread = same ? std::max(cut.spread, spread) : spread;
    cut.classId = classId;
    cut.round = round;
    cut.end = now;
}

void
FluidNetwork::Share(uint32_t port, uint32_t cut, Duration now)
{
    SharePort(port, now);
    if (cut == TransferCost::kNoCut)
    {
        return;
    }
    m_touched.assign(1, port);
    for (const Id id : m_cuts[cut].active)
    {
        const uint32_t other = m_transfers[id].port;
        if (std::find(m_touched.begin(), m_touched.end(), other) == m_touched.end())
        {
            m_touched.push_back(other);
            SharePort(other, now);
        }
    }
}

double
FluidNetwork::CutRate(const Transfer& transfer) const
{
    const TransferCost& cost = *transfer.cost;
    if (cost.cut == TransferCost::kNoCut)
    {
        return std::numeric_limits<double>::infinity();
    }
    return cost.flows / m_cuts[cost.cut].weight / transfer.cutSeconds;
}

void
FluidNetwork::SharePort(uint32_t port, Duration now)
{
    const std::vector<Id>& active = m_ports[port];
    if (active.size() == 1)
    {
        const Transfer& only = m_transfers[active.front()];
        SetRate(active.front(), std::min(CutRate(only), 1.0 / only.cost->portSeconds), now);
        return;
    }
    double free = 1.0;
    size_t left = active.size();
    // Those that their cut holds below an even share first; each leaves more to the rest.
    std::vector<bool>& settled = m_settled;
    settled.assign(active.size(), false);
    for (bool again = true; again && left > 0;)
    {
        again = false;
        for (size_t i = 0; i < active.size(); i++)
        {
            if (settled[i])
            {
                continue;
            }
            const Transfer& transfer = m_transfers[active[i]];
            const double cutRate = CutRate(transfer);
            const double share = cutRate * transfer.cost->portSeconds;
            if (share < free / static_cast<double>(left))
            {
                settled[i] = true;
                again = true;
                free -= share;
                left--;
                SetRate(active[i], cutRate, now);
            }
        }
    }
    for (size_t i = 0; i < active.size(); i++)
    {
        if (!settled[i])
        {
            const double portSeconds = m_transfers[active[i]].cost->portSeconds;
            SetRate(active[i], free / static_cast<double>(left) / portSeconds, now);
        }
    }
}

void
FluidNetwork::SetRate(Id id, double rate, Duration now)
{
    Transfer& transfer = m_transfers[id];
    if (rate == transfer.rate)
    {
        return;
    }
    transfer.left = std::max(0.0, transfer.left - transfer.rate * (now - transfer.since).S());
    transfer.since = now;
    transfer.rate = rate;
    transfer.finish = now + Duration::Seconds(transfer.left / rate);
    m_changed.push_back(id);
}

} // namespace scaleacross
