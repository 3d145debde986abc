// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/explore/robust.h"
#include "core/io/read-study.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

CaseTimes
Times(const std::vector<int>& seconds)
{
    CaseTimes times;
    for (const int time : seconds)
    {
        times.push_back(time > 0 ? std::optional<Duration>(Duration::Seconds(time)) : std::nullopt);
    }
    return times;
}

/// A space whose plans are known by their microbatch, with times (in s; 0: it cannot run) by plan
/// and case.
struct Table
{
    std::vector<std::vector<int>> times;
    size_t searches{0};
    size_t runs{0};

    static Plan PlanAt(size_t number)
    {
        Plan plan;
        plan.parallel.microbatch = static_cast<uint32_t>(number + 1);
        return plan;
    }

    static size_t NumberOf(const Plan& plan)
    {
        return plan.parallel.microbatch - 1;
    }

    CaseSearch Search(size_t index, size_t keep)
    {
        searches++;
        CaseSearch found;
        for (size_t p = 0; p < times.size(); p++)
        {
            if (times[p][index] > 0)
            {
                found.best.emplace_back(PlanAt(p), Duration::Seconds(times[p][index]));
            }
        }
        std::stable_sort(found.best.begin(), found.best.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
        if (found.best.size() >= keep)
        {
            found.best.resize(keep);
            found.beyond = found.best.back().second;
        }
        return found;
    }

    RobustQuestion Ask(const std::vector<double>& shares, double quantile, size_t keep, size_t most)
    {
        RobustQuestion question;
        question.shares = shares;
        question.quantile = quantile;
        question.keep = keep;
        question.most = most;
        question.search = [this](size_t index, size_t k) { return Search(index, k); };
        question.run = [this](const std::vector<Plan>& plans, bool&) {
            std::vector<CaseTimes> all;
            for (const Plan& plan : plans)
            {
                runs++;
                all.push_back(Times(times[NumberOf(plan)]));
            }
            return all;
        };
        return question;
    }
};

/// The worked case of the header, and its neighbours.
TEST(Robust, QuantileIsTheLeastTimeThatIsEnough)
{
    const std::vector<double> shares = {0.5, 0.4, 0.1};
    const CaseTimes times = Times({10, 12, 30});
    const auto at = [&](double quantile) { return QuantileOf(times, shares, quantile)->S(); };
    EXPECT_EQ(at(0.5), 10);
    EXPECT_EQ(at(0.51), 12);
    EXPECT_EQ(at(0.9), 12);
    EXPECT_EQ(at(0.95), 30);
    EXPECT_EQ(at(1), 30);
    // 0.5 x 10 + 0.4 x 12 + 0.1 x 30
    EXPECT_NEAR(MeanOf(times, shares)->S(), 12.8, 1e-9);
    // What cannot run in a tenth of the cases keeps nothing with 95 %.
    EXPECT_EQ(QuantileOf(Times({10, 12, 0}), shares, 0.9)->S(), 12);
    EXPECT_EQ(QuantileOf(Times({10, 12, 0}), shares, 0.95), std::nullopt);
    EXPECT_EQ(MeanOf(Times({10, 12, 0}), shares), std::nullopt);
    // Three tenths are 0.30000000000000004.
    EXPECT_EQ(QuantileOf(Times({1, 2, 3, 9}), {0.1, 0.1, 0.1, 0.7}, 0.3)->S(), 3);
}

TEST(Robust, TailHasMoreThanWhatTheQuantileLeavesOut)
{
    const std::vector<double> shares = {0.5, 0.4, 0.1};
    const CaseTimes times = Times({10, 12, 30});
    EXPECT_THAT(TailOf(times, shares, 0.95), ElementsAre(2));
    EXPECT_THAT(TailOf(times, shares, 0.9), ElementsAre(2, 1)); // 0.1 is not more than 0.1
    EXPECT_THAT(TailOf(times, shares, 0.5), ElementsAre(2, 1, 0));
    EXPECT_THAT(TailOf(times, shares, 1), ElementsAre(2));
    EXPECT_THAT(TailOf(Times({10, 0, 30}), shares, 0.95), ElementsAre(1));
}

/// The worked case of FindRobust(): what is not among the best as the study is wins.
TEST(Robust, FindsThePlanThatNoNominalSearchKeeps)
{
    Table table{{{10, 30}, {11, 20}, {15, 19}}};
    const auto answer =
        FindRobust({Table::PlanAt(0), Table::PlanAt(1)}, table.Ask({0.9, 0.1}, 0.95, 1, 16));
    ASSERT_EQ(answer.plans.size(), 3U);
    EXPECT_EQ(Table::NumberOf(answer.plans[0].plan), 2U);
    EXPECT_EQ(answer.plans[0].quantile->S(), 19);
    EXPECT_EQ(Table::NumberOf(answer.plans[1].plan), 1U);
    EXPECT_THAT(answer.tail, ElementsAre(1));
    EXPECT_TRUE(answer.proven);
    EXPECT_EQ(answer.bound.S(), 19);
    EXPECT_EQ(table.searches, 1U); // C alone: nothing takes less than its 19
}

/// Plans that take long where it does not count are not run.
TEST(Robust, LeavesOutWhatCannotHaveALesserQuantile)
{
    Table table{{{10, 20}, {5, 21}, {4, 22}, {3, 19}}};
    const auto answer = FindRobust({Table::PlanAt(0)}, table.Ask({0.9, 0.1}, 0.95, 100, 100));
    EXPECT_EQ(answer.plans.front().quantile->S(), 19);
    EXPECT_TRUE(answer.proven);
    EXPECT_EQ(table.runs, 2U);
}

/// Shares 1/2, 1/4, 1/4 and the quantile 3/4: the tail is two cases, here the last two, and a plan
/// is as slow as the second slowest of its cases. B and C, fast in these, have 50; D has 18, and is
/// found by a search that keeps three.
TEST(Robust, SaysWhatIsNotProven)
{
    Table table{{{1, 20, 20}, {50, 14, 14}, {50, 15, 15}, {1, 18, 18}}};
    const std::vector<double> shares = {0.5, 0.25, 0.25};
    const auto some = FindRobust({Table::PlanAt(0)}, table.Ask(shares, 0.75, 1, 2));
    EXPECT_THAT(some.tail, testing::UnorderedElementsAre(1, 2));
    EXPECT_EQ(some.plans.front().quantile->S(), 20);
    EXPECT_FALSE(some.proven);
    EXPECT_EQ(some.bound.S(), 15);
    const auto all = FindRobust({Table::PlanAt(0)}, table.Ask(shares, 0.75, 1, 8));
    EXPECT_EQ(all.plans.front().quantile->S(), 18);
    EXPECT_TRUE(all.proven);
    EXPECT_EQ(all.bound.S(), 18);
}

/// Against the least quantile of all plans, found by going through them: times that are not
/// monotone in anything, plans that cannot run, quantiles at and between sums of shares.
TEST(Robust, IsTheBestOfTheWholeSpaceWhereItSaysSo)
{
    std::mt19937 random(7);
    const auto draw = [&random](int least, int most) {
        return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
    };
    size_t proven = 0;
    for (int round = 0; round < 400; round++)
    {
        const auto cases = static_cast<size_t>(draw(1, 6));
        std::vector<double> shares(cases);
        double sum = 0;
        for (double& share : shares)
        {
            share = draw(1, 10);
            sum += share;
        }
        for (double& share : shares)
        {
            share /= sum;
        }
        Table table;
        for (int p = draw(2, 60); p > 0; p--)
        {
            std::vector<int> row(cases);
            for (int& time : row)
            {
                time = draw(0, 12) == 0 ? 0 : draw(10, 40);
            }
            table.times.push_back(row);
        }
        table.times.front().assign(cases, draw(20, 40));
        const double quantile = round % 3 == 0 ? shares.front() : draw(1, 20) * 0.05;
        Duration least = Duration::Max();
        for (const auto& row : table.times)
        {
            least =
                std::min(least, QuantileOf(Times(row), shares, quantile).value_or(Duration::Max()));
        }
        const auto most = static_cast<size_t>(draw(1, 64));
        const auto answer = FindRobust({Table::PlanAt(0)}, table.Ask(shares, quantile, 1, most));
        EXPECT_LE(answer.bound, least);
        const Duration found = answer.plans.front().quantile.value_or(Duration::Max());
        EXPECT_GE(found, least);
        if (answer.proven)
        {
            proven++;
            EXPECT_EQ(found, least);
        }
        if (most > 60)
        {
            EXPECT_TRUE(answer.proven);
        }
    }
    EXPECT_GT(proven, 100U);
    EXPECT_LT(proven, 400U);
}

/// What is known of no plan's time proves nothing.
TEST(Robust, FailedRunsProveNothing)
{
    Table table{{{10, 20}}};
    RobustQuestion question = table.Ask({0.9, 0.1}, 0.95, 1, 16);
    const auto search = question.search;
    question.search = [&search](size_t index, size_t keep) {
        CaseSearch found = search(index, keep);
        found.failed = true;
        return found;
    };
    EXPECT_FALSE(FindRobust({Table::PlanAt(0)}, question).proven);
}

const std::string g_study = R"yaml(study: uncertain
model: {name: tiny, layers: 4, hidden: 512, heads: 8, head_dim: 64, dense_ffn: 2048, vocabulary: 4096}
workload: {sequence: 512, global_batch: 24}
cluster:
  buildings: {count: 3, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {rails: true, spines: 2}}
  cross: {distance: 10km, capacity: 800Gbps}
  links:
    - {between: [building1, building2], distance: 40km, latency: 300us}
plan: {tp: 4, crossing: dp, sharding: ddp}
)yaml";

Study
With(const std::string& uncertain)
{
    return ParseStudy(g_study + "uncertain: " + uncertain + "\n", "study.yaml");
}

/// Values of a figure in all spans; multiples of what each has; latency goes with the distance
/// where it is that of the fibre, 5 us a kilometre.
TEST(UncertainSpans, CasesAreAllCombinations)
{
    const Study study = With("{distance: {values: [20km, 30km], shares: [0.75, 0.25]}, "
                             "capacity: {values: [1x, 0.5x], shares: [0.9, 0.1]}}");
    EXPECT_EQ(study.uncertain->quantile, 0.95);
    const auto cases = CasesOf(study);
    ASSERT_EQ(cases.size(), 4U);
    EXPECT_EQ(cases[0].Name(), "distance=20km, capacity=1x");
    EXPECT_EQ(cases[3].Name(), "distance=30km, capacity=0.5x");
    EXPECT_NEAR(cases[0].share, 0.675, 1e-12);
    EXPECT_NEAR(cases[1].share, 0.075, 1e-12);
    EXPECT_NEAR(cases[2].share, 0.225, 1e-12);
    EXPECT_NEAR(cases[3].share, 0.025, 1e-12);
    for (const CrossLinkSpec& span : cases[3].scenario.cluster.crossLinks)
    {
        EXPECT_EQ(span.distance.Value(), 30);
        EXPECT_EQ(span.capacity.Value(), 4e11);
        const bool own = span.a == 0 && span.b == 1;
        EXPECT_EQ(span.latency.S(), own ? 300e-6 : 150e-6);
    }
    // The study itself is as it was.
    EXPECT_EQ(study.scenario.cluster, ParseStudy(g_study, "study.yaml").scenario.cluster);
}

TEST(UncertainSpans, ARangeIsTheMiddlesOfItsParts)
{
    // Of 10 to 20 in 5 parts of 2: 11, 13, 15, 17, 19.
    const auto cases = CasesOf(With("{quantile: 0.5, distance: {low: 10km, high: 20km}}"));
    std::vector<std::string> names;
    for (const auto& one : cases)
    {
        names.push_back(one.Name());
        EXPECT_DOUBLE_EQ(one.share, 0.2);
    }
    EXPECT_THAT(names,
                ElementsAre("distance=11km",
                            "distance=13km",
                            "distance=15km",
                            "distance=17km",
                            "distance=19km"));
    // Multiples of 10 km and 40 km: 1 + (3 - 1) / 4 and 1 + 3 (3 - 1) / 4.
    const auto twice = CasesOf(With("{distance: {low: 1x, high: 3x, points: 2}}"));
    ASSERT_EQ(twice.size(), 2U);
    EXPECT_EQ(twice[1].scenario.cluster.crossLinks[0].distance.Value(), 2.5 * 40);
    EXPECT_EQ(twice[1].scenario.cluster.crossLinks[1].distance.Value(), 2.5 * 10);
}

TEST(UncertainSpans, NoFigureIsNoUncertainty)
{
    EXPECT_FALSE(With("{}").uncertain);
    EXPECT_FALSE(ParseStudy(g_study, "study.yaml").uncertain);
}

TEST(UncertainSpans, WrongOnesAreRefusedWithTheirPlace)
{
    for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
             {"{quantile: 0.9}", "no figure is uncertain"},
             {"{lanes: {values: [1, 2]}}", "lanes"},
             {"{distance: {values: [10km, fast]}}", "uncertain.distance"},
             {"{distance: {values: [10km, 10km]}}", "a value is given twice"},
             {"{distance: {values: [10km, 10000m]}}",
              "10km and 10000m are the same for every span"},
             {"{loss: {values: [0.5x, 2x]}}", "0.5x and 2x are the same for every span"},
             {"{distance: {values: [10km, 20km], shares: [0.5]}}", "1 shares for 2 values"},
             {"{distance: {values: [10km, 20km], shares: [0.5, 0.6]}}", "they add up to 1.1"},
             {"{distance: {values: [10km, 20km], shares: [1, 0]}}", "'0' is out of range"},
             {"{distance: {values: [10km], low: 1km, high: 2km}}", "a range is given too"},
             {"{distance: {low: 10km}}", "uncertain.distance.high"},
             {"{distance: {low: 10km, high: 1x}}", "different units"},
             {"{distance: {low: 10km, high: 9km}}", "is not above low"},
             {"{distance: {low: 10km, high: 20km, shares: [1]}}", "a range has none"},
             {"{distance: {low: 10km, high: 20km, points: 1}}", "points"},
             {"{loss: {values: [0, 0.9]}}", "0.9"},
             {"{capacity: {values: [-1x]}}", "is no multiple"},
             {"{capacity: {values: [1e400x]}}", "is out of range"},
             {"{quantile: 1.5, loss: {values: [0, 0.1]}}", "uncertain.quantile"},
             {"{loss: {low: 0, high: 0.1, points: 100}, capacity: {values: [1x, 0.5x]}}",
              "200 combinations"}})
    {
        try
        {
            With(text);
            ADD_FAILURE() << text;
        }
        catch (const ConfigError& error)
        {
            EXPECT_THAT(error.what(), HasSubstr("study.yaml:10:")) << text;
            EXPECT_THAT(error.what(), HasSubstr(says)) << text;
        }
    }
    std::string one = g_study;
    one.replace(one.find("count: 3"), 8, "count: 1");
    one.erase(one.find("  cross:"), one.find("plan:") - one.find("  cross:"));
    EXPECT_THROW(ParseStudy(one + "uncertain: {loss: {values: [0, 0.1]}}\n", "study.yaml"),
                 ConfigError);
}

} // namespace

} // namespace scaleacross
