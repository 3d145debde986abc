// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/best-plan.h"

#include "core/explore/no-sink.h"

namespace scaleacross
{

namespace
{

/// Memory, the last check, if any plan came so far; else the reason that most were refused for.
std::string
WhyNone(const Frontier& counts)
{
    std::string why = "the search space is empty";
    uint64_t most = 0;
    for (const auto* reasons : {&counts.rejected, &counts.failed})
    {
        for (const auto& [reason, count] : *reasons)
        {
            const uint64_t weight = reason == "memory" ? UINT64_MAX : count.count;
            if (reason != kDuplicate && weight > most)
            {
                most = weight;
                why = std::to_string(count.count) + " of " + std::to_string(counts.Distinct()) +
                      " plans are refused for " + reason + ", e.g. " + count.example;
            }
        }
    }
    return why;
}

} // namespace

BestPlan
FindBestPlan(const Study& study, const Engine& engine, const SearchOptions& options)
{
    SearchOptions own = options;
    own.keep = 1;
    own.keeps = Leaderboard::Keeps::Best;
    NoSink sink;
    const SearchSpace space(study);
    const auto result = BestFirstSearch().Run(space, engine, own, sink);
    if (result.interrupted)
    {
        throw Interrupted();
    }
    BestPlan best;
    const auto kept = result.board.Best();
    if (kept.empty())
    {
        best.reason = WhyNone(result.counts);
        return best;
    }
    best.plan = kept.front();
    best.label = space.LabelOf(kept.front().plan);
    return best;
}

} // namespace scaleacross
