// SPDX-License-Identifier: GPL-2.0-only

// One rank for all that are alike says what all of them do, over drawn plans and networks: every
// rank by itself is the oracle.

#include "../../draws.h"
#include "core/engine/flow/flow-engine.h"
#include "drawn-networks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <iostream>
#include <optional>
#include <random>
#include <string>

namespace scaleacross
{

namespace
{

// Clocks have picoseconds, of which rounding may move one in each step.
constexpr double kStep = 1e-12;

RunReport
ReportOf(FlowEngine::Replay replay, const Scenario& scenario)
{
    const RunResult result = FlowEngine(Collisions::Expected, replay).Run(scenario, RunOptions());
    return std::get<RunReport>(result);
}

/// Whether all members of a group send as many bytes in each step, on each of all ways.
bool
HasEqualParts(const Scenario& scenario)
{
    constexpr uint64_t kWays = 4; // halves of trees and of two ways round, halved once more
    const TaskGraph graph = std::get<PreparedRun>(PrepareRun(scenario)).graph;
    for (const Collective& collective : graph.collectives)
    {
        for (const Phase& phase : collective.phases)
        {
            const uint64_t parts = uint64_t{collective.chunks} * phase.group.Size() * kWays;
            if (phase.bytes.Count() % parts != 0)
            {
                return false;
            }
        }
    }
    return true;
}

/// Times differ where parts differ by a byte: first by what that takes, and then by as much as it
/// changes the order in which messages come.
struct Tally
{
    size_t equal{0};
    size_t unequal{0};
    size_t apart{0};
    size_t chaotic{0};
};

/// Steps of a program, each of which may end a picosecond late.
double
StepsOf(const TaskGraph& graph, const Program& program)
{
    double steps = 0;
    for (const Op& op : program.ops)
    {
        steps += 1;
        if (op.kind == OpKind::Run)
        {
            steps += StepsOf(graph, graph.bodies[op.index]);
        }
        else if (op.kind == OpKind::Collective)
        {
            for (const Phase& phase : graph.collectives[op.index].phases)
            {
                steps += StepCount(phase) * static_cast<double>(graph.collectives[op.index].chunks);
            }
        }
    }
    return steps;
}

/// What rounding comes to at most, s: no chain of steps has more than all programs together.
double
RoundingOf(const Scenario& scenario)
{
    const TaskGraph graph = std::get<PreparedRun>(PrepareRun(scenario)).graph;
    const RunOptions options;
    double steps = 0;
    for (const RankClass& rankClass : graph.classes)
    {
        steps += StepsOf(graph, rankClass.program);
    }
    return kStep * steps * (options.warmup + options.iterations);
}

/// The same scenario with switches that are slower by so little that rounding does as much.
Scenario
Slower(Scenario scenario, int64_t picoseconds)
{
    for (BuildingSpec& building : scenario.cluster.buildings)
    {
        building.fabric.leafDelay = building.fabric.leafDelay + Duration::Picoseconds(picoseconds);
    }
    return scenario;
}

/// The most by which three such change the iteration, s. Where messages come at one time, that may
/// turn their order over, and with windows and queue pairs in turn all that follows from it.
double
JumpsOf(const Scenario& scenario, Duration iteration)
{
    double most = 0;
    for (const int64_t picoseconds : {1, 2, 3})
    {
        const RunReport slower = ReportOf(FlowEngine::Replay::Every, Slower(scenario, picoseconds));
        most = std::max(most, std::abs((slower.iterationTime - iteration).S()));
    }
    return most;
}

void
ExpectNear(Duration one, Duration all, double most, const std::string& what)
{
    EXPECT_LE(std::abs((one - all).S()), most) << what;
}

void
ExpectSame(const Scenario& scenario, const std::string& text, Tally& tally)
{
    const RunReport one = ReportOf(FlowEngine::Replay::Different, scenario);
    const RunReport all = ReportOf(FlowEngine::Replay::Every, scenario);
    const Duration whole = all.iterationTime;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        EXPECT_EQ(one.classes[k].bytes, all.classes[k].bytes) << text;
    }
    if (!HasEqualParts(scenario))
    {
        tally.unequal++;
        tally.apart += std::abs(one.iterationTime.S() / whole.S() - 1) > 1e-6 ? 1 : 0;
        return;
    }
    tally.equal++;
    double most = RoundingOf(scenario);
    if (std::abs((one.iterationTime - whole).S()) > most)
    {
        tally.chaotic++;
        most = JumpsOf(scenario, whole);
    }
    ExpectNear(one.iterationTime, whole, most, text + ": iteration");
    ExpectNear(one.computeTime, all.computeTime, most, text + ": computing");
    ExpectNear(one.bubble, all.bubble, most, text + ": bubble");
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        ExpectNear(one.classes[k].exposed, all.classes[k].exposed, most, text + ": exposed");
        ExpectNear(one.classes[k].busy, all.classes[k].busy, most, text + ": busy");
    }
    ASSERT_EQ(one.resources.size(), all.resources.size()) << text;
    for (size_t r = 0; r < all.resources.size(); r++)
    {
        EXPECT_EQ(one.resources[r].name, all.resources[r].name) << text;
        const auto bytes = static_cast<double>(all.resources[r].bytes.Count());
        EXPECT_NEAR(static_cast<double>(one.resources[r].bytes.Count()), bytes, 1e-9 * bytes + 2)
            << text << ": " << all.resources[r].name;
    }
}

void
Print(const Tally& tally)
{
    std::cout << tally.equal << " plans of equal parts; of " << tally.unequal << " others times of "
              << tally.apart << " differ; " << tally.chaotic
              << " plans change as much by 1 to 3 ps\n";
    EXPECT_GT(tally.equal, 5 * tally.chaotic);
}

} // namespace

TEST(FlowSymmetry, OneOfThoseThatAreAlikeStandsForAllOfDrawnPlans)
{
    Tally tally;
    for (const Scenario& scenario : volumes::Plans(Draws(40), 64, volumes::DrawAny))
    {
        ExpectSame(scenario, volumes::TextOf(scenario), tally);
    }
    Print(tally);
}

TEST(FlowSymmetry, OneOfThoseThatAreAlikeStandsForAllOnDrawnNetworks)
{
    Tally tally;
    std::mt19937 random(20261127);
    for (size_t count = 0; count < Draws(40);)
    {
        std::optional<Scenario> scenario = volumes::DrawNetwork(random);
        if (scenario)
        {
            count++;
            ExpectSame(*scenario, volumes::NetworkText(*scenario), tally);
        }
    }
    Print(tally);
}

} // namespace scaleacross
