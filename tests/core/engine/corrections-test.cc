// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/corrected-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <variant>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

const OperationKind kRing{"all_gather", "ring", "", Tier::Cross};

TEST(Corrections, LieBetweenWhatIsKnown)
{
    const Corrections known({{kRing, 4, Bytes(1 << 20), {1.0, 0.9, 1.1}},
                             {kRing, 4, Bytes(4 << 20), {1.21, 1.21, 1.21}}});
    // At a row its own, half way (an octave from both) the geometric mean: sqrt(1.21) = 1.1.
    EXPECT_NEAR(known.Of(kRing, 4, Bytes(1 << 20))->value, 1.0, 1e-9);
    EXPECT_NEAR(known.Of(kRing, 4, Bytes(4 << 20))->value, 1.21, 1e-9);
    EXPECT_NEAR(known.Of(kRing, 4, Bytes(2 << 20))->value, 1.1, 1e-9);
    EXPECT_NEAR(known.Of(kRing, 4, Bytes(2 << 20))->low, std::sqrt(0.9 * 1.21), 1e-9);
    // 16 MiB is 2 octaves from the one and 4, beyond reach, from the other.
    EXPECT_NEAR(known.Of(kRing, 4, Bytes(16 << 20))->value, 1.21, 1e-9);
    // Four times the members are two octaves: from 1 MiB 2, from 4 MiB sqrt(8): weights 2 to 1.
    EXPECT_NEAR(known.Of(kRing, 16, Bytes(1 << 20))->value, std::pow(1.21, 1.0 / 3), 1e-9);
}

TEST(Corrections, KnowNothingOfOthers)
{
    const Corrections known({{kRing, 4, Bytes(1 << 20), {1.2, 1.2, 1.2}}});
    EXPECT_FALSE(known.Of(kRing, 4, Bytes(16 << 20)));
    OperationKind other = kRing;
    other.reach = Tier::Leaf;
    EXPECT_FALSE(known.Of(other, 4, Bytes(1 << 20)));
    other = kRing;
    other.algorithm = "tree";
    EXPECT_FALSE(known.Of(other, 4, Bytes(1 << 20)));
}

TEST(TransferCost, StretchKeepsWhatPortsAndWiresCarry)
{
    TransferCost cost;
    cost.On(Port::NicOut) = 1e-3;
    cost.cuts = {{0, 3e-3, 3e-3, 4, 1, 2, 2e-3, 0, 0}}; // collisions make 3 ms of 2
    cost.latency = Duration::Microseconds(500);
    TransferCost longer = cost;
    longer.Stretch(2);
    EXPECT_EQ(longer.Alone(), Duration::Microseconds(7000));
    EXPECT_EQ(longer.On(Port::NicOut), 1e-3);
    EXPECT_EQ(longer.cuts[0].seconds, 3e-3);
    // 2.8 ms, of which the wire has 2.4.
    TransferCost shorter = cost;
    shorter.Stretch(0.8);
    EXPECT_EQ(shorter.Alone(), Duration::Microseconds(2800));
    EXPECT_NEAR(shorter.cuts[0].seconds, 2.4e-3, 1e-12);
    // Not below what the wire takes.
    cost.Stretch(0.1);
    EXPECT_EQ(cost.Alone(), Duration::Microseconds(2000));
}

Scenario
SmallStudy(const std::string& more)
{
    return ParseStudy("study: slices\n"
                      "model: {layers: 8, hidden: 1024, heads: 8, kv_heads: 8, vocabulary: 4096, "
                      "dense_ffn: 4096}\n"
                      "workload: {sequence: 1024, global_batch: 32}\n"
                      "cluster: {buildings: {count: 2, gpus: 16, gpus_per_node: 4, gpu: h100, "
                      "nic_rate: 400Gbps, fabric: {spines: 4, nodes_per_pod: 2}}, "
                      "cross: {distance: 20km, capacity: 1.6Tbps}}\n"
                      "network: {multipath: spray-rr, recovery: selective-repeat, collective: "
                      "ring}\n"
                      "search: {}\n" +
                          more,
                      "slices.yaml")
        .scenario;
}

RunReport
ReportOf(const Engine& engine, const Scenario& scenario, const RunOptions& options = {})
{
    return std::get<RunReport>(engine.Run(scenario, options));
}

RunOptions
Slice(uint32_t operation, double part = 1)
{
    RunOptions options;
    options.slice = SliceSpec{operation, part};
    return options;
}

TEST(Slice, EveryOperationRunsByItselfWithItsBytes)
{
    // Stages of 16 ranks, each in a building: tensor parallelism is inside servers, data
    // parallelism crosses leaves and pipelines cross buildings.
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const std::vector<Operation> operations = OperationsOf(run, ClusterPaths(scenario.cluster));
    ASSERT_FALSE(operations.empty());
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    uint32_t messages = 0;
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        const Operation& operation = operations[i];
        const RunReport report = ReportOf(analytical, scenario, Slice(i));
        const RunReport flows = ReportOf(flow, scenario, Slice(i));
        EXPECT_EQ(operation.comm, operation.peer != 0 ? CommClass::Pipeline : CommClass::Data);
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            EXPECT_EQ(report.classes[c].bytes > Bytes(),
                      static_cast<CommClass>(c) == operation.comm);
            EXPECT_EQ(flows.classes[c].bytes, report.classes[c].bytes);
        }
        EXPECT_NEAR(flows.iterationTime.S() / report.iterationTime.S(), 1, 0.02)
            << ToString(operation.kind);
        if (operation.peer != 0)
        {
            messages++;
            // A microbatch's activations, 1,024 x 1,024 x 2 B, are the same on all 4 tensor ranks,
            // or a quarter of it on each; there and back, from all 16 ranks of the stage.
            EXPECT_EQ(report.Of(CommClass::Pipeline).bytes, operation.bytes * (16 * 2));
            EXPECT_EQ(report.Of(CommClass::Pipeline).crossBytes, operation.bytes * (16 * 2));
        }
    }
    EXPECT_EQ(messages, 1U); // forward and backward are alike
}

TEST(Slice, PartsHaveTheirPartOfTheBytes)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: dp}\n");
    const AnalyticalEngine engine;
    const RunReport whole = ReportOf(engine, scenario, Slice(0));
    const RunReport part = ReportOf(engine, scenario, Slice(0, 0.25));
    EXPECT_NEAR(static_cast<double>(part.Of(CommClass::Data).bytes.Count()) /
                    static_cast<double>(whole.Of(CommClass::Data).bytes.Count()),
                0.25,
                1e-3);
    EXPECT_LT(part.iterationTime, whole.iterationTime);
}

TEST(Slice, RefusesByName)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: dp}\n");
    try
    {
        ReportOf(AnalyticalEngine(), scenario, Slice(99));
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("there is no operation 99"));
        EXPECT_THAT(error.what(), HasSubstr("calibrate"));
    }
    EXPECT_EQ(ParseSlice("3:0.25").operation, 3U);
    EXPECT_EQ(ParseSlice("3:0.25").part, 0.25);
    EXPECT_EQ(ToString(ParseSlice("3:0.25")), "3:0.25");
    EXPECT_EQ(ToString(ParseSlice("3")), "3");
    for (const char* text : {"", "x", "3:", "3:0", "3:1.5", "-1", "3:0.5:1"})
    {
        EXPECT_THROW(ParseSlice(text), ValueError) << text;
    }
}

/// Corrections with one factor for everything that a scenario does between servers.
CorrectedEngine::Finder
All(double factor)
{
    return [factor](const Scenario& scenario) {
        std::vector<CorrectionRow> rows;
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
        for (const Operation& operation : OperationsOf(run, ClusterPaths(scenario.cluster)))
        {
            rows.push_back(
                {operation.kind, operation.members, operation.bytes, {factor, factor, factor}});
        }
        return Corrections(rows);
    };
}

TEST(CorrectedEngine, StretchesEveryOperationByItsFactor)
{
    for (const char* plan : {"plan: {tp: 4, pp: 2, crossing: pp}\n", "plan: {tp: 4, pp: 1}\n"})
    {
        const Scenario scenario = SmallStudy(plan);
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
        const auto operations = OperationsOf(run, ClusterPaths(scenario.cluster));
        const CorrectedEngine twice("twice", "set", "", All(2));
        const CorrectedEngine same("same", "set", "", All(1));
        for (uint32_t i = 0; i < operations.size(); i++)
        {
            const double launch = operations[i].peer != 0
                                      ? 0
                                      : run.graph.collectives[operations[i].collective].launch.S();
            const double time = ReportOf(AnalyticalEngine(), scenario, Slice(i)).iterationTime.S();
            EXPECT_NEAR(ReportOf(twice, scenario, Slice(i)).iterationTime.S(),
                        2 * (time - launch) + launch,
                        1e-9 * time)
                << ToString(operations[i].kind);
            EXPECT_NEAR(ReportOf(same, scenario, Slice(i)).iterationTime.S(), time, 1e-9 * time);
        }
        const RunReport plain = ReportOf(AnalyticalEngine(), scenario);
        EXPECT_EQ(ReportOf(same, scenario).iterationTime, plain.iterationTime);
        const RunReport report = ReportOf(twice, scenario);
        EXPECT_GT(report.iterationTime, plain.iterationTime);
        EXPECT_EQ(report.engine, "twice");
        EXPECT_EQ(report.correction->set, "set");
        EXPECT_EQ(report.correction->covered, operations.size());
        EXPECT_EQ(report.correction->operations, operations.size());
        EXPECT_TRUE(report.correction->missing.empty());
    }
}

TEST(CorrectedEngine, SaysWhatItKnowsNothingOf)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    const CorrectedEngine none("none", "set", "", [](const Scenario&) { return Corrections({}); });
    const RunReport report = ReportOf(none, scenario);
    EXPECT_EQ(report.iterationTime, ReportOf(AnalyticalEngine(), scenario).iterationTime);
    EXPECT_EQ(report.correction->covered, 0U);
    EXPECT_EQ(report.correction->missing.size(), report.correction->operations);
    EXPECT_THAT(report.correction->missing, testing::Contains(HasSubstr("pp message, cross")));
}

} // namespace
} // namespace scaleacross
