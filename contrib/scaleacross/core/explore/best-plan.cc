// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/best-plan.h"

#include "core/explore/no-sink.h"

namespace scaleacross
{

namespace
{

std::string
WhyNone(const Frontier& counts)
{
    const auto main = counts.MainRefusal();
    return main ? std::to_string(main->count.count) + " of " + std::to_string(counts.Decided()) +
                      " plans are refused for " + main->reason + ", e.g. " + main->count.example
                : "the search space is empty";
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
