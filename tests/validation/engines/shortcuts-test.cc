// SPDX-License-Identifier: GPL-2.0-only

// What the evaluator leaves out is a matter of speed: it gives the same times when every body is
// walked operation by operation and every resource is looked at.
//
// SCALEACROSS_DRAWS=1000 compares as many plans of each kind with many microbatches.

#include "../../draws.h"
#include "../volumes/volume-plans.h"
#include "core/engine/network-model.h"
#include "core/engine/program-evaluator.h"
#include "drawn-networks.h"
#include "drawn-sites.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace scaleacross
{

namespace
{

RunReport
Evaluated(const Scenario& scenario, Shortcuts shortcuts, EvaluationWork* work = nullptr)
{
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const NetworkModel network(scenario, run.layout);
    const TransferTimes times = TimesOf(network);
    ClassCosts costs(run.graph, times);
    const ResourceUse use(run.graph, costs);
    RunReport report;
    const EvaluationWork done =
        EvaluateProgram(run.graph, costs, use, RunOptions(), report, shortcuts);
    if (work != nullptr)
    {
        *work = done;
    }
    return report;
}

/// Of every transfer the end is rounded to a picosecond, and rates in the last bit: a sum of many
/// that follow each other may differ by one of each.
constexpr double kRounding = 1e-9;

/// Every second time collectives in up to some hundred chunks, on one or several channels.
void
DrawChunks(std::mt19937& random, NetworkPlan& network)
{
    const std::array<uint64_t, 4> sizes = {0, 1 << 12, 1 << 14, 1 << 16};
    const std::array<uint32_t, 4> channels = {1, 1, 3, 64};
    if (random() % 2 == 0)
    {
        network.collectiveChunk = Bytes(sizes[random() % sizes.size()]);
        network.channels = channels[random() % channels.size()];
    }
}

} // namespace

TEST(Evaluator, ChunksOfOneCollectiveShareItsPorts)
{
    // A gather of 256 MiB over four servers of eight, in chunks of 16 MiB that are under way
    // together: whatever is left out, they have one port between them.
    for (const uint32_t channels : {1U, 2U, 4U})
    {
        Scenario scenario;
        scenario.cluster = volumes::Buildings(1, 16);
        scenario.network.collectiveChunk = Bytes(16 << 20);
        scenario.network.channels = channels;
        JobSpec job;
        job.model = volumes::Model(false);
        job.collective = CollectiveSpec();
        job.collective->op = CollectiveOp::AllGather;
        job.collective->bytes = Bytes(256 << 20);
        scenario.jobs.push_back(job);
        const Duration taken = Evaluated(scenario, Shortcuts::Taken).iterationTime;
        const Duration none = Evaluated(scenario, Shortcuts::None).iterationTime;
        EXPECT_NEAR(taken.S(), none.S(), kRounding * none.S()) << channels;
    }
}

TEST(Evaluator, TakesShortcutsToTheSameTimes)
{
    // Random plans over two to four buildings, of every kind of crossing, half of them in chunks,
    // half of them with traffic classes.
    std::mt19937 random(15);
    for (const auto draw : {volumes::Draw, volumes::DrawAny, volumes::DrawFolded})
    {
        const auto plans = volumes::Plans(200, 64, draw);
        ASSERT_EQ(plans.size(), 200U);
        for (Scenario scenario : plans)
        {
            DrawChunks(random, scenario.network);
            volumes::DrawClasses(random, scenario);
            const RunReport taken = Evaluated(scenario, Shortcuts::Taken);
            const RunReport none = Evaluated(scenario, Shortcuts::None);
            const double rounding = kRounding * none.iterationTime.S();
            const auto expectEqual = [&](const char* what, Duration a, Duration b) {
                EXPECT_NEAR(a.S(), b.S(), rounding) << what << ' ' << volumes::TextOf(scenario);
            };
            expectEqual("iteration", taken.iterationTime, none.iterationTime);
            expectEqual("compute", taken.computeTime, none.computeTime);
            expectEqual("bubble", taken.bubble, none.bubble);
            for (uint32_t k = 0; k < kCommClasses; k++)
            {
                expectEqual("exposed", taken.classes[k].exposed, none.classes[k].exposed);
                expectEqual("busy", taken.classes[k].busy, none.classes[k].busy);
            }
        }
    }
}

namespace
{

/// What was left out of plans with many microbatches.
struct Repeated
{
    size_t plans{0};
    size_t skipping{0};  //!< plans of which periods are left out
    size_t repeating{0}; //!< plans of which bodies' stretches are repeated
};

/// Whether a plan runs, and if so, that what is left out of it changes no time.
bool
ExpectTheSame(const Scenario& scenario, Repeated& seen)
{
    if (!std::holds_alternative<PreparedRun>(PrepareRun(scenario)))
    {
        return false; // too many activations, or no layout
    }
    EvaluationWork some;
    EvaluationWork all;
    const RunReport taken = Evaluated(scenario, Shortcuts::Taken, &some);
    const RunReport executed = Evaluated(scenario, Shortcuts::Executed, &all);
    EXPECT_EQ(all.skipped, 0U);
    EXPECT_EQ(all.repeated, 0U);
    seen.plans++;
    seen.skipping += some.skipped > 0 ? 1 : 0;
    seen.repeating += some.repeated > 0 ? 1 : 0;
    EXPECT_EQ(taken.iterationTime, executed.iterationTime);
    EXPECT_EQ(taken.computeTime, executed.computeTime);
    EXPECT_EQ(taken.bubble, executed.bubble);
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        EXPECT_EQ(taken.classes[k].exposed, executed.classes[k].exposed);
        EXPECT_EQ(taken.classes[k].busy, executed.classes[k].busy);
    }
    return true;
}

/// Fractions of the plans, which do not hold where nothing is left out.
void
ExpectRepetition(const Repeated& seen, double skipping, double repeating)
{
    const auto plans = static_cast<double>(seen.plans);
    testing::Test::RecordProperty("plans", std::to_string(seen.plans));
    testing::Test::RecordProperty("skipping", std::to_string(seen.skipping));
    testing::Test::RecordProperty("repeating", std::to_string(seen.repeating));
    EXPECT_GE(static_cast<double>(seen.skipping), skipping * plans);
    EXPECT_GE(static_cast<double>(seen.repeating), repeating * plans);
}

} // namespace

TEST(Evaluator, RepeatsWhatItHasDoneToThePicosecond)
{
    // Plans with eight times their microbatches, so that their schedules have a steady part.
    const size_t most = Draws(18);
    std::mt19937 random(16);
    Repeated seen;
    for (const auto draw : {volumes::Draw, volumes::DrawAny, volumes::DrawFolded})
    {
        for (Scenario scenario : volumes::Plans(most / 3, 64, draw))
        {
            DrawChunks(random, scenario.network);
            volumes::DrawClasses(random, scenario);
            scenario.Job().workload.globalBatch *= 8;
            SCOPED_TRACE(volumes::TextOf(scenario));
            ExpectTheSame(scenario, seen);
        }
    }
    ExpectRepetition(seen, 0.4, 0.8);
}

TEST(Evaluator, RepeatsOnUnequalSitesToThePicosecond)
{
    const size_t most = Draws(30);
    constexpr size_t perStudy = 5;
    DrawnSites draw(20261130);
    std::mt19937_64 random(17);
    Repeated seen;
    while (seen.plans < most)
    {
        const std::string text = draw.Text();
        const SearchSpace space(ParseStudy(text, "drawn.yaml"));
        size_t ofStudy = 0;
        for (size_t tries = 0; tries < 10 * perStudy && ofStudy < perStudy; tries++)
        {
            const auto plan = space.PlanAt(random() % space.Size());
            if (!plan)
            {
                continue;
            }
            Scenario scenario = space.With(*plan);
            scenario.Job().workload.globalBatch *= 8;
            SCOPED_TRACE(text + CanonicalText(*plan));
            ofStudy += ExpectTheSame(scenario, seen) ? 1 : 0;
        }
    }
    ExpectRepetition(seen, 0.4, 0.8);
}

} // namespace scaleacross
