// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/timeline.h"

#include <algorithm>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

/// The stretches of a list that lie in the window, at least in part, cut to it.
template <typename T>
std::vector<T>
Cut(const std::vector<T>& all, Duration T::*from, Duration T::*to, Duration begin, Duration end)
{
    std::vector<T> cut;
    for (T one : all)
    {
        if (one.*to > begin && one.*from < end)
        {
            one.*from = std::max(one.*from, begin);
            one.*to = std::min(one.*to, end);
            cut.push_back(one);
        }
    }
    return cut;
}

template <typename T>
void
Shift(std::vector<T>& all, Duration T::*from, Duration T::*to, Duration by)
{
    for (T& one : all)
    {
        one.*from -= by;
        one.*to -= by;
    }
}

} // namespace

bool
Timeline::IsWhole() const
{
    uint32_t stoodFor = 0;
    for (const RankTimeline& rank : ranks)
    {
        stoodFor += rank.ranks;
    }
    return stoodFor == of;
}

std::vector<const RankTimeline*>
Timeline::OnePerStage() const
{
    std::map<uint32_t, const RankTimeline*> lowest;
    for (const RankTimeline& rank : ranks)
    {
        lowest.emplace(rank.stage, &rank);
    }
    std::vector<const RankTimeline*> each;
    for (const auto& [stage, rank] : lowest)
    {
        each.push_back(rank);
    }
    return each;
}

void
Timeline::Add(const RankTimeline& rank, const RankRecord& record, uint32_t first, uint32_t count)
{
    RankTimeline added = rank;
    const Duration begin = rank.begin;
    const Duration end = rank.end;
    RankRecord& own = added.record;
    own.spells = Cut(record.spells, &RankSpell::begin, &RankSpell::end, begin, end);
    own.collectives =
        Cut(record.collectives, &RankCollective::begin, &RankCollective::end, begin, end);
    // One that arrives as the iterations begin is what they begin with; at the end, the next.
    own.arrivals.clear();
    for (const RankArrival& arrival : record.arrivals)
    {
        if (arrival.arrived >= begin && arrival.arrived < end)
        {
            own.arrivals.push_back(arrival);
        }
    }
    own.runs.clear();
    uint32_t before = 0;
    for (const RankRun& run : record.runs)
    {
        before += run.iteration < first ? 1 : 0;
        if (run.iteration >= first && run.iteration - first < count)
        {
            own.runs.push_back(run);
        }
    }
    for (RankArrival& arrival : own.arrivals)
    {
        const bool here = arrival.run >= before && arrival.run - before < own.runs.size();
        arrival.run = here ? arrival.run - before : RankArrival::kNoRun;
    }
    ranks.push_back(std::move(added));
}

void
Timeline::Complete(const TaskGraph& graph)
{
    std::sort(ranks.begin(), ranks.end(), [](const RankTimeline& a, const RankTimeline& b) {
        return a.rank < b.rank;
    });
    Duration origin = Duration::Max();
    for (const RankTimeline& rank : ranks)
    {
        origin = std::min(origin, rank.begin);
    }
    for (RankTimeline& rank : ranks)
    {
        rank.begin -= origin;
        rank.end -= origin;
        RankRecord& own = rank.record;
        Shift(own.spells, &RankSpell::begin, &RankSpell::end, origin);
        Shift(own.runs, &RankRun::begin, &RankRun::end, origin);
        Shift(own.collectives, &RankCollective::begin, &RankCollective::end, origin);
        Shift(own.arrivals, &RankArrival::posted, &RankArrival::arrived, origin);
    }
    for (Duration& at : network.at)
    {
        at -= origin;
    }
    collectives.clear();
    for (const Collective& collective : graph.collectives)
    {
        collectives.push_back({collective.comm, collective.name, collective.algorithm});
    }
    of = 0;
    for (const RankClass& rankClass : graph.classes)
    {
        of += rankClass.program.ops.empty() ? 0 : rankClass.ranks;
    }
}

} // namespace scaleacross
