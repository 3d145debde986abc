// SPDX-License-Identifier: GPL-2.0-only

// Bounds, and searches by them, on studies of unequal sites that nobody chose (DrawnSites): as a
// search asks for them, what was found out for one plan being used for the next.
//
// SCALEACROSS_DRAWS=100000 looks at as many plans, in some twenty minutes; =30 of the searches
// draws as many studies.

#include "../../draws.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/no-sink.h"
#include "core/explore/search.h"
#include "drawn-sites.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

/// More than a search with everything run has time for.
constexpr uint64_t kMostPlans = 5000;

/// The text of the next study that has no more combinations than that, nor few.
std::string
NextOf(DrawnSites& draw)
{
    while (true)
    {
        const std::string text = draw.Text();
        const SearchSpace space(ParseStudy(text, "drawn.yaml"));
        if (space.Size() >= kMostPlans / 20 && space.Size() <= kMostPlans)
        {
            return text;
        }
    }
}

/// The bound of a step of a search, or none where it refuses the plan.
std::optional<Duration>
SaidBy(const std::variant<ClosedForm, Infeasible>& known)
{
    const auto* form = std::get_if<ClosedForm>(&known);
    return form == nullptr ? std::nullopt : std::optional(form->bound);
}

TEST(DrawnSites, BoundsRiseToTheTime)
{
    const size_t most = Draws(400);
    constexpr size_t perStudy = 20;
    DrawnSites draw(20261129);
    std::mt19937_64 random(52);
    const AnalyticalEngine engine;
    size_t looked = 0;
    size_t tight = 0;
    while (looked < most)
    {
        const std::string text = NextOf(draw);
        const SearchSpace space(ParseStudy(text, "drawn.yaml"));
        const Glance every = FirstLooks(space, BoundOf::EveryEngine);
        const Glance own = FirstLooks(space, BoundOf::Analytical);
        const ClosedFormFilter everyFilter(BoundOf::EveryEngine);
        const ClosedFormFilter ownFilter(BoundOf::Analytical);
        size_t ofStudy = 0;
        for (size_t tries = 0; tries < 10 * perStudy && ofStudy < perStudy && looked < most;
             tries++)
        {
            const auto plan = space.PlanAt(random() % space.Size());
            if (!plan)
            {
                continue;
            }
            const Scenario scenario = space.With(*plan);
            const Evaluation evaluation = Evaluate(engine, scenario, {});
            const auto* report = std::get_if<RunReport>(&evaluation);
            if (report == nullptr)
            {
                continue;
            }
            SCOPED_TRACE(text + CanonicalText(*plan));
            ofStudy++;
            looked++;
            Duration least;
            Duration leastOwn;
            for (const PlanDepth depth : kPlanDepths)
            {
                const auto ofEvery = SaidBy(every(scenario, depth, Always));
                const auto ofOwn = SaidBy(own(scenario, depth, Always));
                ASSERT_TRUE(ofEvery && ofOwn) << "what runs is refused at a first look";
                EXPECT_LE(least, *ofEvery);
                EXPECT_LE(leastOwn, *ofOwn);
                EXPECT_LE(*ofEvery, *ofOwn);
                least = *ofEvery;
                leastOwn = *ofOwn;
            }
            const auto filtered = SaidBy(everyFilter(scenario, Always));
            const auto filteredOwn = SaidBy(ownFilter(scenario, Always));
            ASSERT_TRUE(filtered && filteredOwn);
            EXPECT_LE(*filtered, *filteredOwn);
            EXPECT_LE(std::max(leastOwn, *filteredOwn), report->iterationTime);
            tight += report->iterationTime.S() < 1.1 * filteredOwn->S() ? 1 : 0;
        }
    }
    RecordProperty("within_a_tenth", std::to_string(tight) + " of " + std::to_string(looked));
    EXPECT_GT(tight, looked / 2);
}

/// What is behind the best is known to a part of that, whatever it is: the i-th best, and the best
/// of a crossing, unless that takes kHopeless times the best and two others have one.
void
ExpectRestGap(const SearchSpace& space, const SearchResult& every, SearchOptions options)
{
    options.goals.restGap = kUsualRestGap;
    options.goals.front = {};
    NoSink sink;
    const SearchResult found = BestFirstSearch().Run(space, AnalyticalEngine(), options, sink);
    EXPECT_EQ(every.counts.Decided(), found.counts.Decided());
    const double best = every.board.First()->report.iterationTime.S();
    EXPECT_EQ(found.board.First()->text, every.board.First()->text);
    const auto expectNear = [best](const Ranked& one, const Ranked& exact) {
        const double time = one.report.iterationTime.S(); // of whole picoseconds
        EXPECT_LE(time - exact.report.iterationTime.S(), kUsualRestGap * (time - best) + 1e-12)
            << one.text;
    };
    const auto ranking = found.board.Best();
    const auto exact = every.board.Best();
    ASSERT_EQ(ranking.size(), exact.size());
    for (size_t i = 0; i < ranking.size(); i++)
    {
        expectNear(ranking[i], exact[i]);
    }
    for (const Ranked& ranked : every.board.BestOfEach())
    {
        if (const Ranked* own = found.board.BestOf(ranked.plan.parallel.crossing))
        {
            expectNear(*own, ranked);
            continue;
        }
        EXPECT_GT(ranked.report.iterationTime.S(), kHopeless * best);
        EXPECT_GE(found.board.BestOfEach().size(), 2U);
    }
}

TEST(DrawnSites, ASearchFindsWhatRunningEverythingFinds)
{
    const size_t most = Draws(1);
    DrawnSites draw(52);
    const AnalyticalEngine engine;
    size_t searched = 0;
    uint64_t ran = 0;
    uint64_t couldRun = 0;
    while (searched < most)
    {
        const std::string text = NextOf(draw);
        SCOPED_TRACE(text);
        const SearchSpace space(ParseStudy(text, "drawn.yaml"));
        SearchOptions options;
        options.jobs = 1;
        options.goals.front = ParseFront(searched % 2 == 0 ? "none" : "time,memory");
        SetBounds(options, BoundOf::Analytical);
        NoSink sink;
        const SearchResult every = ExhaustiveSearch().Run(space, engine, options, sink);
        if (every.counts.evaluated < 60) // of which most are kept anyhow
        {
            continue;
        }
        const SearchResult best = BestFirstSearch().Run(space, engine, options, sink);
        EXPECT_EQ(every.counts.Decided(), best.counts.Decided());
        EXPECT_EQ(every.counts.RuledOut(), 0U);
        EXPECT_TRUE(every.counts.failed.empty()); // no time is below its bound
        const auto texts = [](const std::vector<Ranked>& plans) {
            std::vector<std::string> result;
            for (const Ranked& ranked : plans)
            {
                result.push_back(ToString(ranked.report.iterationTime) + " " + ranked.text);
            }
            return result;
        };
        EXPECT_EQ(texts(best.board.Best()), texts(every.board.Best()));
        EXPECT_EQ(texts(best.board.BestOfEach()), texts(every.board.BestOfEach()));
        EXPECT_EQ(texts(best.board.ParetoFront()), texts(every.board.ParetoFront()));
        ExpectRestGap(space, every, options);
        ran += best.counts.evaluated;
        couldRun += every.counts.evaluated;
        searched++;
    }
    RecordProperty("ran", std::to_string(ran) + " of " + std::to_string(couldRun));
    EXPECT_LT(ran, couldRun / 2);
}

} // namespace
} // namespace scaleacross
