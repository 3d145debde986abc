// SPDX-License-Identifier: GPL-2.0-only

// A search that runs only what its bounds leave finds what running everything finds.

#include "../../draws.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/explore/no-sink.h"
#include "core/explore/search.h"
#include "core/io/read-study.h"
#include "places.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{
namespace
{

/// A shipped study with fewer values to its axes, so that all of its plans can be run.
struct Reduced
{
    const char* name;
    std::vector<std::pair<std::string, std::string>> set;
    const char* what{""}; //!< how it differs from others of the same study
};

void
PrintTo(const Reduced& reduced, std::ostream* os)
{
    *os << reduced.name << reduced.what;
}

class BestFirst : public testing::TestWithParam<Reduced>
{
};

Study
StudyOf(const Reduced& reduced)
{
    return ReadStudy(SourcePath("examples/") + reduced.name + "/study.yaml", reduced.set);
}

SearchOptions
Options()
{
    SearchOptions options;
    options.keep = 10;
    SetBounds(options, BoundOf::Analytical);
    return options;
}

/// Every plan that runs, one after the other.
struct Everything
{
    std::vector<Ranked> plans;
    uint64_t distinct{0};
};

Everything
RunEverything(const SearchSpace& space, const Engine& engine)
{
    Everything all;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto made = space.At(i);
        const auto* plan = std::get_if<Plan>(&made);
        if (plan == nullptr)
        {
            continue;
        }
        all.distinct++;
        const Evaluation evaluation = Evaluate(engine, space.With(*plan), {});
        if (const auto* report = std::get_if<RunReport>(&evaluation))
        {
            all.plans.push_back({i, *plan, CanonicalText(*plan), *report});
        }
    }
    return all;
}

std::vector<std::string>
Texts(const std::vector<Ranked>& plans)
{
    std::vector<std::string> texts;
    for (const Ranked& ranked : plans)
    {
        texts.push_back(ToString(ranked.report.iterationTime) + " " + ranked.text);
    }
    return texts;
}

void
ExpectSame(const Leaderboard& found, const Leaderboard& expected)
{
    EXPECT_EQ(Texts(found.Best()), Texts(expected.Best()));
    EXPECT_EQ(Texts(found.ParetoFront()), Texts(expected.ParetoFront()));
    EXPECT_EQ(Texts(found.BestOfEach()), Texts(expected.BestOfEach()));
}

TEST_P(BestFirst, IsWhatRunningEverythingFinds)
{
    const SearchSpace space(StudyOf(GetParam()));
    const AnalyticalEngine engine;
    const Everything all = RunEverything(space, engine);
    SearchOptions options = Options();
    for (const char* front :
         {"time,memory", "time+10%,memory", "time,memory,bytes", "memory,bytes", "none"})
    {
        options.goals.front = ParseFront(front);
        NoSink sink;
        const SearchResult found = BestFirstSearch().Run(space, engine, options, sink);
        Leaderboard expected(options.keep, options.goals);
        for (const Ranked& ranked : all.plans)
        {
            expected.Offer(ranked);
        }
        EXPECT_EQ(found.counts.Decided(), all.distinct) << front;
        EXPECT_TRUE(found.counts.failed.empty()) << front;
        EXPECT_EQ(found.counts.Decided(), all.distinct) << front;
        EXPECT_GE(found.counts.evaluated + found.counts.RuledOut(), all.plans.size()) << front;
        if (all.plans.size() > 100) // else one batch is most of it
        {
            EXPECT_LT(found.counts.evaluated, all.plans.size() / 2) << front;
        }
        ExpectSame(found.board, expected);
        EXPECT_LE(found.counts.bound, expected.Best().front().report.iterationTime) << front;
    }
}

TEST_P(BestFirst, IsTheSameByEveryObjective)
{
    const SearchSpace space(StudyOf(GetParam()));
    const AnalyticalEngine engine;
    SearchOptions options = Options();
    const Everything all = RunEverything(space, engine);
    options.goals.front = ParseFront("time,memory");
    options.goals.rates = {2, 1, 3.0};
    for (const auto* row : Objective::Rows())
    {
        options.goals.objective = *row;
        NoSink sink;
        const SearchResult found = BestFirstSearch().Run(space, engine, options, sink);
        Leaderboard expected(options.keep, options.goals);
        for (const Ranked& ranked : all.plans)
        {
            expected.Offer(ranked);
        }
        SCOPED_TRACE(row->word);
        ExpectSame(found.board, expected);
        EXPECT_EQ(found.counts.evaluated + found.counts.RuledOut(), all.plans.size());
        EXPECT_GE(found.counts.left,
                  row->value(expected.Best().back().report, options.goals.rates));
    }
}

/// An engine that sets a flag once it has run so many plans.
class StoppingEngine : public Engine
{
  public:
    StoppingEngine(uint64_t runs, std::atomic<bool>& stop)
        : m_left(runs),
          m_stop(stop)
    {
        m_stop = runs == 0;
    }

    std::string Name() const override
    {
        return m_engine.Name();
    }

    bool UsesSeed() const override
    {
        return m_engine.UsesSeed();
    }

    std::string Fingerprint() const override
    {
        return m_engine.Fingerprint();
    }

    RunResult Run(const Scenario& scenario, const RunOptions& options) const override
    {
        if (--m_left == 0)
        {
            m_stop = true;
        }
        return m_engine.Run(scenario, options);
    }

  private:
    AnalyticalEngine m_engine;
    mutable std::atomic<uint64_t> m_left;
    std::atomic<bool>& m_stop;
};

/// Whenever a search is stopped, what it says of the rest holds: by no objective does any plan go
/// below it that is better than the best so far.
TEST_P(BestFirst, WhatIsLeftHoldsWheneverItStops)
{
    const SearchSpace space(StudyOf(GetParam()));
    SearchOptions options = Options();
    options.jobs = 1;
    std::atomic<bool> stop{false};
    options.stop = &stop;
    const Everything all = RunEverything(space, AnalyticalEngine());
    options.goals.rates = {2, 1, 3.0};
    for (const char* objective : {"time", "cost", "memory", "bytes"})
    {
        options.goals.objective = objective;
        Leaderboard expected(1, options.goals);
        for (const Ranked& ranked : all.plans)
        {
            expected.Offer(ranked);
        }
        const auto valueOf = [&](const Leaderboard& board) {
            return options.goals.objective->value(board.Best().front().report, options.goals.rates);
        };
        const double best = valueOf(expected);
        for (const uint64_t runs : {0, 1, 2, 3, 5, 8, 13})
        {
            SCOPED_TRACE(std::to_string(runs) + " runs by " + objective);
            NoSink sink;
            const SearchResult found =
                BestFirstSearch().Run(space, StoppingEngine(runs, stop), options, sink);
            if (!found.interrupted)
            {
                EXPECT_GE(runs, options.keep);
                EXPECT_EQ(valueOf(found.board), best);
                continue;
            }
            if (runs == 0)
            {
                EXPECT_EQ(found.counts.left, 0);
                continue;
            }
            // What a plan sends across is known of those alone that have been asked more of.
            EXPECT_TRUE(found.counts.left > 0 || objective == std::string("bytes"));
            EXPECT_LE(std::min(found.counts.left, valueOf(found.board)), best);
            EXPECT_LE(found.counts.bound, expected.Best().front().report.iterationTime);
        }
    }
}

/// With a gap g everything that runs is as near as that: the i-th best to the i-th best of all, the
/// best of a crossing to that of all, and every plan to some plan of the front in each objective.
TEST_P(BestFirst, AGapIsKept)
{
    constexpr double gap = 0.03;
    const SearchSpace space(StudyOf(GetParam()));
    const AnalyticalEngine engine;
    SearchOptions options = Options();
    options.goals.front = ParseFront("time,memory");
    options.goals.gap = gap;
    NoSink sink;
    const SearchResult found = BestFirstSearch().Run(space, engine, options, sink);
    const Everything all = RunEverything(space, engine);
    Leaderboard expected(options.keep, options.goals);
    for (const Ranked& ranked : all.plans)
    {
        expected.Offer(ranked);
    }
    const auto near = [](const Ranked& one, const Ranked& other) {
        return one.report.iterationTime.S() <= (1 + gap) * other.report.iterationTime.S();
    };
    const auto best = found.board.Best();
    ASSERT_EQ(best.size(), expected.Best().size());
    for (size_t i = 0; i < best.size(); i++)
    {
        EXPECT_TRUE(near(best[i], expected.Best()[i])) << i;
    }
    for (const Ranked& ranked : expected.BestOfEach())
    {
        const Ranked* own = found.board.BestOf(ranked.plan.parallel.crossing);
        ASSERT_NE(own, nullptr);
        EXPECT_TRUE(near(*own, ranked));
    }
    const auto front = found.board.ParetoFront();
    for (const Ranked& ranked : all.plans)
    {
        const auto covers = [&](const Ranked& kept) {
            return near(kept, ranked) &&
                   static_cast<double>(kept.report.memoryMax.Count()) <=
                       (1 + gap) * static_cast<double>(ranked.report.memoryMax.Count());
        };
        EXPECT_TRUE(std::any_of(front.begin(), front.end(), covers)) << ranked.text;
    }
}

/// With a rest gap the best is that of running everything, and what is behind it is known to this
/// part of how far it is.
TEST_P(BestFirst, ARestGapIsKept)
{
    constexpr double restGap = 0.2;
    const SearchSpace space(StudyOf(GetParam()));
    const AnalyticalEngine engine;
    SearchOptions options = Options();
    const Everything all = RunEverything(space, engine);
    Leaderboard expected(options.keep, options.goals);
    for (const Ranked& ranked : all.plans)
    {
        expected.Offer(ranked);
    }
    options.goals.restGap = restGap;
    NoSink sink;
    const SearchResult found = BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_EQ(found.board.First()->text, expected.First()->text);
    const double best = expected.First()->report.iterationTime.S();
    const auto near = [best](const Ranked& one, const Ranked& other) {
        const double time = one.report.iterationTime.S(); // of whole picoseconds
        return time - other.report.iterationTime.S() <= restGap * (time - best) + 1e-12;
    };
    const auto ranking = found.board.Best();
    ASSERT_EQ(ranking.size(), expected.Best().size());
    for (size_t i = 0; i < ranking.size(); i++)
    {
        EXPECT_TRUE(near(ranking[i], expected.Best()[i])) << i;
    }
    for (const Ranked& ranked : expected.BestOfEach())
    {
        const Ranked* own = found.board.BestOf(ranked.plan.parallel.crossing);
        if (own == nullptr)
        {
            EXPECT_GT(ranked.report.iterationTime.S(), kHopeless * best);
            continue;
        }
        EXPECT_TRUE(near(*own, ranked));
    }
}

TEST_P(BestFirst, AnExhaustiveSearchFindsTheSameAndRulesNothingOut)
{
    const SearchSpace space(StudyOf(GetParam()));
    const AnalyticalEngine engine;
    const SearchOptions options = Options();
    NoSink sink;
    const SearchResult found = BestFirstSearch().Run(space, engine, options, sink);
    const SearchResult all = ExhaustiveSearch().Run(space, engine, options, sink);
    ExpectSame(found.board, all.board);
    EXPECT_EQ(all.counts.RuledOut(), 0);
    EXPECT_TRUE(all.counts.failed.empty()); // no time is below its bound
    // What is ruled out need not be able to run.
    EXPECT_LE(all.counts.evaluated, found.counts.evaluated + found.counts.RuledOut());
    EXPECT_EQ(all.counts.Decided(), found.counts.Decided());
}

/// With SCALEACROSS_DRAWS=1000000 of more than a million distinct plans, which takes half an hour;
/// else of those that few values of some fields leave.
TEST(CompleteSearch, FindsWhatRunningEverythingFinds)
{
    const bool all = Draws(0) >= 1000000;
    Reduced reduced{"small-two-buildings", {{"search", "auto"}}};
    if (all)
    {
        reduced.set.emplace_back("search.network.qps", "[1, 2, 4, 8, 16]");
    }
    else
    {
        reduced.set.insert(reduced.set.end(),
                           {{"search.plan.tp", "[4]"},
                            {"search.plan.pp", "[2]"},
                            {"search.plan.cp", "[1, 2]"},
                            {"search.plan.microbatch", "[1]"},
                            {"search.plan.schedule", "[1f1b, interleaved]"},
                            {"search.plan.recompute", "[none, selective, full]"},
                            {"search.network.collective", "[ring]"}});
    }
    const SearchSpace space(StudyOf(reduced));
    const AnalyticalEngine engine;
    SearchOptions options = Options();
    options.jobs = 2;
    options.keep = 100;
    NoSink sink;
    const SearchResult best = BestFirstSearch().Run(space, engine, options, sink);
    const SearchResult every = ExhaustiveSearch().Run(space, engine, options, sink);
    const uint64_t distinct = best.counts.Decided();
    EXPECT_EQ(every.counts.Decided(), distinct);
    EXPECT_GE(distinct, all ? 1000000U : 2000U);
    EXPECT_EQ(every.counts.RuledOut(), 0U);
    EXPECT_TRUE(every.counts.failed.empty());
    EXPECT_GE(best.counts.evaluated + best.counts.RuledOut(), every.counts.evaluated);
    EXPECT_LT(best.counts.evaluated, every.counts.evaluated / 10);
    ExpectSame(best.board, every.board);
    RecordProperty("distinct", std::to_string(distinct));
    RecordProperty("ran", std::to_string(best.counts.evaluated));
    RecordProperty("can_run", std::to_string(every.counts.evaluated));
}

INSTANTIATE_TEST_SUITE_P(
    Studies,
    BestFirst,
    testing::Values(Reduced{"small-two-buildings", {}},
                    Reduced{"llama4-maverick-two-buildings",
                            {{"search.plan.ep", "[32]"},
                             {"search.plan.chunks", "[1, 6]"},
                             {"search.plan.microbatch", "[1]"},
                             {"search.network.collective", "[hierarchical]"}}},
                    Reduced{"llama3-405b-three-unequal-buildings",
                            {{"search.plan.pp", "[14, 16]"},
                             {"search.plan.chunks", "[1, 3, 8]"},
                             {"search.plan.schedule", "[1f1b, interleaved]"},
                             {"search.plan.async_tp", "[true]"},
                             {"search.plan.cp", "[1]"}}},
                    // Dense in five buildings; with experts in four, in a line.
                    Reduced{
                        "small-two-buildings",
                        {{"cluster.buildings.count", "5"},
                         {"cluster.buildings.gpus", "16"},
                         {"workload.global_batch", "160"},
                         {"model.layers", "20"},
                         {"search.plan.tp", "[2, 4]"},
                         {"search.plan.pp", "[1, 2, 5, 10]"},
                         {"search.plan.schedule", "[1f1b, interleaved, zb-h1]"},
                         {"search.plan.chunks", "[1, 2]"},
                         {"search.plan.sharding", "[fsdp, hsdp, zero1]"},
                         {"search.network.collective", "[ring, hierarchical, halving-doubling]"}},
                        "-five-dense"},
                    Reduced{"small-two-buildings",
                            {{"cluster.buildings.count", "4"},
                             {"cluster.buildings.gpus", "16"},
                             {"cluster.cross.shape", "line"},
                             {"model.experts", "8"},
                             {"model.top_k", "2"},
                             {"model.expert_ffn", "2048"},
                             {"model.moe_every", "2"},
                             {"search.plan.tp", "[1, 2, 4]"},
                             {"search.plan.ep", "[1, 2, 4, 8]"},
                             {"search.plan.crossing", "[dp, pp, ep]"},
                             {"search.plan.sharding", "[fsdp, hsdp]"},
                             {"search.plan.schedule", "[1f1b, zb-h1]"},
                             {"search.plan.pp", "[1, 2, 4]"},
                             {"search.network.all_to_all", "[follow, direct, rail, building]"}},
                            "-four-with-experts"}));

} // namespace
} // namespace scaleacross
