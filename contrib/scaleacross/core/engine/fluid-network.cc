// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/fluid-network.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace scaleacross
{

FluidNetwork::FluidNetwork(uint32_t classes, uint32_t cuts)
    : m_rates(classes * kPorts + cuts),
      m_firstCut(classes * kPorts),
      m_leftOut(classes * kPorts + cuts, false),
      m_cuts(cuts),
      m_traces(size_t{classes} * cuts)
{
    m_rates.KeepOrder();
}

void
FluidNetwork::TellApart(const ClassWeights& weights)
{
    m_tellsApart = true;
    m_rates.TellClassesApart({weights.begin(), weights.end()});
    for (uint32_t resource = 0; resource < m_firstCut; resource++)
    {
        if (!IsNic(static_cast<Port>(resource % kPorts)))
        {
            m_rates.ServeAlike(resource);
        }
    }
}

/// Of a transfer that takes longer than a day of a cut that it takes a day.
uint64_t
FluidNetwork::UnitsOf(double seconds)
{
    constexpr double kDay = 86400;
    return static_cast<uint64_t>(std::llround(std::min(seconds, kDay) * kCutUnits));
}

uint64_t
FluidNetwork::UsedOf(uint32_t cut, Duration now) const
{
    uint64_t used = m_cuts[cut].done;
    for (const Id id : m_cuts[cut].active)
    {
        const Transfer& transfer = m_transfers[id];
        const double left = transfer.left - transfer.rate * (now - transfer.since).S();
        for (const MaxMin::Use& use : transfer.onCuts)
        {
            used += use.resource == m_firstCut + cut ? UnitsOf(use.demand * (1.0 - left)) : 0;
        }
    }
    return used;
}

double
FluidNetwork::TurnsOfOthers(const CutUse& use, const TransferPlace& place)
{
    return 1.0 - 1.0 / std::max(1.0, std::min(use.flows, place.parties));
}

double
FluidNetwork::Queue(const TransferCost& cost, const CutUse& use, const TransferPlace& place)
{
    return std::min(std::max(0.0, use.seconds - cost.PortSeconds()),
                    use.seconds * TurnsOfOthers(use, place));
}

double
FluidNetwork::HeadStart(const CutUse& use, const TransferPlace& place, Duration now)
{
    const Trace& trace = TraceOf(place.sender, use.cut);
    if (place.parties <= 1 || trace.round != place.round || trace.spread <= 0)
    {
        return 0.0;
    }
    const double used = static_cast<double>(UsedOf(use.cut, now) - trace.used) / kCutUnits;
    const double idle = (now - trace.end).S() - used;
    return std::clamp(idle, 0.0, trace.spread);
}

FluidNetwork::Id
FluidNetwork::Start(const TransferCost& cost,
                    const TransferPlace& place,
                    Duration now,
                    uint32_t alike,
                    double held)
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
    const size_t ports = m_uses.size();
    double least = cost.PortSeconds();
    for (const CutUse& use : cost.cuts)
    {
        if (m_leftOut[m_firstCut + use.cut])
        {
            continue;
        }
        const double turns = TurnsOfOthers(use, place);
        const double ahead = std::min(HeadStart(use, place, now), alike * Queue(cost, use, place));
        const double demand = use.demand * alike;
        const double taken = std::min(ahead, demand * turns);
        m_cuts[use.cut].done += UnitsOf(taken);
        m_uses.push_back({m_firstCut + use.cut, demand - taken});
        least = std::max(least, use.seconds - std::min(ahead / alike, use.seconds * turns));
    }
    least = std::max(least, held) + cost.extra;
    const double own = cost.OutSeconds();
    const double limit = least > 0 ? 1.0 / least : std::numeric_limits<double>::infinity();
    const Id id = m_rates.Add(own > 0 ? 1.0 / own : 1.0,
                              limit,
                              m_uses,
                              m_tellsApart ? place.trafficClass : 0,
                              now.Ps(),
                              place.sender);
    if (id == m_transfers.size())
    {
        m_transfers.emplace_back();
    }
    Transfer& transfer = m_transfers[id];
    transfer.cost = &cost;
    transfer.place = place;
    transfer.alike = alike;
    transfer.left = 1.0;
    transfer.rate = 0;
    transfer.since = now;
    transfer.finish = Duration::Max();
    transfer.onCuts.assign(m_uses.begin() + static_cast<std::ptrdiff_t>(ports), m_uses.end());
    for (const MaxMin::Use& use : transfer.onCuts)
    {
        m_cuts[use.resource - m_firstCut].active.push_back(id);
    }
    Share(now);
    return id;
}

void
FluidNetwork::Finish(Id id, Duration now)
{
    const Transfer& transfer = m_transfers[id];
    Tell(transfer, transfer.left, now);
    for (const MaxMin::Use& use : transfer.onCuts)
    {
        Cut& cut = m_cuts[use.resource - m_firstCut];
        cut.done += UnitsOf(use.demand);
        cut.active.erase(std::find(cut.active.begin(), cut.active.end(), id));
    }
    for (const CutUse& use : transfer.cost->cuts)
    {
        if (!m_leftOut[m_firstCut + use.cut])
        {
            Leave(transfer, use, now);
        }
    }
    m_rates.Remove(id);
    Share(now);
}

void
FluidNetwork::Leave(const Transfer& transfer, const CutUse& use, Duration now)
{
    const TransferPlace& place = transfer.place;
    Trace& trace = TraceOf(place.sender, use.cut);
    if (place.parties <= 1)
    {
        trace.round = UINT32_MAX; // the ranks have met
        return;
    }
    const double spread = transfer.alike * Queue(*transfer.cost, use, place);
    // What sets ranks apart once keeps them apart until they meet.
    trace.spread = trace.round == place.round ? std::max(trace.spread, spread) : spread;
    trace.round = place.round;
    trace.end = now;
    trace.used = trace.spread > 0 ? UsedOf(use.cut, now) : 0;
}

void
FluidNetwork::Describe(Id id, Duration now, StateWords& words) const
{
    const Transfer& transfer = m_transfers[id];
    words.AddAddress(transfer.cost);
    words.Add(uint64_t{transfer.place.sender});
    words.Add(uint64_t{transfer.place.receiver});
    words.Add(uint64_t{transfer.place.round});
    words.Add(transfer.place.parties);
    words.Add(uint64_t{transfer.alike});
    words.Add(transfer.left);
    words.Add(transfer.rate);
    words.Add(now - transfer.since);
    words.Add(transfer.finish == Duration::Max() ? transfer.finish : transfer.finish - now);
    m_rates.Describe(id, words);
}

void
FluidNetwork::DescribeTrace(uint32_t sender,
                            uint32_t cut,
                            uint32_t round,
                            Duration now,
                            StateWords& words) const
{
    const Trace& trace = m_traces[size_t{sender} * m_cuts.size() + cut];
    if (trace.round != round || trace.spread <= 0)
    {
        words.Add(uint64_t{0}); // the next one has no head start
        return;
    }
    words.Add(uint64_t{1});
    words.Add(now - trace.end);
    words.Add(UsedOf(cut, now) - trace.used);
    words.Add(trace.spread);
}

void
FluidNetwork::Delay(Id id, Duration by)
{
    Transfer& transfer = m_transfers[id];
    m_rates.Delay(id, by.Ps());
    transfer.since += by;
    transfer.finish += transfer.finish == Duration::Max() ? Duration() : by;
}

void
FluidNetwork::DelayTrace(uint32_t sender, uint32_t cut, Duration by, uint64_t used)
{
    Trace& trace = TraceOf(sender, cut);
    trace.end += by;
    trace.used += used;
}

void
FluidNetwork::Tell(const Transfer& transfer, double volume, Duration now)
{
    if (m_moved != nullptr && volume > 0)
    {
        m_moved->push_back(
            {transfer.cost, transfer.place, volume * transfer.alike, transfer.since, now});
    }
}

void
FluidNetwork::Share(Duration now)
{
    m_rates.Solve();
    for (const Id id : m_rates.Changed())
    {
        Transfer& transfer = m_transfers[id];
        const double left =
            std::max(0.0, transfer.left - transfer.rate * (now - transfer.since).S());
        Tell(transfer, transfer.left - left, now);
        transfer.left = left;
        transfer.since = now;
        transfer.rate = m_rates.Rate(id);
        SCALEACROSS_INVARIANT(transfer.rate > 0 || m_tellsApart,
                              "a transfer has no share of what it uses");
        transfer.finish = transfer.rate > 0 ? now + Duration::Seconds(transfer.left / transfer.rate)
                                            : Duration::Max();
        m_changed.push_back(id);
    }
    m_rates.Changed().clear();
}

} // namespace scaleacross
