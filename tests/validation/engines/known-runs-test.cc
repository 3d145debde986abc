// SPDX-License-Identifier: GPL-2.0-only

// An engine that has run other plans says of a plan what one that has run nothing says: on drawn
// studies of unequal sites, with every pair of algorithms by turns.

#include "../../draws.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/known-runs.h"
#include "core/explore/search.h"
#include "drawn-sites.h"

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

template <class Owner>
void
AppendFigures(const Owner& owner, std::vector<FigureValue>& figures)
{
    for (const Figure<Owner>& figure : Owner::Figures())
    {
        figures.push_back(figure.get(owner));
    }
}

/// All that a report says in numbers.
std::vector<FigureValue>
FiguresOf(const RunReport& report)
{
    std::vector<FigureValue> figures;
    AppendFigures(report, figures);
    for (const ClassReport& comm : report.classes)
    {
        AppendFigures(comm, figures);
    }
    for (const ResourceReport& resource : report.resources)
    {
        AppendFigures(resource, figures);
    }
    return figures;
}

TEST(KnownRuns, AreThoseOfTheSameWorkOnly)
{
    const size_t most = Draws(120);
    DrawnSites draw(20261130);
    std::mt19937_64 random(53);
    size_t ran = 0;
    size_t known = 0;
    while (ran < most)
    {
        const std::string text = draw.Text();
        const SearchSpace space(ParseStudy(text, "drawn.yaml"));
        const AnalyticalEngine shared;
        KnownRuns runs;
        for (size_t tries = 0; tries < 20; tries++)
        {
            const auto drawn = space.PlanAt(random() % space.Size());
            if (!drawn)
            {
                continue;
            }
            Plan plan = *drawn;
            for (const std::string& algorithm : CollectiveAlgorithm::Names())
            {
                plan.network.collective = algorithm;
                const Scenario scenario = space.With(plan);
                if (scenario.FindConflict())
                {
                    continue;
                }
                const Evaluation fresh = Evaluate(AnalyticalEngine(), scenario, {});
                const auto* report = std::get_if<RunReport>(&fresh);
                if (report == nullptr)
                {
                    continue;
                }
                SCOPED_TRACE(text + CanonicalText(plan));
                const Evaluation again = Evaluate(shared, scenario, {});
                EXPECT_EQ(FiguresOf(std::get<RunReport>(again)), FiguresOf(*report));
                const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
                known += runs.Find(scenario, run, {}) ? 1 : 0;
                runs.Keep(scenario, run, {}, *report);
                ran++;
            }
        }
    }
    RecordProperty("known", std::to_string(known) + " of " + std::to_string(ran));
    EXPECT_GT(known, ran / 20);
    EXPECT_LT(known, ran);
}

/// What the key has to tell apart, one by one: buildings' names, iterations, words of the plan and
/// of the network, recorded timelines.
TEST(KnownRuns, AreNotThoseOfOtherScenarios)
{
    DrawnSites draw(7);
    std::optional<Scenario> scenario;
    while (!scenario)
    {
        const SearchSpace space(ParseStudy(draw.Text(), "drawn.yaml"));
        for (uint64_t i = 0; !scenario && i < space.Size(); i++)
        {
            const auto plan = space.PlanAt(i);
            const auto drawn = plan ? std::optional(space.With(*plan)) : std::nullopt;
            const bool runs = drawn && std::holds_alternative<PreparedRun>(PrepareRun(*drawn));
            scenario = runs ? drawn : std::nullopt;
        }
    }
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(*scenario));
    KnownRuns runs;
    EXPECT_FALSE(runs.Find(*scenario, run, {}));
    runs.Keep(*scenario, run, {}, RunReport());
    EXPECT_TRUE(runs.Find(*scenario, run, {}));

    Scenario renamed = *scenario;
    renamed.cluster.buildings.front().name = "elsewhere";
    EXPECT_FALSE(runs.Find(renamed, run, {}));
    Scenario slower = *scenario;
    slower.cluster.crossLinks.front().latency += Duration::Microseconds(1);
    EXPECT_FALSE(runs.Find(slower, run, {}));
    Scenario sprayed = *scenario;
    sprayed.network.qps = sprayed.network.qps + 1;
    EXPECT_FALSE(runs.Find(sprayed, run, {}));

    RunOptions longer;
    longer.iterations = 2;
    EXPECT_FALSE(runs.Find(*scenario, run, longer));
    RunOptions recorded;
    recorded.timeline = Timelines::OfClasses;
    EXPECT_FALSE(runs.Find(*scenario, run, recorded));

    PreparedRun other = run;
    other.graph.collectives.front().channels++;
    EXPECT_FALSE(runs.Find(*scenario, other, {}));
}

} // namespace
} // namespace scaleacross
