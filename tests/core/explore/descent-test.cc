// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/descent.h"
#include "core/explore/families.h"
#include "core/explore/no-sink.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace scaleacross
{

namespace
{

/// 576 combinations; 1f1b has no chunks and one stage no schedule, so that many mean the same.
const char* const g_axes =
    "search: {plan: {tp: [1, 2, 4, 8], pp: [1, 2, 4], microbatch: [1, 2, 4], crossing: [dp, pp], "
    "schedule: [1f1b, interleaved], chunks: [1, 2], recompute: [none, full]}}\n";

/// What a search finds stored, and what it stores.
class StoredRuns : public NoSink
{
  public:
    bool Knows(const Plan& plan) const override
    {
        return stored.count(CanonicalText(plan)) > 0;
    }

    std::optional<Evaluation> Recall(const Plan& plan) override
    {
        return stored.at(CanonicalText(plan));
    }

    void Add(const Plan& plan, const Evaluation& evaluation) override
    {
        EXPECT_TRUE(stored.emplace(CanonicalText(plan), evaluation).second) << "evaluated twice";
    }

    void CountIn(uint64_t position, const Plan& plan, const Evaluation& /* evaluation */) override
    {
        positions[position] = CanonicalText(plan);
    }

    void Restore(uint64_t below,
                 const std::function<bool(uint64_t, const RunReport&)>& visit) override
    {
        for (const auto& [position, text] : positions)
        {
            const auto* report = std::get_if<RunReport>(&stored.at(text));
            if (position < below && report != nullptr)
            {
                EXPECT_TRUE(visit(position, *report)) << text;
            }
        }
    }

    std::map<std::string, Evaluation> stored;
    std::map<uint64_t, std::string> positions;
};

SearchOptions
Options(const Filter& filter)
{
    SearchOptions options;
    options.jobs = 2;
    options.filter = filter;
    return options;
}

/// The plan of degrees and microbatch that the space has.
Plan
PlanOf(const SearchSpace& space, uint32_t tp, uint32_t pp, uint32_t microbatch)
{
    Plan plan = space.Fixed();
    plan.parallel.tp = tp;
    plan.parallel.pp = pp;
    plan.parallel.microbatch = microbatch;
    return *space.PlanAt(space.NumberOf(plan));
}

Duration
BestOf(const DescentResult& result)
{
    Duration best = Duration::Max();
    for (const Ranked& ranked : result.ran)
    {
        best = std::min(best, ranked.report.iterationTime);
    }
    return best;
}

/// The worked case of descent.h, with tp in place of a and pp in place of b: exponents 0 to 2 for 1
/// to 3.
TEST(Descent, TakesTwoAxesWhereOneLeadsNowhere)
{
    const SearchSpace space(TwoBuildings("search: {plan: {tp: [1, 2, 4], pp: [1, 2, 4]}}\n"));
    const FakeEngine engine([](const ParallelPlan& plan) {
        const double a = 1 + std::log2(plan.tp);
        const double b = 1 + std::log2(plan.pp);
        return Duration::Seconds(10 + (a - b) * (a - b) - a);
    });
    StoredRuns sink;
    const auto filter = [](const Scenario& /* scenario */, const IsWorthMore& /* isWorthMore */) {
        return std::variant<ClosedForm, Infeasible>(ClosedForm{Duration::Seconds(1), {}, {}});
    };
    const auto result = Descend(space, engine, Options(filter), {PlanOf(space, 1, 1, 1)}, sink);
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(result.ran.front().report.iterationTime, Duration::Seconds(9));
    EXPECT_EQ(BestOf(result), Duration::Seconds(7));
    // No bound rules anything out: all nine have run, none of them twice.
    EXPECT_EQ(result.ran.size(), 9);
    EXPECT_EQ(result.engineRuns, 9);
    EXPECT_EQ(engine.runs, 9);
    EXPECT_EQ(sink.stored.size(), 9);
    // Where each is found again by its position.
    SearchOptions options = Options(filter);
    const Families families(space, options, Runs::WhatCanMatter);
    for (const auto& [position, text] : sink.positions)
    {
        EXPECT_EQ(CanonicalText(*space.PlanAt(families.IndexOf(position))), text);
    }
}

/// Who is fastest by the bounds lacks memory: what fits is the slowest part of its family at two
/// levels, and the look does not see it.
TEST(Descent, FindsTheOneThatFits)
{
    const SearchSpace space(TwoBuildings(
        "search: {plan: {tp: [1, 2], schedule: [1f1b, gpipe], recompute: [none, selective, full], "
        "sharding: [ddp, zero1, zero2]}}\n"));
    const auto timeOf = [](const ParallelPlan& plan) {
        return Duration::Seconds(1 + (plan.recompute == Recompute("full") ? 1 : 0) +
                                 (plan.sharding == "zero2" ? 1 : 0));
    };
    const FakeEngine engine(timeOf);
    SearchOptions options = Options([&](const Scenario& scenario, const IsWorthMore& /* worth */) {
        const ParallelPlan& plan = scenario.Job().plan;
        const bool fits = plan.recompute == Recompute("full") && plan.sharding == "zero2";
        return fits ? std::variant<ClosedForm, Infeasible>(ClosedForm{timeOf(plan), {}, {}})
                    : std::variant<ClosedForm, Infeasible>(Infeasible{"memory", "too large"});
    });
    options.glance = [&](const SearchSpace& /* space */) -> Glance {
        return
            [&](const Scenario& scenario, PlanDepth /* depth */, const IsWorthMore& /* worth */) {
                return std::variant<ClosedForm, Infeasible>(
                    ClosedForm{timeOf(scenario.Job().plan), {}, {}});
            };
    };
    StoredRuns sink;
    EXPECT_EQ(BestOf(FindFirst(space, engine, options, sink)), Duration::Seconds(3));
}

/// The best of all is in the valley of the other crossing: PP-out has 5 s at the start and 10
/// elsewhere; DP-out 4 s where all other axes have their last values, and a second more for each
/// step away from there, so that around the start no plan takes less than 6.
TEST(Descent, GoesDownFromTheBestOfEachCrossing)
{
    const SearchSpace space(
        TwoBuildings("search: {plan: {tp: [1, 2, 4, 8], pp: [2, 4], microbatch: [1, 2, 4], "
                     "crossing: [pp, dp]}}\n"));
    const auto timeOf = [](const ParallelPlan& plan) {
        const double steps =
            3 - std::log2(plan.tp) + 2 - std::log2(plan.pp) + 2 - std::log2(plan.microbatch);
        const bool isStart = plan.tp == 1 && plan.pp == 2 && plan.microbatch == 1;
        return Duration::Seconds(plan.crossing == Crossing::Data ? 4 + steps : isStart ? 5 : 10);
    };
    const FakeEngine engine(timeOf);
    Plan start = PlanOf(space, 1, 2, 1);
    start.parallel.crossing = Crossing::Pipeline;
    const auto bounded = [](double pipeline, double data) {
        return [=](const Scenario& scenario, const IsWorthMore& /* isWorthMore */) {
            const bool isData = scenario.Job().plan.crossing == Crossing::Data;
            return std::variant<ClosedForm, Infeasible>(
                ClosedForm{Duration::Seconds(isData ? data : pipeline), {}, {}});
        };
    };
    StoredRuns sink;
    const auto result = Descend(space, engine, Options(bounded(1, 1)), {start}, sink);
    EXPECT_EQ(result.ran.front().report.iterationTime, Duration::Seconds(5));
    EXPECT_EQ(BestOf(result), Duration::Seconds(4));
    // None of a crossing runs that cannot have the best of all.
    StoredRuns other;
    for (const Ranked& ranked : Descend(space, engine, Options(bounded(1, 5)), {start}, other).ran)
    {
        EXPECT_EQ(ranked.plan.parallel.crossing, Crossing::Pipeline);
    }
}

/// A drawn time of every plan, from 1 to 2 s, and a bound at a drawn part of it; every fifth plan
/// cannot run.
class DrawnPlans
{
  public:
    explicit DrawnPlans(uint32_t seed)
        : m_seed(seed)
    {
    }

    Duration TimeOf(const ParallelPlan& plan) const
    {
        return Duration::Seconds(1 + Draw(plan, 1));
    }

    std::variant<ClosedForm, Infeasible> Known(const ParallelPlan& plan) const
    {
        if (Draw(plan, 2) < 0.2)
        {
            return Infeasible{"memory", "too large"};
        }
        ClosedForm form;
        form.bound = Duration::Seconds(TimeOf(plan).S() * (0.7 + 0.3 * Draw(plan, 3)));
        return form;
    }

    Filter AsFilter() const
    {
        return [own = *this](const Scenario& scenario, const IsWorthMore& /* isWorthMore */) {
            return own.Known(scenario.Job().plan);
        };
    }

    FakeEngine AsEngine() const
    {
        return FakeEngine([own = *this](const ParallelPlan& plan) { return own.TimeOf(plan); });
    }

  private:
    /// From 0 to 1, of what a plan means.
    double Draw(const ParallelPlan& plan, uint32_t purpose) const
    {
        std::seed_seq seed = {m_seed,
                              purpose,
                              plan.tp,
                              plan.pp,
                              plan.microbatch,
                              uint32_t{plan.crossing == Crossing::Pipeline},
                              plan.chunks,
                              uint32_t{plan.recompute == Recompute("full")}};
        std::mt19937 random(seed);
        return static_cast<double>(random() >> 1) / 0x1p31;
    }

    uint32_t m_seed;
};

std::vector<std::string>
TextsOf(const DescentResult& result)
{
    return Texts(result.ran);
}

/// Of the best plan no neighbour in one or two axes that can run is better; no start is; nothing
/// runs twice; and all of it is the same on any number of threads.
TEST(Descent, EndsWhereNoNeighbourIsBetter)
{
    const SearchSpace space(TwoBuildings(g_axes));
    ASSERT_EQ(space.Size(), 576);
    for (uint32_t seed = 0; seed < 20; seed++)
    {
        const DrawnPlans drawn(seed);
        const std::vector<Plan> starts = {PlanOf(space, 1, 1, 1), PlanOf(space, 8, 4, 4)};
        SearchOptions options = Options(drawn.AsFilter());
        const FakeEngine engine = drawn.AsEngine();
        StoredRuns sink;
        const auto result = Descend(space, engine, options, starts, sink);
        EXPECT_EQ(result.engineRuns, engine.runs);
        for (const Plan& start : starts)
        {
            if (std::holds_alternative<ClosedForm>(drawn.Known(start.parallel)))
            {
                EXPECT_LE(BestOf(result), drawn.TimeOf(start.parallel)) << seed;
            }
        }
        const auto best =
            std::min_element(result.ran.begin(),
                             result.ran.end(),
                             [](const Ranked& a, const Ranked& b) {
                                 return a.report.iterationTime < b.report.iterationTime;
                             });
        if (best == result.ran.end())
        {
            continue; // neither start can run
        }
        std::set<uint64_t> near = {space.NumberOf(best->plan)};
        for (int axes = 0; axes < 2; axes++)
        {
            for (const uint64_t number : std::set<uint64_t>(near))
            {
                const auto more = space.NeighboursOf(number);
                near.insert(more.begin(), more.end());
            }
        }
        for (const uint64_t number : near)
        {
            const ParallelPlan plan = space.PlanAt(space.FirstMeaning(number))->parallel;
            if (std::holds_alternative<ClosedForm>(drawn.Known(plan)))
            {
                EXPECT_GE(drawn.TimeOf(plan), best->report.iterationTime) << seed;
            }
        }
        options.jobs = 5;
        StoredRuns other;
        EXPECT_EQ(TextsOf(Descend(space, engine, options, starts, other)), TextsOf(result));
    }
}

/// A search that is done says the same behind a descent as without one, though it finds runs
/// stored; one that is stopped is never worse than what the descent has found, counts that, and
/// counts no plan twice.
TEST(Descent, ChangesNoSearchThatEnds)
{
    const SearchSpace space(TwoBuildings(g_axes));
    for (uint32_t seed = 0; seed < 20; seed++)
    {
        const DrawnPlans drawn(seed);
        SearchOptions options = Options(drawn.AsFilter());
        options.keep = 3;
        const FakeEngine engine = drawn.AsEngine();
        NoSink none;
        const auto alone = BestFirstSearch().Run(space, engine, options, none);
        StoredRuns sink;
        const auto descent = Descend(space, engine, options, {PlanOf(space, 2, 2, 1)}, sink);
        options.offered = descent.ran;
        const auto behind = BestFirstSearch().Run(space, engine, options, sink);
        EXPECT_EQ(Texts(behind.board.Best()), Texts(alone.board.Best())) << seed;
        EXPECT_EQ(behind.counts.evaluated, alone.counts.evaluated);
        EXPECT_EQ(behind.counts.RuledOut(), alone.counts.RuledOut());
        EXPECT_EQ(behind.counts.Decided(), alone.counts.Decided());
        EXPECT_EQ(behind.counts.provenAfter, alone.counts.provenAfter);

        std::atomic<bool> stop{false};
        std::atomic<int> calls{0};
        const FakeEngine stopped([&](const ParallelPlan& plan) {
            stop = stop || ++calls == 7;
            return drawn.TimeOf(plan);
        });
        options.stop = &stop;
        StoredRuns again;
        const auto some = Descend(space, stopped, options, {PlanOf(space, 2, 2, 1)}, again);
        options.offered = some.ran;
        const auto part = BestFirstSearch().Run(space, stopped, options, again);
        if (!part.interrupted)
        {
            continue;
        }
        EXPECT_LE(part.counts.Decided(), alone.counts.Decided());
        EXPECT_EQ(part.counts.evaluated, again.stored.size());
        if (!some.ran.empty())
        {
            EXPECT_LE(part.board.First()->report.iterationTime, BestOf(some));
        }
    }
}

/// A start that the space does not hold stands for the nearest that it does; where none can run,
/// and in a search that is finished, nothing is done.
TEST(Descent, BeginsNearWhatTheSpaceDoesNotHold)
{
    const SearchSpace space(TwoBuildings("search: {plan: {tp: [2, 4], pp: [1, 2]}}\n"));
    const FakeEngine engine(DistinctTime);
    Plan other = PlanOf(space, 4, 2, 1);
    other.parallel.sharding = "fsdp";
    other.parallel.tp = 8;
    StoredRuns sink;
    const auto result = Descend(space, engine, Options(FitsAlways), {other}, sink);
    EXPECT_EQ(result.ran.front().plan.parallel.pp, 2); // which it has
    EXPECT_EQ(result.ran.front().plan.parallel.tp, 2); // in place of 8
    EXPECT_EQ(BestOf(result), DistinctTime(PlanOf(space, 2, 1, 1).parallel));

    const auto fitsNever = [](const Scenario& /* scenario */, const IsWorthMore& /* worth */) {
        return std::variant<ClosedForm, Infeasible>(Infeasible{"memory", "too large"});
    };
    StoredRuns empty;
    EXPECT_TRUE(Descend(space, engine, Options(fitsNever), {other}, empty).ran.empty());

    class Finished : public NoSink
    {
      public:
        Frontier Resume() override
        {
            Frontier frontier;
            frontier.next = 4;
            return frontier;
        }
    } finished;

    const uint64_t before = engine.runs;
    EXPECT_TRUE(Descend(space, engine, Options(FitsAlways), {other}, finished).ran.empty());
    EXPECT_EQ(engine.runs, before);
}

/// One plan runs, though no start is given: that with the least bound of those that can. The next
/// call finds the best that is stored, and runs nothing.
TEST(Descent, FindsAFirstPlanByItself)
{
    const SearchSpace space(TwoBuildings(g_axes));
    const FakeEngine engine(DistinctTime);
    SearchOptions options = Options([](const Scenario& scenario, const IsWorthMore& /* worth */) {
        const ParallelPlan& plan = scenario.Job().plan;
        return plan.microbatch == 1
                   ? std::variant<ClosedForm, Infeasible>(Infeasible{"memory", "too large"})
                   : std::variant<ClosedForm, Infeasible>(ClosedForm{DistinctTime(plan), {}, {}});
    });
    // Degrees decide the time, so that that of the first plan is the bound of its family.
    options.glance = [](const SearchSpace& /* space */) -> Glance {
        return [](const Scenario& scenario, PlanDepth /* depth */, const IsWorthMore& /* worth */) {
            return std::variant<ClosedForm, Infeasible>(
                ClosedForm{DistinctTime(scenario.Job().plan), {}, {}});
        };
    };
    StoredRuns sink;
    const auto first = FindFirst(space, engine, options, sink);
    ASSERT_EQ(first.ran.size(), 1);
    EXPECT_EQ(engine.runs, 1);
    EXPECT_EQ(BestOf(first), DistinctTime(PlanOf(space, 1, 1, 2).parallel));
    const auto again = FindFirst(space, engine, options, sink);
    EXPECT_EQ(TextsOf(again), TextsOf(first));
    EXPECT_EQ(again.engineRuns, 0);
    EXPECT_EQ(engine.runs, 1);
}

} // namespace

} // namespace scaleacross
