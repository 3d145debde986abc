// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/parts-left.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/event-target.h"
#include "core/topology/graph-names.h"
#include "core/topology/packet-remedy.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace scaleacross
{

namespace
{

/// When the event holds: from the first to before the second.
struct Spell
{
    Duration begin;
    Duration end;
};

std::vector<Spell>
SpellsOf(const EventSpec& event)
{
    if (event.kind->change != EventChange::Flaps)
    {
        return {{event.at, event.until > Duration() ? event.until : Duration::Max()}};
    }
    std::vector<Spell> spells;
    for (uint32_t i = 0; i < event.count; i++)
    {
        const Duration begin = event.at + event.period * i;
        spells.push_back({begin, begin + event.down});
    }
    return spells;
}

/// Adds what an event does to a link while it holds.
void
Apply(const EventSpec& event, LinkParts& parts)
{
    switch (event.kind->change)
    {
    case EventChange::Slows:
        parts.left *= event.factor;
        break;
    case EventChange::Shares:
        parts.others += event.load;
        break;
    case EventChange::Fails:
    case EventChange::Flaps:
        parts.left = 0;
        break;
    }
}

} // namespace

std::vector<LinkParts>
PartsLeft(const ClusterSpec& cluster,
          const std::vector<EventSpec>& events,
          const FabricGraph& graph,
          const std::string& engine)
{
    std::vector<LinkParts> parts(graph.links.size());
    std::vector<size_t> last(graph.links.size(), 0); // of the events by which others load it
    for (size_t i = 0; i < events.size(); i++)
    {
        const EventSpec& event = events[i];
        const std::string where = PlaceOf(events, i);
        if (!event.IsConstant())
        {
            throw ConfigError(where,
                              "a " + ToString(event.kind) +
                                  " in the middle of a run is more than the " + engine +
                                  " engine computes with",
                              "failures, degradations and foreign traffic at 0s without an end",
                              RemedyByPackets(cluster, graph, events));
        }
        for (const uint32_t l : TargetOf(cluster, graph, event, where).links)
        {
            Apply(event, parts[l]);
            last[l] = event.kind->change == EventChange::Shares ? i : last[l];
        }
    }
    for (uint32_t l = 0; l < graph.links.size(); l++)
    {
        LinkParts& link = parts[l];
        link.others = link.IsUp() ? link.others : 0.0;
        if (link.IsUp() && link.Free() <= 0)
        {
            throw ConfigError(PlaceOf(events, last[l]) + ".load",
                              "foreign traffic leaves nothing of the link " +
                                  LinkName(cluster, graph, l) + ": " + NumberText(link.others) +
                                  " of its rate, of which there is " + NumberText(link.left),
                              "loads below that, together",
                              "lower a load");
        }
    }
    return parts;
}

RatesLeft::RatesLeft(const ClusterSpec& cluster,
                     const std::vector<EventSpec>& events,
                     const FabricGraph& graph)
{
    struct Held
    {
        const EventSpec* event;
        Spell spell;
    };

    std::map<uint32_t, std::vector<Held>> held;
    for (size_t i = 0; i < events.size(); i++)
    {
        const std::vector<Spell> spells = SpellsOf(events[i]);
        for (const uint32_t l : TargetOf(cluster, graph, events[i], PlaceOf(events, i)).links)
        {
            for (const Spell& spell : spells)
            {
                held[l].push_back({&events[i], spell});
            }
        }
    }
    for (const auto& [l, ofLink] : held)
    {
        std::set<Duration> times = {Duration()};
        for (const Held& one : ofLink)
        {
            times.insert(one.spell.begin);
            times.insert(one.spell.end);
        }
        for (const Duration at : times)
        {
            LinkParts parts;
            for (const Held& one : ofLink)
            {
                if (one.spell.begin <= at && at < one.spell.end)
                {
                    Apply(*one.event, parts);
                }
            }
            m_changes[l].push_back({at, parts.IsUp() ? std::max(0.0, parts.Free()) : 0.0});
        }
    }
}

double
RatesLeft::Mean(uint32_t link, Duration from, Duration until) const
{
    const auto found = m_changes.find(link);
    if (found == m_changes.end())
    {
        return 1;
    }
    const std::vector<Change>& changes = found->second;
    auto now = std::upper_bound(changes.begin(),
                                changes.end(),
                                from,
                                [](Duration at, const Change& change) { return at < change.at; });
    --now; // the first is at 0
    if (from == until)
    {
        return now->left;
    }
    double sum = 0;
    for (Duration at = from; at < until; ++now)
    {
        const auto next = std::next(now);
        const Duration end = next == changes.end() ? until : std::min(until, next->at);
        sum += now->left * (end - at).S();
        at = end;
    }
    return sum / (until - from).S();
}

} // namespace scaleacross
