// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/store/search-reader.h"
#include "core/store/search-store.h"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace scaleacross
{

namespace
{

const char* const g_axes = "search: {plan: {tp: [1, 2, 4, 8], pp: [1, 2, 4], microbatch: [1, 2], "
                           "crossing: [dp, pp], chunks: [1, 2]}}\n";

class SearchStoreTest : public testing::Test
{
  protected:
    SearchStoreTest()
        : m_study(TwoBuildings(g_axes)),
          m_space(m_study)
    {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        m_path = std::string("search-store-") + info->name() + ".db";
        Remove();
        m_options.jobs = 2;
        m_options.keep = 3;
        m_options.goals.front = ParseFront("time,memory");
        m_options.goals.rates = RatesOf(m_study);
        m_options.filter = FitsAlways;
    }

    ~SearchStoreTest() override
    {
        Remove();
    }

    void Remove() const
    {
        for (const char* end : {"", "-wal", "-shm"})
        {
            std::filesystem::remove(m_path + end);
        }
    }

    /// One call: a connection of its own, as a process of its own would have.
    SearchResult Explore(const FakeEngine& engine, Failures failures = Failures::Keep)
    {
        Database database(m_path, Database::Access::Write);
        SearchStore store(database,
                          MakeRunSetting(m_study.scenario, engine, m_options.run),
                          m_space,
                          {"fake", "best-first", m_options.keep, m_options.goals},
                          failures);
        return BestFirstSearch().Run(m_space, engine, m_options, store);
    }

    int64_t Number(const std::string& sql) const
    {
        Database database(m_path, Database::Access::Read);
        auto& select = database.Prepare(sql);
        EXPECT_TRUE(select.executeStep());
        return select.getColumn(0).getInt64();
    }

    Study m_study;
    SearchSpace m_space;
    SearchOptions m_options;
    std::string m_path;
};

TEST_F(SearchStoreTest, KeepsTheBestTheFrontAndTheCrossings)
{
    const FakeEngine engine(DistinctTime);
    Explore(engine);
    // 4 x 3 x 2 x 2 plans, each once more with two chunks that 1f1b does not have.
    EXPECT_EQ(engine.runs, 48);
    EXPECT_EQ(Number("SELECT evaluated FROM search"), 48);
    EXPECT_EQ(Number("SELECT engine_runs FROM search"), 48);
    EXPECT_EQ(Number("SELECT finished FROM search"), 1);
    EXPECT_EQ(Number("SELECT count FROM search_count WHERE reason = 'duplicate'"), 48);
    EXPECT_EQ(Number("SELECT count(*) FROM run"), Number("SELECT count(*) FROM search_run"));
    EXPECT_EQ(Number("SELECT count(*) FROM search_run WHERE rank IS NOT NULL"), 3);
    EXPECT_EQ(Number("SELECT count(*) FROM search_run WHERE best_of_crossing = 1"), 2);
    // Memory is 1000 / tp: the best of every tp is on the front.
    EXPECT_EQ(Number("SELECT count(*) FROM search_run WHERE pareto = 1"), 4);
    EXPECT_EQ(Number("SELECT pareto_of = 'time,memory' FROM search"), 1);
    EXPECT_EQ(Number("SELECT count(*) FROM plan"), Number("SELECT count(*) FROM run"));
    EXPECT_EQ(Number("SELECT max(evaluations) FROM run"), 1);
    EXPECT_EQ(Number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

/// Bytes are 100 or 50: with them the best of every (tp, crossing) is on the front. What the first
/// search has kept is not run again.
TEST_F(SearchStoreTest, AnotherFrontIsAnotherSearch)
{
    const FakeEngine first(DistinctTime);
    Explore(first);
    const int64_t kept = Number("SELECT count(*) FROM run");
    m_options.goals.front = ParseFront("time,memory,bytes");
    const FakeEngine second(DistinctTime);
    Explore(second);
    EXPECT_EQ(second.runs, 48 - kept);
    EXPECT_EQ(Number("SELECT count(*) FROM search"), 2);
    EXPECT_EQ(Number("SELECT count(*) FROM search_run JOIN search ON search.id = search_id "
                     "WHERE pareto = 1 AND pareto_of = 'time,memory,bytes'"),
              8);
}

/// Memory is 1000 / tp, so that tp 8 is first by it and last by time.
TEST_F(SearchStoreTest, RanksAreByTheObjective)
{
    const FakeEngine engine(DistinctTime);
    Explore(engine);
    m_options.goals.objective = "memory";
    Explore(engine);
    Explore(engine); // found again
    Database database(m_path, Database::Access::Read);
    const auto searches = ListSearches(database);
    ASSERT_EQ(searches.size(), 2);
    for (const auto& search : searches)
    {
        const bool byMemory = search.objective == Objective("memory");
        const auto best = BestRuns(database, search, 3);
        ASSERT_EQ(best.size(), 3);
        for (const auto& kept : best)
        {
            const auto& report = std::get<RunReport>(kept.run.evaluation);
            EXPECT_EQ(report.memoryMax, Bytes(byMemory ? 125 : 1000));
        }
        EXPECT_EQ(search.rates.gpus, m_study.scenario.cluster.Gpus());
    }
}

/// By prices alone nothing is found again that is ranked by them.
TEST_F(SearchStoreTest, PricesMatterWhereTheyRank)
{
    const FakeEngine engine(DistinctTime);
    m_options.goals.rates = {64, 1000, 5.0};
    Explore(engine);
    m_options.goals.rates.costPerHour = 6.0;
    Explore(engine);
    EXPECT_EQ(Number("SELECT count(*) FROM search"), 1);
    EXPECT_EQ(Number("SELECT cost_per_hour FROM search"), 6);
    m_options.goals.objective = "cost";
    Explore(engine);
    m_options.goals.rates.costPerHour = 7.0;
    Explore(engine);
    EXPECT_EQ(Number("SELECT count(*) FROM search"), 3);
}

TEST_F(SearchStoreTest, AFinishedSearchIsNotRepeated)
{
    const FakeEngine first(DistinctTime);
    const auto expected = Explore(first);
    const FakeEngine second(DistinctTime);
    const auto result = Explore(second);
    EXPECT_EQ(second.runs, 0);
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(Texts(result.board.Best()), Texts(expected.board.Best()));
    EXPECT_EQ(Texts(result.board.ParetoFront()), Texts(expected.board.ParetoFront()));
    EXPECT_EQ(result.counts.evaluated, 48);
    EXPECT_EQ(result.counts.bound, expected.counts.bound);
    EXPECT_EQ(result.counts.rejected.at("duplicate").example,
              expected.counts.rejected.at("duplicate").example);
}

TEST_F(SearchStoreTest, ReportsComeBackAsTheyWere)
{
    const FakeEngine engine(DistinctTime);
    const auto expected = Explore(engine).board.Best();
    const auto stored = Explore(engine).board.Best();
    ASSERT_EQ(stored.size(), expected.size());
    for (size_t i = 0; i < stored.size(); i++)
    {
        const RunReport& a = expected[i].report;
        const RunReport& b = stored[i].report;
        EXPECT_EQ(a.engine, b.engine);
        EXPECT_EQ(a.iterationTime, b.iterationTime);
        EXPECT_EQ(a.memoryMax, b.memoryMax);
        EXPECT_EQ(a.crossBuildingBytes, b.crossBuildingBytes);
        EXPECT_EQ(a.Of(CommClass::Data).busy, b.Of(CommClass::Data).busy);
        ASSERT_EQ(b.memory.size(), 1);
        EXPECT_EQ(b.memory[0].buffers, Bytes(6));
        EXPECT_EQ(b.memory[0].parameters, Bytes(1));
        EXPECT_TRUE(expected[i].plan.parallel == stored[i].plan.parallel);
    }
}

TEST_F(SearchStoreTest, InterruptedAnywhereItEndsTheSame)
{
    const FakeEngine reference(DistinctTime);
    const auto expected = Explore(reference);
    m_options.jobs = 2; // two are under way when the last that is counted ends
    for (const int after : {1, 7, 20, 45})
    {
        Remove();
        std::atomic<bool> stop{false};
        std::atomic<int> calls{0};
        const FakeEngine engine([&](const ParallelPlan& plan) {
            stop = stop || ++calls == after;
            return DistinctTime(plan);
        });
        m_options.stop = &stop;
        EXPECT_TRUE(Explore(engine).interrupted);
        EXPECT_EQ(Number("SELECT count(*) FROM run"), static_cast<int64_t>(engine.runs));
        stop = false;
        calls = 1000;
        const auto result = Explore(engine);
        EXPECT_EQ(engine.runs, 48);
        EXPECT_EQ(Texts(result.board.Best()), Texts(expected.board.Best()));
        EXPECT_EQ(Texts(result.board.ParetoFront()), Texts(expected.board.ParetoFront()));
        EXPECT_EQ(result.counts.evaluated, 48);
        EXPECT_EQ(Number("SELECT engine_runs FROM search"), 48);
        EXPECT_EQ(Number("SELECT max(evaluations) FROM run"), 1);
    }
}

TEST_F(SearchStoreTest, AnotherSearchUsesWhatIsThere)
{
    const FakeEngine engine(DistinctTime);
    m_options.keep = 1000;
    Explore(engine);
    EXPECT_EQ(engine.runs, 48);
    // Another k is another search over the same runs.
    m_options.keep = 3;
    Explore(engine);
    EXPECT_EQ(engine.runs, 48);
    EXPECT_EQ(Number("SELECT count(*) FROM search"), 2);
    // What the first one keeps stays.
    EXPECT_EQ(Number("SELECT count(*) FROM run"), 48);
}

/// Two searches of one scenario that keep different numbers of plans: one finishes, and removes
/// what neither of its rows names, while the other has it in mind.
TEST_F(SearchStoreTest, AnotherSearchMayRemoveRunsInTheMiddle)
{
    const FakeEngine reference(DistinctTime);
    const auto expected = Explore(reference);
    for (const char* end : {"", "-wal", "-shm"})
    {
        std::filesystem::remove(m_path + end);
    }
    m_options.jobs = 1;
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    const FakeEngine first([&](const ParallelPlan& plan) {
        stop = stop || ++calls == 20;
        return DistinctTime(plan);
    });
    SearchOptions other = m_options;
    other.keep = 1;
    other.stop = &stop;
    const auto explore = [this](const FakeEngine& engine, const SearchOptions& options) {
        Database database(m_path, Database::Access::Write);
        SearchStore store(database,
                          MakeRunSetting(m_study.scenario, engine, options.run),
                          m_space,
                          {"fake", "best-first", options.keep, options.goals});
        return BestFirstSearch().Run(m_space, engine, options, store);
    };
    ASSERT_TRUE(explore(first, other).interrupted);
    ASSERT_GE(Number("SELECT count(*) FROM run"), 20);
    stop = false;
    // This one finds the twenty, and before it recalls them the other search is finished.
    std::once_flag once;
    const FakeEngine second(DistinctTime);
    m_options.filter = [&](const Scenario& scenario, const IsWorthMore& isWorthMore) {
        std::call_once(once, [&] { EXPECT_FALSE(explore(first, other).interrupted); });
        return FitsAlways(scenario, isWorthMore);
    };
    const auto result = explore(second, m_options);
    EXPECT_EQ(Texts(result.board.Best()), Texts(expected.board.Best()));
    EXPECT_EQ(result.counts.evaluated, 48);
    EXPECT_EQ(Number("SELECT count(*) FROM search WHERE finished"), 2);
    EXPECT_EQ(Number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    EXPECT_EQ(Number("SELECT count(*) FROM search_run JOIN search ON search.id = search_id "
                     "WHERE keep = 3 AND rank IS NOT NULL"),
              3);
}

/// A slower process of the same search must not take the frontier of a faster one back, or leave
/// its counts beside it.
TEST_F(SearchStoreTest, TheFrontierNeverGoesBack)
{
    m_options.jobs = 1;
    std::atomic<bool> stopSlow{false};
    const FakeEngine fast(DistinctTime);
    const SearchOptions fastOptions = m_options;
    std::atomic<int> slowRuns{0};
    const FakeEngine slow([&](const ParallelPlan& plan) {
        if (++slowRuns == 3)
        {
            Database database(m_path, Database::Access::Write);
            SearchStore store(database,
                              MakeRunSetting(m_study.scenario, fast, m_options.run),
                              m_space,
                              {"fake", "best-first", m_options.keep, m_options.goals});
            EXPECT_FALSE(BestFirstSearch().Run(m_space, fast, fastOptions, store).interrupted);
            stopSlow = true;
        }
        return DistinctTime(plan);
    });
    m_options.stop = &stopSlow;
    EXPECT_TRUE(Explore(slow).interrupted);
    const int64_t next = Number("SELECT next_plan FROM search");
    EXPECT_EQ(next, 96);
    EXPECT_EQ(Number("SELECT evaluated + (SELECT IFNULL(sum(count), 0) FROM search_count) "
                     "FROM search"),
              next);
    stopSlow = false;
    const FakeEngine third(DistinctTime);
    const auto result = Explore(third);
    EXPECT_EQ(result.counts.evaluated, 48);
    EXPECT_EQ(result.counts.rejected.at("duplicate").count, 48);
    EXPECT_EQ(Number("SELECT sum(count) FROM search_count"), 48);
}

/// A program that computes something else finds nothing, and what the other has found stays.
TEST_F(SearchStoreTest, ResultsOfAnotherModelAreNotTaken)
{
    const FakeEngine before(DistinctTime);
    Explore(before);
    FakeEngine after([](const ParallelPlan& plan) { return DistinctTime(plan) * 2; });
    after.fingerprint = "fake 2";
    const auto result = Explore(after);
    EXPECT_EQ(after.runs, 48);
    EXPECT_EQ(result.counts.evaluated, 48);
    const FakeEngine again(DistinctTime);
    Explore(again);
    EXPECT_EQ(again.runs, 0);
    EXPECT_EQ(Number("SELECT count(DISTINCT fingerprint) FROM run"), 2);
}

TEST_F(SearchStoreTest, FailuresStayAndAreNotRetried)
{
    const FakeEngine engine([](const ParallelPlan& plan) {
        if (plan.tp == 4)
        {
            throw RunError("crash", "killed by signal 11");
        }
        return DistinctTime(plan);
    });
    const auto first = Explore(engine);
    EXPECT_EQ(first.counts.failed.at("crash").count, 12);
    EXPECT_EQ(Number("SELECT count(*) FROM run WHERE status = 'failed' AND reason = 'crash'"), 12);
    EXPECT_EQ(Explore(engine).counts.failed.at("crash").count, 12);
    EXPECT_EQ(engine.runs, 48);
}

TEST_F(SearchStoreTest, FailuresRunAgainWhereThatIsAskedFor)
{
    bool fails = true;
    const FakeEngine engine([&fails](const ParallelPlan& plan) {
        if (fails && plan.tp == 1)
        {
            throw RunError("timeout", "after 1 us");
        }
        return DistinctTime(plan);
    });
    m_options.jobs = 1;
    m_options.keep = 100; // nothing is pruned
    EXPECT_EQ(Explore(engine).counts.failed.at("timeout").count, 12);
    fails = false;
    const auto again = Explore(engine, Failures::Repeat);
    EXPECT_EQ(engine.runs, 48 + 12);
    EXPECT_TRUE(again.counts.failed.empty());
    EXPECT_EQ(again.counts.evaluated, 48);
    EXPECT_EQ(again.board.Best().front().plan.parallel.tp, 1U);
    EXPECT_EQ(Number("SELECT finished FROM search"), 1);
    EXPECT_EQ(Number("SELECT evaluated FROM search"), 48);
    EXPECT_EQ(Number("SELECT count(*) FROM search_count WHERE outcome = 'failed'"), 0);
    EXPECT_EQ(Number("SELECT count(*) FROM search_run WHERE rank = 1"), 1);
    // Without a failure there is nothing to go through again.
    Explore(engine, Failures::Repeat);
    EXPECT_EQ(engine.runs, 60);
}

/// As `run --time-limit` in a database where nobody has searched yet.
TEST_F(SearchStoreTest, TheLimitOfASingleRunIsNoResultOfASearch)
{
    const FakeEngine engine(DistinctTime);
    const Plan plan = std::get<Plan>(m_space.At(0));
    {
        Database database(m_path, Database::Access::Write);
        RunOptions hasty = m_options.run;
        hasty.limits.wallTime = Duration::Microseconds(1);
        RunStore runs(database, MakeRunSetting(m_study.scenario, engine, hasty));
        database.Transact([&] { runs.Put(plan, Failure{"timeout", "after 1 us"}, true); });
    }
    const auto result = Explore(engine);
    EXPECT_EQ(engine.runs, 48);
    EXPECT_TRUE(result.counts.failed.empty());
    EXPECT_EQ(Number("SELECT count(*) FROM run WHERE status = 'failed'"), 0);
}

/// A search that has run out of its limits goes on with higher ones, not with the same or lower.
TEST_F(SearchStoreTest, FailuresRunAgainUnderHigherLimits)
{
    Duration needed = Duration::Seconds(100);
    const FakeEngine engine([&](const ParallelPlan& plan) {
        if (plan.tp == 1 && m_options.run.limits.wallTime < needed)
        {
            throw RunError("timeout", "not done");
        }
        return DistinctTime(plan);
    });
    m_options.jobs = 1;
    m_options.keep = 100; // nothing is pruned
    m_options.run.limits = {Duration::Seconds(10), Bytes(1 << 20)};
    EXPECT_EQ(Explore(engine).counts.failed.at("timeout").count, 12);
    EXPECT_EQ(engine.runs, 48);
    EXPECT_EQ(Number("SELECT count(*) FROM run WHERE time_limit_s = 10 AND "
                     "memory_limit = 1048576 AND status = 'failed'"),
              12);
    m_options.run.limits.wallTime = Duration::Seconds(5);
    EXPECT_EQ(Explore(engine).counts.failed.at("timeout").count, 12);
    EXPECT_EQ(engine.runs, 48);
    m_options.run.limits = {Duration::Seconds(5), Bytes(1 << 21)}; // less of one, more of the other
    EXPECT_EQ(Explore(engine).counts.failed.at("timeout").count, 12);
    EXPECT_EQ(engine.runs, 60);
    m_options.run.limits = {Duration::Seconds(100), Bytes()};
    EXPECT_TRUE(Explore(engine).counts.failed.empty());
    EXPECT_EQ(engine.runs, 72);
    EXPECT_EQ(Number("SELECT count(*) FROM run WHERE time_limit_s IS NOT NULL"), 0);
}

TEST_F(SearchStoreTest, AFailureOfHigherLimitsStays)
{
    const FakeEngine engine(DistinctTime);
    const Plan plan = std::get<Plan>(m_space.At(0));
    Database database(m_path, Database::Access::Write);
    const auto fail = [&](const RunLimits& limits, const std::string& detail) {
        RunOptions options = m_options.run;
        options.limits = limits;
        RunStore runs(database, MakeRunSetting(m_study.scenario, engine, options));
        database.Transact([&] { runs.Put(plan, Failure{"timeout", detail}, true); });
        const auto stored = runs.Load(plan);
        return stored ? std::get<Failure>(stored->evaluation).detail : "";
    };
    EXPECT_EQ(fail({Duration::Seconds(10), Bytes()}, "ten"), "ten");
    EXPECT_EQ(fail({Duration::Seconds(1), Bytes()}, "one"), "ten");
    EXPECT_EQ(fail({Duration::Seconds(10), Bytes()}, "ten again"), "ten again");
    EXPECT_EQ(fail({}, "forever"), "forever");
}

/// What is counted belongs to the process that has finished the search.
TEST_F(SearchStoreTest, AFinishedSearchKeepsItsCounts)
{
    const FakeEngine engine(DistinctTime);
    Explore(engine);
    {
        Database database(m_path, Database::Access::Write);
        SearchStore late(database,
                         MakeRunSetting(m_study.scenario, engine, m_options.run),
                         m_space,
                         {"fake", "best-first", m_options.keep, m_options.goals});
        Frontier other = late.Resume();
        other.evaluated = 1;
        other.rejected.clear();
        late.Commit(other); // as far, and not finished yet
    }
    EXPECT_EQ(Number("SELECT evaluated FROM search"), 48);
    EXPECT_EQ(Number("SELECT sum(count) FROM search_count"), 48);
}

/// Two processes with the same 48 plans of 40 ms. What one has run the other knows within two
/// commits of 50 ms, some 3 plans: of these few are the same by chance, but for the first 4, which
/// are taken together while it is not known how long they take. In step they run 96.
TEST_F(SearchStoreTest, TwoProcessesShareTheWork)
{
    const FakeEngine engine([](const ParallelPlan& plan) {
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        return DistinctTime(plan);
    });
    m_options.jobs = 1;
    const auto explore = [&](uint32_t process) {
        SearchOptions options = m_options;
        options.process = process;
        Database database(m_path, Database::Access::Write);
        SearchStore store(database,
                          MakeRunSetting(m_study.scenario, engine, m_options.run),
                          m_space,
                          {"fake", "best-first", m_options.keep, m_options.goals});
        EXPECT_EQ(BestFirstSearch().Run(m_space, engine, options, store).counts.evaluated, 48);
    };
    std::thread other(explore, 4711);
    explore(4712);
    other.join();
    EXPECT_LT(engine.runs, 75);
    EXPECT_EQ(Number("SELECT evaluated FROM search"), 48);
}

/// As `run --time-limit` of a plan that a search has found to be the best.
TEST_F(SearchStoreTest, AFailureReplacesNoResult)
{
    const FakeEngine engine(DistinctTime);
    const auto before = Explore(engine);
    const Plan best = before.board.Best().front().plan;
    {
        Database database(m_path, Database::Access::Write);
        RunStore runs(database, MakeRunSetting(m_study.scenario, engine, m_options.run));
        const auto known = runs.Find(best);
        database.Transact([&] {
            EXPECT_EQ(runs.Put(best, Failure{"timeout", "after 1 us"}, true), *known);
        });
        EXPECT_TRUE(std::holds_alternative<RunReport>(runs.Load(best)->evaluation));
    }
    EXPECT_EQ(Texts(Explore(engine).board.Best()), Texts(before.board.Best()));
}

/// What was concluded from runs that are run again, holds of none of them until it is concluded
/// anew: an unfinished search is as silent as one that has just begun.
TEST_F(SearchStoreTest, WhatIsOpenedAgainHasNoAnswerLeft)
{
    const FakeEngine engine([](const ParallelPlan& plan) {
        if (plan.tp == 1)
        {
            throw RunError("timeout", "not done");
        }
        return DistinctTime(plan);
    });
    Explore(engine);
    Database(m_path, Database::Access::Write).Prepare("UPDATE search SET proven_after = 7").exec();
    const auto store = [&](Database& database, Failures failures) {
        return std::make_unique<SearchStore>(
            database,
            MakeRunSetting(m_study.scenario, engine, m_options.run),
            m_space,
            SearchIdentity{"fake", "best-first", m_options.keep, m_options.goals},
            failures);
    };
    {
        Database database(m_path, Database::Access::Write);
        const auto concluded = store(database, Failures::Keep);
        concluded->Resume();
        concluded->PutBaseline("megatron", Infeasible{"memory", "too large"});
        Conclusion conclusion;
        conclusion.gap = 0.25;
        conclusion.explanation = {{"best", "first line"}};
        conclusion.placement = 0.8;
        conclusion.sure = 0.9;
        conclusion.timeError =
            TimeError{"dense", 0.1, 0.2, -0.3, 7, 4, {"MoE, wide", "short"}, "few"};
        conclusion.plans = {{0.6, {}, 0}, {0.4, 0.75, 1}};
        conclusion.baselines = {{"megatron", 0.8}};
        concluded->Conclude(conclusion);
        StoreRobust(database, concluded->Id(), "{}");
    }
    const std::map<std::string, std::vector<std::string>> answer = {
        {"search",
         {"gap",
          "explanation",
          "topics",
          "robust",
          "proven_after",
          "sure",
          "placement_probability",
          "time_error_kind",
          "time_error_mean",
          "time_error_within",
          "time_error_worst",
          "time_error_runs",
          "time_error_families",
          "time_error_figures_of",
          "time_error_unvalidated"}},
        {"search_run", {"rank", "probability_best", "probability_slower", "same_as"}},
        {"baseline", {"probability_slower"}}};
    const auto expect = [&](bool there) {
        for (const auto& [table, columns] : answer)
        {
            for (const std::string& column : columns)
            {
                EXPECT_EQ(Number("SELECT count(" + column + ") > 0 FROM " + table), there ? 1 : 0)
                    << table << "." << column;
            }
        }
    };
    expect(true);
    {
        Database database(m_path, Database::Access::Write);
        EXPECT_EQ(store(database, Failures::Repeat)->Resume().next, 0U);
    }
    expect(false);
}

TEST_F(SearchStoreTest, BaselinesAndConclusionCanBeShown)
{
    const FakeEngine engine(DistinctTime);
    Database database(m_path, Database::Access::Write);
    SearchStore store(database,
                      MakeRunSetting(m_study.scenario, engine, m_options.run),
                      m_space,
                      {"fake", "best-first", m_options.keep, m_options.goals});
    Plan plan = std::get<Plan>(m_space.At(m_space.Size() - 2)); // the slowest: not kept by rank
    const Evaluation evaluation = Evaluate(engine, m_space.With(plan), m_options.run);
    store.PutBaseline("production", plan, evaluation);
    store.PutBaseline("megatron", Infeasible{"memory", "too large"});
    BestFirstSearch().Run(m_space, engine, m_options, store);
    Conclusion conclusion;
    conclusion.gap = 0.25;
    conclusion.explanation = {{"best", "first line"}, {"proof", "second line"}};
    conclusion.placement = 0.8;
    conclusion.sure = 0.9;
    conclusion.timeError = TimeError{"dense", 0.1, 0.2, -0.3, 7, 4, {"MoE, wide", "short"}, "few"};
    conclusion.plans = {{0.6, {}, 0}, {0.4, 0.75, 0}, {0.4, 0.75, 2}};
    conclusion.baselines = {{"production", 0.8}};
    store.Conclude(conclusion);

    const auto searches = ListSearches(database);
    ASSERT_EQ(searches.size(), 1);
    EXPECT_EQ(searches[0].study, "fake");
    EXPECT_TRUE(searches[0].finished);
    const Conclusion& shown = searches[0].conclusion;
    EXPECT_EQ(shown.gap, 0.25);
    EXPECT_EQ(shown.sure, 0.9);
    ASSERT_TRUE(shown.timeError);
    EXPECT_EQ(shown.timeError->kind, "dense");
    EXPECT_EQ(shown.timeError->within, 0.2);
    EXPECT_EQ(shown.timeError->worst, -0.3);
    EXPECT_EQ(shown.timeError->runs, 7U);
    EXPECT_EQ(shown.timeError->families, 4U);
    EXPECT_EQ(shown.timeError->figuresOf, (std::vector<std::string>{"MoE, wide", "short"}));
    EXPECT_EQ(shown.timeError->unvalidated, "few");
    ASSERT_EQ(shown.explanation.size(), 2U);
    EXPECT_EQ(shown.explanation[0].text, "first line");
    EXPECT_EQ(shown.explanation[1].text, "second line");
    EXPECT_EQ(shown.explanation[1].topic, "proof");
    EXPECT_EQ(shown.placement, 0.8);
    const auto kept = BestRuns(database, searches[0], 4);
    ASSERT_EQ(kept.size(), 4U);
    EXPECT_EQ(kept[0].sureness.best, 0.6);
    EXPECT_FALSE(kept[0].sureness.slower);
    EXPECT_EQ(kept[1].sureness.slower, 0.75);
    EXPECT_EQ(kept[2].sureness.sameAs, 2U);
    EXPECT_FALSE(kept[3].sureness.best);
    const auto baselines = BaselinesOf(database, searches[0].id);
    ASSERT_EQ(baselines.size(), 2);
    EXPECT_EQ(baselines[0].reason.detail, "too large");
    ASSERT_TRUE(baselines[1].run);
    EXPECT_EQ(baselines[1].probabilitySlower, 0.8);
    EXPECT_FALSE(baselines[0].probabilitySlower);
    EXPECT_EQ(baselines[1].run->planText, CanonicalText(plan));
    const auto best = BestRuns(database, searches[0], 2);
    ASSERT_EQ(best.size(), 2);
    EXPECT_EQ(best[0].rank, 1);
    EXPECT_LT(std::get<RunReport>(best[0].run.evaluation).iterationTime,
              std::get<RunReport>(best[1].run.evaluation).iterationTime);
}

/// The answer of a search that is stopped stays as long as nothing else has run: where it is looked
/// at again, and where a signal stops that at once.
TEST_F(SearchStoreTest, AnAnswerSoFarIsOfWhatHasRun)
{
    std::atomic<int> left{17};
    std::atomic<bool> stop{false};
    const FakeEngine engine([&](const ParallelPlan& plan) {
        stop = --left <= 0;
        return DistinctTime(plan);
    });
    m_options.stop = &stop;
    Database database(m_path, Database::Access::Write);
    const auto store = [&] {
        return SearchStore(database,
                           MakeRunSetting(m_study.scenario, engine, m_options.run),
                           m_space,
                           {"fake", "best-first", m_options.keep, m_options.goals});
    };
    SearchStore first = store();
    const SearchResult result = BestFirstSearch().Run(m_space, engine, m_options, first);
    ASSERT_TRUE(result.interrupted);
    Conclusion conclusion;
    conclusion.explanation = {{"best", "A is the best so far."}};
    conclusion.warnings = {"it is new"};
    conclusion.plans = {{0.5, std::nullopt, 0}, {0.25, 0.75, 0}, {0.25, 0.75, 2}};
    first.ConcludeSoFar(conclusion, {SoFar::End::Time, result.counts}, result.board);
    const auto shown = [&] { return ListSearches(database).front(); };
    const auto expectIt = [&] {
        const SearchSummary search = shown();
        ASSERT_TRUE(search.soFar);
        EXPECT_EQ(search.soFar->end, SoFar::End::Time);
        EXPECT_EQ(search.counts.evaluated, result.counts.evaluated);
        EXPECT_EQ(search.counts.DecidedPositions(), result.counts.DecidedPositions());
        EXPECT_EQ(search.counts.rejected.size(), result.counts.rejected.size());
        EXPECT_EQ(search.conclusion.explanation.front().text, "A is the best so far.");
        EXPECT_EQ(search.conclusion.warnings, conclusion.warnings);
        const auto best = BestRuns(database, search, 100);
        ASSERT_EQ(best.size(), result.counts.evaluated); // nothing is removed
        EXPECT_EQ(best[0].sureness.best, 0.5);
        EXPECT_EQ(best[1].sureness.slower, 0.75);
        EXPECT_EQ(best[2].sureness.sameAs, 2);
        EXPECT_EQ(best[3].sureness.best, std::nullopt);
        EXPECT_EQ(PlacementRuns(database, search).size(), result.board.BestOfEach().size());
    };
    expectIt();
    SearchStore second = store(); // stop is still set
    const SearchResult same = BestFirstSearch().Run(m_space, engine, m_options, second);
    expectIt();
    second.ConcludeSoFar({}, {SoFar::End::Signal, same.counts}, same.board);
    expectIt();
    StoreChecked(database, second.Id(), {"By flow too.", "Nearly."});
    EXPECT_THAT(shown().checked, testing::ElementsAre("By flow too.", "Nearly."));

    // More runs: nobody has concluded from them.
    left = 8;
    stop = false;
    SearchStore third = store();
    const SearchResult more = BestFirstSearch().Run(m_space, engine, m_options, third);
    ASSERT_TRUE(more.interrupted);
    const SearchSummary open = shown();
    EXPECT_FALSE(open.soFar);
    EXPECT_TRUE(open.conclusion.explanation.empty());
    EXPECT_FALSE(open.warningsKnown);
    EXPECT_TRUE(open.checked.empty());
    EXPECT_TRUE(PlacementRuns(database, open).empty());
    third.ConcludeSoFar({}, {SoFar::End::Signal, more.counts}, more.board);
    EXPECT_EQ(shown().soFar->end, SoFar::End::Signal);

    left = 1000;
    stop = false;
    SearchStore last = store();
    ASSERT_FALSE(BestFirstSearch().Run(m_space, engine, m_options, last).interrupted);
    EXPECT_FALSE(shown().soFar);
    EXPECT_TRUE(shown().finished);
    last.ConcludeSoFar(conclusion, {SoFar::End::Time, result.counts}, result.board);
    EXPECT_FALSE(shown().soFar); // somebody else has finished it
}

/// A new baseline is one that the answer so far does not compare with.
TEST_F(SearchStoreTest, AnAnswerSoFarGoesWithANewBaseline)
{
    std::atomic<bool> stop{true};
    m_options.stop = &stop;
    const FakeEngine engine(DistinctTime);
    Database database(m_path, Database::Access::Write);
    SearchStore store(database,
                      MakeRunSetting(m_study.scenario, engine, m_options.run),
                      m_space,
                      {"fake", "best-first", m_options.keep, m_options.goals});
    const SearchResult none = BestFirstSearch().Run(m_space, engine, m_options, store);
    store.ConcludeSoFar({}, {SoFar::End::Time, none.counts}, none.board);
    EXPECT_TRUE(ListSearches(database).front().soFar);
    store.PutBaseline("megatron", Infeasible{"memory", "too large"});
    EXPECT_FALSE(ListSearches(database).front().soFar);
}

TEST_F(SearchStoreTest, ScenarioSeedAndVersionAreParts)
{
    const FakeEngine engine(DistinctTime);
    const RunSetting one = MakeRunSetting(m_study.scenario, engine, m_options.run);
    Scenario other = m_study.scenario;
    other.cluster.crossLinks[0].loss = 1e-6;
    EXPECT_NE(Text(MakeRunSetting(other, engine, m_options.run)), Text(one));
    RunOptions longer;
    longer.iterations = 7;
    EXPECT_NE(Text(MakeRunSetting(m_study.scenario, engine, longer)), Text(one));
    // What cannot change a result is no part.
    RunOptions patient;
    patient.limits.wallTime = Duration::Seconds(5);
    patient.seed = 99; // the fake draws nothing
    EXPECT_EQ(Text(MakeRunSetting(m_study.scenario, engine, patient)), Text(one));
    // The plan is not part of the setting.
    other = m_study.scenario;
    other.Job().plan.tp = 8;
    other.network.qps = 2;
    EXPECT_EQ(Text(MakeRunSetting(other, engine, m_options.run)), Text(one));
}

} // namespace

} // namespace scaleacross
