// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/best-plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

BestPlan
Find(const Filter& filter, unsigned jobs = 1, const std::atomic<bool>* stop = nullptr)
{
    SearchOptions options;
    options.jobs = jobs;
    options.filter = filter;
    options.stop = stop;
    const Study study = TwoBuildings(
        "plan: {tp: 4}\nsearch: {plan: {tp: [2, 4, 8], pp: [1, 2], crossing: [dp, pp]}}\n");
    return FindBestPlan(study, FakeEngine(DistinctTime), options);
}

TEST(BestPlan, IsTheFastestWithItsLabel)
{
    for (const unsigned jobs : {1U, 3U})
    {
        const BestPlan best = Find(FitsAlways, jobs);
        ASSERT_TRUE(best.plan);
        // 1000 + 2 x 100 + 7 + 1.
        EXPECT_EQ(best.plan->report.iterationTime, Duration::Microseconds(1208));
        EXPECT_THAT(best.label, testing::StartsWith("TP2 PP1 "));
        EXPECT_EQ(best.reason, "");
    }
}

TEST(BestPlan, WithoutAnyTheReasonIsMemoryWherePlansCameSoFar)
{
    const BestPlan none =
        Find([](const Scenario& scenario,
                const IsWorthMore& /* isWorthMore */) -> std::variant<ClosedForm, Infeasible> {
            return scenario.Job().plan.tp == 8 ? Infeasible{"memory", "needs 99 GiB"}
                                               : Infeasible{"heads", "there are 8"};
        });
    EXPECT_FALSE(none.plan);
    EXPECT_EQ(none.label, "");
    EXPECT_THAT(none.reason, testing::HasSubstr("refused for memory, e.g. needs 99 GiB"));
}

TEST(BestPlan, StoppedItIsNoAnswer)
{
    const std::atomic<bool> stop{true};
    EXPECT_THROW(Find(FitsAlways, 1, &stop), Interrupted);
}

} // namespace

} // namespace scaleacross
