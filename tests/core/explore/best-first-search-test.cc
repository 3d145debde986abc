// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/search.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

namespace scaleacross
{

namespace
{

const char* const g_axes =
    "search: {plan: {tp: [1, 2, 4, 8], pp: [1, 2, 4], microbatch: [1, 2, 4], "
    "crossing: [dp, pp], chunks: [1, 2]}}\n";

/// Keeps everything in memory.
class MemorySink : public ResultSink
{
  public:
    Frontier Resume() override
    {
        return frontier;
    }

    void Restore(uint64_t below,
                 const std::function<bool(uint64_t, const RunReport&)>& visit) override
    {
        for (const auto& [index, report] : reports)
        {
            if (index < below)
            {
                visit(index, report);
            }
        }
    }

    bool Knows(const Plan& plan) const override
    {
        return known.count(CanonicalText(plan)) > 0;
    }

    std::optional<Evaluation> Recall(const Plan& plan) override
    {
        return known.at(CanonicalText(plan));
    }

    void Add(const Plan& plan, const Evaluation& evaluation) override
    {
        EXPECT_TRUE(added.emplace(CanonicalText(plan), evaluation).second) << "evaluated twice";
    }

    void CountIn(uint64_t index, const Plan& /* plan */, const Evaluation& evaluation) override
    {
        if (const auto* report = std::get_if<RunReport>(&evaluation))
        {
            reports[index] = *report;
        }
    }

    void Commit(const Frontier& now) override
    {
        frontier = now;
        commits++;
    }

    void Finish(const Frontier& now, const Leaderboard& /* board */) override
    {
        frontier = now;
        finished = true;
    }

    /// What the same search finds when it resumes.
    void Reopen()
    {
        known.insert(added.begin(), added.end());
    }

    Frontier frontier;
    std::map<std::string, Evaluation> known;
    std::map<std::string, Evaluation> added;
    std::map<uint64_t, RunReport> reports;
    int commits{0};
    bool finished{false};
};

/// Plans with microbatch 4 do not fit.
std::variant<ClosedForm, Infeasible>
SmallMicrobatches(const Scenario& scenario, const IsWorthMore& isWorthMore)
{
    if (scenario.Job().plan.microbatch == 4)
    {
        return Infeasible{"memory", "too large"};
    }
    return FitsAlways(scenario, isWorthMore);
}

SearchOptions
Options(unsigned jobs)
{
    SearchOptions options;
    options.jobs = jobs;
    options.keep = 5;
    options.filter = SmallMicrobatches;
    return options;
}

std::vector<std::string>
Texts(const SearchResult& result)
{
    std::vector<std::string> texts;
    for (const auto& ranked : result.board.Best())
    {
        texts.push_back(ranked.text);
    }
    return texts;
}

TEST(BestFirstSearch, CountsEveryPlanOnce)
{
    const SearchSpace space(TwoBuildings(g_axes));
    const FakeEngine engine(DistinctTime);
    MemorySink sink;
    const auto result = BestFirstSearch().Run(space, engine, Options(2), sink);
    // 4 x 3 x 3 x 2 x 2 = 144 plans; 1f1b has one chunk, so half are duplicates; of the other 72 a
    // third has microbatch 4.
    EXPECT_EQ(space.Size(), 144);
    EXPECT_EQ(result.counts.rejected.at("duplicate").count, 72);
    EXPECT_EQ(result.counts.rejected.at("memory").count, 24);
    EXPECT_EQ(result.counts.rejected.at("memory").example, "too large");
    EXPECT_EQ(result.counts.evaluated, 48);
    EXPECT_EQ(engine.runs, 48);
    EXPECT_EQ(result.counts.bound, Duration::Microseconds(1000));
    EXPECT_TRUE(sink.finished);
    // DistinctTime is least for tp 1, pp 1, microbatch 1, DP-out.
    const auto best = result.board.Best();
    ASSERT_EQ(best.size(), 5);
    EXPECT_EQ(best[0].report.iterationTime, Duration::Microseconds(1108));
    EXPECT_EQ(best[0].plan.parallel.crossing, Crossing::Data);
}

TEST(BestFirstSearch, DoesNotDependOnTheNumberOfThreads)
{
    const SearchSpace space(TwoBuildings(g_axes));
    const FakeEngine engine([](const ParallelPlan& plan) {
        return Duration::Microseconds(plan.tp); // many ties
    });
    MemorySink first;
    const auto expected = BestFirstSearch().Run(space, engine, Options(1), first);
    for (const unsigned jobs : {2U, 3U, 8U})
    {
        MemorySink sink;
        const auto result = BestFirstSearch().Run(space, engine, Options(jobs), sink);
        EXPECT_EQ(Texts(result), Texts(expected));
        EXPECT_EQ(result.counts.evaluated, expected.counts.evaluated);
        EXPECT_EQ(result.counts.rejected.at("memory").count,
                  expected.counts.rejected.at("memory").count);
    }
}

TEST(BestFirstSearch, StopsCleanlyAndResumes)
{
    const SearchSpace space(TwoBuildings(g_axes));
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    const FakeEngine engine([&](const ParallelPlan& plan) {
        stop = stop || ++calls == 17;
        return DistinctTime(plan);
    });
    SearchOptions options = Options(2);
    options.stop = &stop;
    MemorySink sink;
    const auto first = BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_TRUE(first.interrupted);
    EXPECT_FALSE(sink.finished);
    EXPECT_LT(first.engineRuns, 20);
    EXPECT_EQ(first.engineRuns, engine.runs);

    stop = false;
    calls = 1000;
    sink.Reopen();
    const auto second = BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_FALSE(second.interrupted);
    EXPECT_EQ(engine.runs, 48);
    EXPECT_EQ(second.counts.evaluated, 48);
    EXPECT_EQ(second.counts.rejected.at("memory").count, 24);

    MemorySink whole;
    const auto expected = BestFirstSearch().Run(space, engine, Options(2), whole);
    EXPECT_EQ(Texts(second), Texts(expected));
}

/// Stopped before it has looked at anything, a search has what others have run: of three plans that
/// are offered, one of them twice, two are of the space. Where a call has run 17 to 19 plans before
/// (those that run when it is stopped are finished), these count as well, and one that is offered
/// too counts once.
TEST(BestFirstSearch, WhatHasRunElsewhereCountsOnceWhereItIsStopped)
{
    const SearchSpace space(TwoBuildings(g_axes));
    const auto ranked = [](const Plan& plan) {
        RunReport report;
        report.iterationTime = DistinctTime(plan.parallel);
        return Ranked{0, plan, CanonicalText(plan), report};
    };
    Plan other = *space.PlanAt(0);
    other.parallel.sharding = "fsdp";
    ASSERT_FALSE(space.Holds(other));
    const Ranked first = ranked(*space.PlanAt(0));
    std::optional<Plan> last;
    for (uint64_t i = 1; i < space.Size(); i++)
    {
        const auto plan = space.PlanAt(i);
        last = plan && plan->parallel.microbatch < 4 ? plan : last;
    }
    std::atomic<bool> stop{true};
    std::atomic<int> calls{0};
    const FakeEngine engine([&](const ParallelPlan& plan) {
        stop = stop || ++calls == 17;
        return DistinctTime(plan);
    });
    SearchOptions options = Options(2);
    options.stop = &stop;
    options.offered = {first, ranked(other), ranked(*last), first};
    MemorySink fresh;
    const auto none = BestFirstSearch().Run(space, engine, options, fresh);
    EXPECT_TRUE(none.interrupted);
    EXPECT_EQ(engine.runs, 0);
    EXPECT_EQ(none.counts.evaluated, 2);
    EXPECT_EQ(none.counts.Decided(), 2);
    EXPECT_EQ(none.board.Best().size(), 2);
    // They are stored, at their positions, and so found again where nothing is offered.
    options.offered.clear();
    const auto found = BestFirstSearch().Run(space, engine, options, fresh);
    EXPECT_EQ(Texts(found), Texts(none));
    for (const Ranked& one : none.board.Best())
    {
        EXPECT_EQ(fresh.reports.at(one.index).iterationTime, one.report.iterationTime);
    }

    options.offered.clear();
    options.keep = 100;
    stop = false;
    MemorySink sink;
    const auto some = BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_TRUE(some.interrupted);
    EXPECT_EQ(some.counts.evaluated, engine.runs);
    sink.Reopen();
    options.offered = {some.board.Best().back()};
    const auto again = BestFirstSearch().Run(space, engine, options, sink); // stop is still set
    EXPECT_EQ(again.counts.evaluated, some.counts.evaluated);
    EXPECT_EQ(Texts(again), Texts(some));
}

/// A plan is filtered once, also where the search is stopped and counts what it has.
TEST(BestFirstSearch, AsksNothingAgainWhereItIsStopped)
{
    const SearchSpace space(TwoBuildings(g_axes));
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    const FakeEngine engine([&](const ParallelPlan& plan) {
        stop = stop || ++calls == 17;
        return DistinctTime(plan);
    });
    std::map<std::string, int> asked;
    std::mutex mutex;
    SearchOptions options = Options(2);
    options.stop = &stop;
    options.keep = 100;
    options.filter = [&](const Scenario& scenario, const IsWorthMore& isWorthMore) {
        const std::lock_guard<std::mutex> lock(mutex);
        asked[CanonicalText({scenario.Job().plan, scenario.network})]++;
        return SmallMicrobatches(scenario, isWorthMore);
    };
    MemorySink sink;
    const auto result = BestFirstSearch().Run(space, engine, options, sink);
    ASSERT_TRUE(result.interrupted);
    ASSERT_GE(result.counts.evaluated, 17);
    for (const auto& [text, times] : asked)
    {
        EXPECT_EQ(times, 1) << text;
    }
}

/// Bounds are times here. With keep 1 nothing runs behind the proof but what is under way with it;
/// with more the best is proven as early, and the others take the rest.
TEST(BestFirstSearch, TheBestIsProvenBeforeTheOthers)
{
    const SearchSpace space(TwoBuildings(g_axes));
    const FakeEngine engine(DistinctTime);
    SearchOptions options = Options(1);
    options.filter = [](const Scenario& scenario, const IsWorthMore& /* isWorthMore */) {
        ClosedForm form;
        form.bound = DistinctTime(scenario.Job().plan);
        return std::variant<ClosedForm, Infeasible>(form);
    };
    uint64_t least = UINT64_MAX;
    options.progress = [&](const Progress& progress) {
        least = std::min(least, progress.total - progress.done);
    };
    options.keep = 60;
    MemorySink sink;
    const auto result = BestFirstSearch().Run(space, engine, options, sink);
    ASSERT_TRUE(result.counts.provenAfter);
    EXPECT_LT(*result.counts.provenAfter, result.counts.evaluated);
    EXPECT_GE(result.counts.evaluated, 60);
    EXPECT_EQ(least, 0);
    // A search that is done already knows it from what is stored.
    EXPECT_EQ(BestFirstSearch().Run(space, engine, options, sink).counts.provenAfter,
              result.counts.provenAfter);
}

TEST(BestFirstSearch, FailuresAreResultsAndErrorsAreRejections)
{
    const SearchSpace space(TwoBuildings("search: {plan: {tp: [1, 2, 4, 8]}}\n"));
    const FakeEngine engine([](const ParallelPlan& plan) -> Duration {
        switch (plan.tp)
        {
        case 1:
            throw RunError("nobody moves");
        case 2:
            throw RunError("timeout", "too slow");
        case 4:
            throw ConfigError("plan.tp", "4 is odd", "", "");
        default:
            return Duration::Seconds(5);
        }
    });
    MemorySink sink;
    const auto result = BestFirstSearch().Run(space, engine, Options(1), sink);
    EXPECT_EQ(result.counts.failed.at("error").example, "nobody moves");
    EXPECT_EQ(result.counts.failed.at("timeout").count, 1);
    EXPECT_EQ(result.counts.rejected.at("unsupported").count, 1);
    EXPECT_EQ(result.counts.evaluated, 1);
}

TEST(BestFirstSearch, ThrowsOtherErrorsOnAfterCommitting)
{
    const SearchSpace space(TwoBuildings("search: {plan: {tp: [1, 2, 4, 8]}}\n"));
    const FakeEngine engine([](const ParallelPlan& plan) -> Duration {
        if (plan.tp == 4)
        {
            throw std::logic_error("a fault");
        }
        return Duration::Seconds(5);
    });
    MemorySink sink;
    EXPECT_THROW(BestFirstSearch().Run(space, engine, Options(1), sink), std::logic_error);
    // What is finished is committed; the frontier stays where it can be taken up.
    EXPECT_EQ(sink.added.size(), engine.runs - 1);
    EXPECT_GE(sink.commits, 1);
    EXPECT_EQ(sink.frontier.next, 0);
    EXPECT_FALSE(sink.finished);
}

TEST(BestFirstSearch, TellsItsProgress)
{
    const SearchSpace space(TwoBuildings(g_axes));
    const FakeEngine engine(DistinctTime);
    SearchOptions options = Options(2);
    Progress last;
    options.progress = [&last](const Progress& progress) { last = progress; };
    MemorySink sink;
    BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_EQ(last.done, 144);
    EXPECT_EQ(last.total, 144);
    EXPECT_EQ(last.ran, 48);
    ASSERT_TRUE(last.best);
    // DistinctTime: the least of all degrees.
    EXPECT_EQ(last.best->report.iterationTime, Duration::Microseconds(1000 + 100 + 7 + 1));
}

/// 2,160 plans, twice with a chunk count that 1f1b does not have: more than a block.
const char* const g_manyAxes =
    "search: {plan: {tp: [1, 2, 4, 8], cp: [1, 2, 4], pp: [1, 2, 4], microbatch: [1, 2, 4, 8, 16], "
    "crossing: [dp, pp], chunks: [1, 2]}, network: {qps: [1, 2, 4, 8, 16, 32]}}\n";

/// From 1.2 to 3.1 ms: a range in which bounds that are somewhat loose still tell something.
Duration
WideTime(const ParallelPlan& plan)
{
    return Duration::Microseconds(1000 + plan.tp * 10 + plan.pp * 150 + plan.microbatch * 75 +
                                  plan.cp + (plan.crossing == Crossing::Pipeline ? 3 : 0));
}

/// Bounds of WideTime() at `share` of it, memory and bytes as FakeEngine reports them.
Filter
Bounds(double share)
{
    return [share](const Scenario& scenario,
                   const IsWorthMore& /* isWorthMore */) -> std::variant<ClosedForm, Infeasible> {
        const ParallelPlan& plan = scenario.Job().plan;
        ClosedForm form;
        form.bound = Duration::Seconds(WideTime(plan).S() * share);
        form.memoryMax = Bytes(1000 / plan.tp);
        form.crossBuildingBytes = Bytes(plan.crossing == Crossing::Data ? 100 : 50);
        return form;
    };
}

TEST(BestFirstSearch, RulesOutByBoundsAndFindsTheSame)
{
    const SearchSpace space(TwoBuildings(g_manyAxes));
    ASSERT_EQ(space.Size(), 4320);
    SearchOptions options = Options(1); // of more threads one may run what the others rule out
    options.filter = Bounds(0);
    const FakeEngine all(WideTime);
    MemorySink everything;
    const auto expected = BestFirstSearch().Run(space, all, options, everything);
    EXPECT_EQ(all.runs, 2160);
    EXPECT_EQ(expected.counts.RuledOut(), 0);
    uint64_t runsBefore = all.runs;
    // The tighter the bounds the fewer runs, down to what is kept and what ties with it.
    for (const double share : {0.7, 0.9, 0.99, 1.0})
    {
        options.filter = Bounds(share);
        const FakeEngine engine(WideTime);
        MemorySink sink;
        const auto result = BestFirstSearch().Run(space, engine, options, sink);
        EXPECT_EQ(Texts(result), Texts(expected)) << share;
        EXPECT_EQ(Texts(result.board.ParetoFront()), Texts(expected.board.ParetoFront())) << share;
        EXPECT_EQ(Texts(result.board.BestOfEach()), Texts(expected.board.BestOfEach())) << share;
        EXPECT_EQ(result.counts.evaluated, engine.runs);
        EXPECT_EQ(result.counts.evaluated + result.counts.RuledOut(), 2160) << share;
        EXPECT_EQ(result.counts.Decided(), 2160) << share;
        EXPECT_TRUE(result.counts.IsProof());
        EXPECT_LT(engine.runs, runsBefore) << share;
        runsBefore = engine.runs;
    }
    EXPECT_LT(runsBefore, 2160 / 4);
}

/// A plan is left out only where the k-th best is above its bound by the gap at most. So the i-th
/// best takes at most 1 + gap times as long as that of running everything, and what is proven of
/// the best follows from the least bound of what was left out.
TEST(BestFirstSearch, WithAGapEndsEarlierAndProvesIt)
{
    const SearchSpace space(TwoBuildings(g_manyAxes));
    SearchOptions options = Options(2);
    options.filter = Bounds(0.9);
    const FakeEngine all(WideTime);
    MemorySink everything;
    const auto expected = BestFirstSearch().Run(space, all, options, everything).board.Best();
    uint64_t runsBefore = all.runs;
    for (const double gap : {0.1, 0.3})
    {
        options.goals.gap = gap;
        const FakeEngine engine(WideTime);
        MemorySink sink;
        const auto result = BestFirstSearch().Run(space, engine, options, sink);
        EXPECT_TRUE(result.counts.IsProof());
        EXPECT_EQ(result.counts.evaluated + result.counts.RuledOut(), 2160);
        EXPECT_LT(engine.runs, runsBefore) << gap;
        runsBefore = engine.runs;
        const auto found = result.board.Best();
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); i++)
        {
            EXPECT_LE(found[i].report.iterationTime.S(),
                      (1 + gap) * expected[i].report.iterationTime.S())
                << gap;
        }
        // No plan that did not run takes less than was said of them.
        double least = std::numeric_limits<double>::infinity();
        for (uint64_t i = 0; i < space.Size(); i++)
        {
            const auto plan = space.PlanAt(i);
            if (plan && plan->parallel.microbatch != 4 &&
                sink.added.count(CanonicalText(*plan)) == 0)
            {
                least = std::min(least, Duration::Seconds(0.9 * WideTime(plan->parallel).S()).S());
            }
        }
        EXPECT_LE(result.counts.left, least) << gap;
        EXPECT_LE(found.back().report.iterationTime.S() / result.counts.left - 1, gap);
    }
}

/// What is behind the best by d is known to a part of d: the i-th best takes no longer than that
/// of running everything and this part of what it is behind the best, which is exact. So it is for
/// the best of each crossing.
TEST(BestFirstSearch, WithARestGapProvesTheBestAndHowFarOthersAreBehind)
{
    const SearchSpace space(TwoBuildings(g_manyAxes));
    SearchOptions options = Options(1);
    options.keep = 40;
    options.filter = Bounds(0.9);
    const FakeEngine all(WideTime);
    MemorySink everything;
    const auto whole = BestFirstSearch().Run(space, all, options, everything);
    const double best = whole.board.First()->report.iterationTime.S();
    uint64_t runsBefore = all.runs;
    for (const double restGap : {0.1, 0.5})
    {
        options.goals.restGap = restGap;
        const FakeEngine engine(WideTime);
        MemorySink sink;
        const auto result = BestFirstSearch().Run(space, engine, options, sink);
        EXPECT_TRUE(result.counts.IsProof());
        EXPECT_EQ(result.counts.evaluated + result.counts.RuledOut(), 2160);
        EXPECT_LT(engine.runs, runsBefore) << restGap;
        runsBefore = engine.runs;
        EXPECT_EQ(result.board.First()->text, whole.board.First()->text);
        EXPECT_GE(result.counts.left, best);
        const auto isNear = [&](const Ranked& found, const Ranked& expected) {
            const double time = found.report.iterationTime.S();
            return time - expected.report.iterationTime.S() <= restGap * (time - best);
        };
        const auto found = result.board.Best();
        const auto expected = whole.board.Best();
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); i++)
        {
            EXPECT_TRUE(isNear(found[i], expected[i])) << i;
        }
        for (const Ranked& ranked : whole.board.BestOfEach())
        {
            const Ranked* own = result.board.BestOf(ranked.plan.parallel.crossing);
            ASSERT_NE(own, nullptr);
            EXPECT_TRUE(isNear(*own, ranked));
        }
    }
}

/// Where bounds are the times themselves, the first plan that runs is the best, and is known to be:
/// plans that are taken together count one after the other.
TEST(BestFirstSearch, KnowsAtOnceWhatIsBestByExactBounds)
{
    const SearchSpace space(TwoBuildings(g_axes)); // one block
    const auto exact =
        [](const Scenario& scenario,
           const IsWorthMore& /* isWorthMore */) -> std::variant<ClosedForm, Infeasible> {
        ClosedForm form;
        form.bound = DistinctTime(scenario.Job().plan);
        return form;
    };
    for (const unsigned jobs : {1U, 3U})
    {
        SearchOptions options = Options(jobs);
        options.filter = exact;
        const FakeEngine engine(DistinctTime);
        MemorySink sink;
        const auto result = BestFirstSearch().Run(space, engine, options, sink);
        EXPECT_EQ(result.counts.provenAfter, 1U);
        // Five are kept, and the best of the other crossing, which is none of them or is.
        EXPECT_GE(result.counts.evaluated, 5U);
        EXPECT_LE(result.counts.evaluated, 6U);
        EXPECT_EQ(sink.frontier.provenAfter, 1U);
    }
}

TEST(BestFirstSearch, RanksNoTimeBelowItsBound)
{
    const SearchSpace space(TwoBuildings(g_axes));
    SearchOptions options = Options(1);
    options.filter = Bounds(1.1);
    const FakeEngine engine(WideTime);
    MemorySink sink;
    const auto result = BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_TRUE(result.board.Best().empty());
    EXPECT_EQ(result.counts.evaluated, 0);
    ASSERT_EQ(result.counts.failed.size(), 1);
    const auto& [reason, count] = *result.counts.failed.begin();
    EXPECT_EQ(reason, "below-bound");
    EXPECT_EQ(count.count, engine.runs);
    EXPECT_NE(count.example.find("no steady state takes less than"), std::string::npos);
    // Nor when it is found again, by a search that goes on behind it.
    MemorySink again;
    again.frontier = result.counts;
    again.reports = sink.reports;
    again.reports[0].iterationTime = Duration::Microseconds(1);
    EXPECT_TRUE(BestFirstSearch().Run(space, engine, options, again).board.Best().empty());
}

TEST(BestFirstSearch, WhatRunsDoesNotDependOnThreadsNorOnInterruption)
{
    const SearchSpace space(TwoBuildings(g_manyAxes));
    SearchOptions options = Options(1);
    options.filter = Bounds(0.9);
    const FakeEngine engine(WideTime);
    MemorySink first;
    BestFirstSearch().Run(space, engine, options, first);
    options.jobs = 3;
    MemorySink second;
    BestFirstSearch().Run(space, engine, options, second);
    ASSERT_GT(first.added.size(), 0);
    const auto keys = [](const MemorySink& sink) {
        std::vector<std::string> texts;
        for (const auto& entry : sink.added)
        {
            texts.push_back(entry.first);
        }
        return texts;
    };
    EXPECT_EQ(keys(first), keys(second));

    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    const FakeEngine stopped([&](const ParallelPlan& plan) {
        stop = stop || ++calls == 200; // in the second block or later
        return WideTime(plan);
    });
    options.jobs = 1; // of more, one may run what the others rule out
    options.stop = &stop;
    MemorySink broken;
    EXPECT_TRUE(BestFirstSearch().Run(space, stopped, options, broken).interrupted);
    stop = false;
    calls = 100000;
    broken.Reopen();
    const auto resumed = BestFirstSearch().Run(space, stopped, options, broken);
    EXPECT_EQ(keys(broken), keys(first));
    EXPECT_EQ(stopped.runs, first.added.size()); // MemorySink itself fails if one ran twice
    EXPECT_EQ(resumed.counts.evaluated, first.added.size());
}

/// Stopped at any run, by plans that are begun in any order: what is told as proven is the best of
/// all, and what was counted is an answer when it goes on.
TEST(BestFirstSearch, ProvesNothingBeforeItsTimeWhereverItStops)
{
    const SearchSpace space(TwoBuildings(g_axes));
    SearchOptions options = Options(1);
    options.filter = Bounds(0.5);
    MemorySink everything;
    const FakeEngine all(WideTime);
    const auto whole = BestFirstSearch().Run(space, all, options, everything);
    ASSERT_TRUE(whole.counts.provenAfter);
    std::atomic<bool> stop{false};
    options.stop = &stop;
    for (uint64_t runs = 1; runs < all.runs; runs++)
    {
        SCOPED_TRACE(runs);
        uint64_t calls = 0;
        const FakeEngine engine([&](const ParallelPlan& plan) -> Duration {
            if (++calls > runs)
            {
                stop = true;
                throw Interrupted();
            }
            return WideTime(plan);
        });
        stop = false;
        options.process = static_cast<uint32_t>(runs);
        MemorySink sink;
        const auto part = BestFirstSearch().Run(space, engine, options, sink);
        if (!part.interrupted)
        {
            EXPECT_EQ(part.counts.provenAfter, whole.counts.provenAfter);
            continue;
        }
        if (part.counts.provenAfter)
        {
            EXPECT_EQ(part.board.First()->text, whole.board.First()->text);
            EXPECT_EQ(part.counts.provenAfter, whole.counts.provenAfter);
        }
        EXPECT_LE(sink.reports.size(), runs);
    }
}

/// What ran in vain is stored for others, and is none of the search's own.
TEST(BestFirstSearch, WhatRanInVainIsNotCounted)
{
    const SearchSpace space(TwoBuildings(g_manyAxes));
    SearchOptions options = Options(4);
    options.process = 1;
    options.filter = Bounds(1);
    const FakeEngine engine(WideTime);
    MemorySink sink;
    const auto result = BestFirstSearch().Run(space, engine, options, sink);
    EXPECT_EQ(sink.reports.size(), result.counts.evaluated);
    EXPECT_GE(sink.added.size(), sink.reports.size());
}

TEST(BestFirstSearch, OfTheBestAloneRulesOutMore)
{
    const SearchSpace space(TwoBuildings(g_manyAxes));
    SearchOptions options = Options(2);
    options.filter = Bounds(0.9);
    options.keep = 1;
    options.goals.front = ParseFront("time,memory");
    const FakeEngine both(WideTime);
    MemorySink one;
    const auto whole = BestFirstSearch().Run(space, both, options, one);
    options.keeps = Leaderboard::Keeps::Best;
    const FakeEngine best(WideTime);
    MemorySink two;
    const auto alone = BestFirstSearch().Run(space, best, options, two);
    EXPECT_EQ(Texts(alone), Texts(whole));
    EXPECT_LT(best.runs, both.runs);
}

} // namespace

} // namespace scaleacross
