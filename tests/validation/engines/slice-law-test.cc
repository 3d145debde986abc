// SPDX-License-Identifier: GPL-2.0-only

// Slices of drawn plans send the same on every engine: their part of what the plan sends.

#include "../../draws.h"
#include "../../slice-report.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/engine/operation.h"
#include "drawn-networks.h"
#include "helper/engine/packet-engine.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

/// How often a program does each collective.
void
Count(const TaskGraph& graph, const Program& program, std::map<uint32_t, uint64_t>& times)
{
    for (const Op& op : program.ops)
    {
        if (op.kind == OpKind::Run)
        {
            Count(graph, graph.bodies[op.index], times);
        }
        else if (op.kind == OpKind::Collective)
        {
            times[op.index]++;
        }
    }
}

/// Whether every stage has one class, of which then all ranks do the same.
bool
HasOneClassAStage(const TaskGraph& graph)
{
    return graph.classes.size() == graph.pipeline.Size();
}

/// What an iteration sends across buildings by collectives, by class: each as often as its stage
/// does it, times what a slice of it in that stage sends.
std::array<uint64_t, kCommClasses>
CrossBytesBySlices(const Scenario& scenario, const PreparedRun& run)
{
    const AnalyticalEngine engine;
    const ClusterPaths paths(scenario.cluster);
    OperationFinder finder(run.graph, paths);
    const std::vector<Operation> operations = finder.All();
    std::array<uint64_t, kCommClasses> sum{};
    for (const RankClass& rankClass : run.graph.classes)
    {
        std::map<uint32_t, uint64_t> times;
        Count(run.graph, rankClass.program, times);
        for (const auto& [collective, count] : times)
        {
            const Operation done = finder.OfCollective(rankClass.stage, collective);
            for (uint32_t i = 0; i < operations.size(); i++)
            {
                if (operations[i].kind == done.kind && operations[i].levels == done.levels &&
                    operations[i].bytes == done.bytes)
                {
                    const RunReport report =
                        ReportOf(engine,
                                 scenario,
                                 std::to_string(i) + "@" + std::to_string(rankClass.stage));
                    sum[static_cast<size_t>(done.kind.comm)] +=
                        count * report.Of(done.kind.comm).crossBytes.Count();
                }
            }
        }
    }
    return sum;
}

/// Phases of an operation; of a message there is one each way.
uint64_t
PhasesOf(const PreparedRun& run, const Operation& operation)
{
    return operation.IsMessage() ? 2 : run.graph.collectives[operation.collective].phases.size();
}

} // namespace

TEST(SliceLaws, EveryEngineSendsItsPartOfThePlan)
{
    std::mt19937 random(20261130);
    const size_t plans = Draws(6);
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    const PacketEngine packet;
    size_t whole = 0;
    for (size_t count = 0; count < plans;)
    {
        const std::optional<Scenario> plan = volumes::DrawNetwork(random);
        if (!plan)
        {
            continue;
        }
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(*plan));
        const ClusterPaths paths(plan->cluster);
        OperationFinder finder(run.graph, paths);
        const std::vector<Operation> operations = finder.All();
        if (operations.empty())
        {
            continue;
        }
        count++;
        std::string text; // of all of them
        for (uint32_t i = 0; i < operations.size(); i++)
        {
            const Operation& operation = operations[i];
            const std::string number = std::to_string(i);
            text += (i > 0 ? "+" : "") + number + "@all";
            const RunReport all = ReportOf(analytical, *plan, number + "@all");
            const RunReport half = ReportOf(analytical, *plan, number + "@all:0.5");
            std::vector<Operation> stages = finder.OfAllStages(operation);
            ASSERT_EQ(stages.size(), operation.stages);
            for (uint32_t c = 0; c < kCommClasses; c++)
            {
                Bytes bytes;
                Bytes cross;
                for (const Operation& one : stages)
                {
                    const RunReport report =
                        ReportOf(analytical, *plan, number + "@" + std::to_string(one.stage));
                    bytes += report.classes[c].bytes;
                    cross += report.classes[c].crossBytes;
                }
                EXPECT_EQ(all.classes[c].bytes, bytes) << ToString(operation);
                EXPECT_EQ(all.classes[c].crossBytes, cross) << ToString(operation);
                // Buffers are whole bytes, of which a member sends each twice at most in a phase.
                EXPECT_NEAR(static_cast<double>(half.classes[c].bytes.Count()),
                            0.5 * static_cast<double>(bytes.Count()),
                            2.0 * run.graph.ranks * PhasesOf(run, operation))
                    << ToString(operation);
            }
        }
        // All together, of which the engines run each rank's program.
        const RunReport report = ReportOf(analytical, *plan, text);
        for (const RunReport& other : {ReportOf(flow, *plan, text), ReportOf(packet, *plan, text)})
        {
            for (uint32_t c = 0; c < kCommClasses; c++)
            {
                EXPECT_EQ(other.classes[c].bytes, report.classes[c].bytes);
                EXPECT_EQ(other.classes[c].crossBytes, report.classes[c].crossBytes);
            }
        }
        if (!HasOneClassAStage(run.graph))
        {
            continue;
        }
        whole++;
        RunReport iteration;
        iteration.iterationTime = Duration::Seconds(1);
        CompleteReport(*plan, run, iteration);
        const auto sum = CrossBytesBySlices(*plan, run);
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            if (static_cast<CommClass>(c) != CommClass::Pipeline)
            {
                EXPECT_EQ(sum[c], iteration.classes[c].crossBytes.Count())
                    << ToString(static_cast<CommClass>(c)) << ": " << volumes::NetworkText(*plan);
            }
        }
    }
    EXPECT_GT(whole, 0U);
}

TEST(SliceLaws, EnginesPutTheSameOnSpans)
{
    // Headers go with the payload, but not what is acknowledged: a model and a simulation of every
    // flow count the bytes of spans, each by itself, from what their slices do.
    std::mt19937 random(20261201);
    const size_t plans = Draws(12);
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    for (size_t count = 0; count < plans;)
    {
        const std::optional<Scenario> plan = volumes::DrawNetwork(random);
        if (!plan || plan->cluster.crossLinks.front().loss > 0)
        {
            continue;
        }
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(*plan));
        const auto operations = OperationsOf(run, ClusterPaths(plan->cluster));
        if (operations.empty())
        {
            continue;
        }
        count++;
        for (uint32_t i = 0; i < operations.size(); i++)
        {
            const std::string slice = std::to_string(i) + "@all";
            const auto spans = [](const RunReport& report) {
                double bytes = 0;
                for (const ResourceReport& resource : report.resources)
                {
                    bytes += resource.name.find(" to ") != std::string::npos
                                 ? static_cast<double>(resource.bytes.Count())
                                 : 0.0;
                }
                return bytes;
            };
            const double flows = spans(ReportOf(flow, *plan, slice));
            const double model = spans(ReportOf(analytical, *plan, slice));
            EXPECT_NEAR(model, flows, 0.01 * flows)
                << ToString(operations[i]) << ": " << volumes::NetworkText(*plan);
        }
    }
}

} // namespace scaleacross
