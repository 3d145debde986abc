// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

/// An engine whose time is a function of the whole scenario.
class ScenarioEngine : public FakeEngine
{
  public:
    using Microseconds = std::function<int64_t(const Scenario&)>;

    explicit ScenarioEngine(Microseconds time)
        : FakeEngine(DistinctTime),
          m_time(std::move(time))
    {
    }

    RunResult Run(const Scenario& scenario, const RunOptions& options) const override
    {
        RunReport report = std::get<RunReport>(FakeEngine::Run(scenario, options));
        report.iterationTime = Duration::Microseconds(m_time(scenario));
        return report;
    }

  private:
    Microseconds m_time;
};

/// Nothing is slower than its bound, and everything fits that has the batch for it.
std::variant<ClosedForm, Infeasible>
BatchFits(const Scenario& scenario, const IsWorthMore& /* isWorthMore */)
{
    if (scenario.Job().workload.globalBatch % 16 != 0)
    {
        return Infeasible{"batch", "it is no multiple of 16"};
    }
    return ClosedForm();
}

/// Of pp 1 the distance in km, of pp 2 always 40, in milliseconds.
int64_t
ByDistance(const Scenario& scenario)
{
    const double km = scenario.cluster.crossLinks[0].distance.Value();
    return scenario.Job().plan.pp == 1 ? static_cast<int64_t>(1000 * km) : 40000;
}

class SensitivityOf : public testing::Test
{
  protected:
    SensitivityOf()
    {
        m_options.jobs = 1;
        m_options.filter = BatchFits;
    }

    Sensitivity Of(const std::string& key, double by)
    {
        const ScenarioEngine engine(ByDistance);
        const BestPlan base = FindBestPlan(m_study, engine, m_options);
        EXPECT_EQ(base.plan->report.iterationTime, Duration::Microseconds(30000));
        const SensitivityProbe probe(m_study, *base.plan, engine, m_options);
        for (const StudyInput& input : InputsOf(m_study, by).varied)
        {
            if (input.key == key)
            {
                return probe.Of(input, by);
            }
        }
        ADD_FAILURE() << key;
        return {};
    }

    const Duration m_base{Duration::Microseconds(30000)};
    Study m_study{TwoBuildings("plan: {tp: 4}\nsearch: {plan: {pp: [1, 2]}}\n")};
    SearchOptions m_options;
};

TEST_F(SensitivityOf, TheChoiceStaysWhereItIsStillTheBest)
{
    // 24 and 36 km, both below 40.
    const Sensitivity bar = Of("cluster.cross.distance", 0.2);
    EXPECT_EQ(bar.value, "30km");
    EXPECT_EQ(bar.low.value, "24km");
    EXPECT_EQ(bar.low.kept, Duration::Microseconds(24000));
    EXPECT_EQ(bar.low.best, bar.low.kept);
    EXPECT_FALSE(bar.low.changes);
    EXPECT_EQ(bar.high.kept, Duration::Microseconds(36000));
    EXPECT_FALSE(bar.high.changes);
    EXPECT_NEAR(*bar.Effect(m_base), 0.2, 1e-12);
}

TEST_F(SensitivityOf, AnotherChoiceIsNamedWithWhatItSaves)
{
    // 15 and 45 km: with pp 2 40 ms.
    const Sensitivity bar = Of("cluster.cross.distance", 0.5);
    EXPECT_FALSE(bar.low.changes);
    EXPECT_EQ(bar.high.kept, Duration::Microseconds(45000));
    EXPECT_EQ(bar.high.best, Duration::Microseconds(40000));
    EXPECT_TRUE(bar.high.changes);
    EXPECT_THAT(bar.high.label, testing::HasSubstr("PP2"));
    // The larger of -50 % and 40 / 30 - 1.
    EXPECT_NEAR(*bar.Effect(m_base), 0.5, 1e-12);
}

TEST_F(SensitivityOf, WhereNoPlanRunsTheReasonStands)
{
    // 64 by 1/8: steps of 8, 56 and 72, and neither is a multiple of 16.
    const Sensitivity bar = Of("workload.global_batch", 0.125);
    EXPECT_EQ(bar.low.value, "56");
    EXPECT_FALSE(bar.low.best);
    EXPECT_FALSE(bar.low.refused);
    EXPECT_THAT(bar.low.reason, testing::HasSubstr("multiple of 16"));
    EXPECT_FALSE(bar.Effect(m_base));
}

TEST_F(SensitivityOf, WhatAFieldDoesNotTakeIsRefused)
{
    // An oversubscription of 0.8 is below 1.
    const Sensitivity bar = Of("cluster.buildings.fabric.oversubscription", 0.2);
    EXPECT_TRUE(bar.low.refused);
    EXPECT_EQ(bar.low.value, "");
    EXPECT_THAT(bar.low.reason, testing::HasSubstr("0.8"));
    EXPECT_FALSE(bar.high.refused);
    EXPECT_EQ(bar.Effect(m_base), 0); // the other end, which changes nothing
}

TEST(SortByEffect, TheLargestFirstAndWhatStopsEverythingBeforeThem)
{
    const Duration base = Duration::Microseconds(100);
    const auto bar = [](const std::string& key, std::optional<int64_t> best, bool refused) {
        Sensitivity one;
        one.key = key;
        one.low.refused = refused;
        one.high.best = Duration::Microseconds(100);
        if (best)
        {
            one.low.best = Duration::Microseconds(*best);
        }
        return one;
    };
    std::vector<Sensitivity> bars = {bar("small", 101, false),
                                     bar("none", 100, false),
                                     bar("refused", std::nullopt, true),
                                     bar("large", 50, false),
                                     bar("stops", std::nullopt, false)};
    SortByEffect(bars, base);
    std::vector<std::string> keys;
    for (const auto& one : bars)
    {
        keys.push_back(one.key);
    }
    EXPECT_THAT(keys, testing::ElementsAre("stops", "large", "small", "none", "refused"));
}

} // namespace

} // namespace scaleacross
