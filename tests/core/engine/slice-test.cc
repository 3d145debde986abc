// SPDX-License-Identifier: GPL-2.0-only

// Slices of several operations, of several stages, and several times.

#include "../../slice-report.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/engine/operation.h"
#include "core/io/read-study.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

/// Four stages of a data-parallel pair of servers, or of whatever a plan says.
Scenario
FourStages(const std::string& plan, const std::string& network = "")
{
    return ParseStudy("study: slices\n"
                      "model: {layers: 8, hidden: 1024, heads: 8, kv_heads: 8, vocabulary: 4096, "
                      "dense_ffn: 4096}\n"
                      "workload: {sequence: 1024, global_batch: 32}\n"
                      "cluster: {buildings: {count: 4, gpus: 16, gpus_per_node: 4, gpu: h100, "
                      "nic_rate: 400Gbps, fabric: {spines: 4, nodes_per_pod: 2}}, "
                      "cross: {distance: 20km, capacity: 1.6Tbps}}\n"
                      "search: {}\n"
                      "network: {multipath: spray-rr, recovery: selective-repeat, collective: "
                      "ring" +
                          network + "}\nplan: {tp: 4, pp: 4, " + plan + "}\n",
                      "slices.yaml")
        .scenario;
}

std::vector<Operation>
PlannedOf(const Scenario& scenario)
{
    return OperationsOf(std::get<PreparedRun>(PrepareRun(scenario)),
                        ClusterPaths(scenario.cluster));
}

/// The first operation of which that holds.
uint32_t
NumberOf(const Scenario& scenario, const std::function<bool(const Operation&)>& is)
{
    const std::vector<Operation> operations = PlannedOf(scenario);
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        if (is(operations[i]))
        {
            return i;
        }
    }
    ADD_FAILURE() << "there is none";
    return 0;
}

TEST(SliceText, IsReadAsItIsWritten)
{
    const SliceSpec slice = ParseSlice("4x3@all+8@2+0:0.25");
    ASSERT_EQ(slice.pieces.size(), 3U);
    EXPECT_EQ(slice.pieces[0].operation, 3U);
    EXPECT_EQ(slice.pieces[0].times, 4U);
    EXPECT_TRUE(slice.pieces[0].allStages);
    EXPECT_EQ(slice.pieces[1].operation, 8U);
    EXPECT_EQ(slice.pieces[1].stage, 2U);
    EXPECT_FALSE(slice.pieces[1].allStages);
    EXPECT_EQ(slice.pieces[2].operation, 0U);
    EXPECT_FALSE(slice.pieces[2].stage);
    EXPECT_EQ(slice.part, 0.25);
    for (const char* text : {"3", "3@all", "3@0", "2x3", "4x3@all+8@2+0:0.25"})
    {
        EXPECT_EQ(ToString(ParseSlice(text)), text);
    }
    for (const char* text : {"+",
                             "3+",
                             "+3",
                             "3++4",
                             "3@",
                             "3@some",
                             "@all",
                             "x3",
                             "0x3",
                             "3x",
                             "2x2x3",
                             "3@1@2",
                             "3@all:",
                             "3:0.5+4",
                             "3 + 4",
                             "-1x3",
                             "1.5x3",
                             "3@all:2"})
    {
        EXPECT_THROW(ParseSlice(text), ValueError) << text;
    }
}

TEST(SliceOfStages, IsThatOfOneWhereTheyShareNoLinks)
{
    // Every stage is a building, and data parallelism stays inside: what stages do by themselves
    // they do together, to the picosecond.
    const Scenario scenario = FourStages("crossing: pp");
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    const std::vector<Operation> operations = PlannedOf(scenario);
    uint32_t collectives = 0;
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        if (operations[i].IsMessage() || operations[i].stages < 2)
        {
            continue;
        }
        collectives++;
        const std::string number = std::to_string(i);
        for (const Engine* engine :
             {static_cast<const Engine*>(&analytical), static_cast<const Engine*>(&flow)})
        {
            const RunReport one = ReportOf(*engine, scenario, number);
            const RunReport all = ReportOf(*engine, scenario, number + "@all");
            EXPECT_EQ(all.iterationTime, one.iterationTime)
                << engine->Name() << ": " << ToString(operations[i]);
            // All stages have as many ranks.
            EXPECT_EQ(all.Of(operations[i].kind.comm).bytes,
                      one.Of(operations[i].kind.comm).bytes * operations[i].stages);
        }
    }
    EXPECT_GT(collectives, 0U);
}

TEST(SliceOfStages, MessagesGoForwardBetweenAllOfThem)
{
    // Four buildings in a ring of equal spans, two chunks: 0 to 1, 1 to 2, 2 to 3 and 3 to 0. Every
    // stage sends one message at a time each way, so that all together take as long as one.
    const Scenario scenario = FourStages("crossing: pp, schedule: interleaved, chunks: 2");
    const uint32_t number = NumberOf(scenario, [](const Operation& operation) {
        return operation.IsMessage() && operation.bytes > Bytes(4096);
    });
    const Operation operation = PlannedOf(scenario)[number];
    EXPECT_EQ(operation.stages, 4U);
    const std::string text = std::to_string(number);
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    for (const Engine* engine :
         {static_cast<const Engine*>(&analytical), static_cast<const Engine*>(&flow)})
    {
        const RunReport one = ReportOf(*engine, scenario, text);
        const RunReport all = ReportOf(*engine, scenario, text + "@all");
        const RunReport thrice = ReportOf(*engine, scenario, "3x" + text);
        EXPECT_EQ(all.iterationTime, one.iterationTime) << engine->Name();
        // The ranks of a stage queue at the span and stay apart then: the first of them sends again
        // before the last is through.
        EXPECT_LE(thrice.iterationTime, one.iterationTime * 3) << engine->Name();
        EXPECT_GE(thrice.iterationTime, one.iterationTime) << engine->Name();
        // There and back, of the 16 ranks of a stage.
        EXPECT_EQ(one.Of(CommClass::Pipeline).bytes, operation.bytes * (2 * 16));
        EXPECT_EQ(all.Of(CommClass::Pipeline).crossBytes, operation.bytes * (2 * 16 * 4));
        EXPECT_EQ(thrice.Of(CommClass::Pipeline).crossBytes, operation.bytes * (2 * 16 * 3));
    }
}

TEST(SliceOfStages, SharesWhatStagesShare)
{
    // Data parallelism over four buildings, of which all stages need the spans: the analytical
    // engine counts the ranks of each stage once, as the links that flows go over do.
    const Scenario scenario = FourStages("crossing: dp");
    const uint32_t number = NumberOf(scenario, [](const Operation& operation) {
        return operation.kind.reach == Tier::Cross && operation.stages == 4;
    });
    const std::string text = std::to_string(number);
    const double one = ReportOf(AnalyticalEngine(), scenario, text).iterationTime.S();
    const double all = ReportOf(AnalyticalEngine(), scenario, text + "@all").iterationTime.S();
    const FlowEngine flow(Collisions::Expected);
    const double flows = ReportOf(flow, scenario, text + "@all").iterationTime.S();
    EXPECT_GE(all, one);
    EXPECT_NEAR(all / flows, 1, 0.02);
}

TEST(SliceOfSeveral, BeginTogetherAndTakeTheLongest)
{
    // Collectives of data parallelism inside buildings and messages between them: of what shares no
    // port beyond its part of the bytes, all lies between the longest and the sum.
    const Scenario scenario = FourStages("crossing: pp");
    const std::vector<Operation> operations = PlannedOf(scenario);
    ASSERT_GT(operations.size(), 1U);
    const AnalyticalEngine engine;
    for (uint32_t a = 0; a < operations.size(); a++)
    {
        for (uint32_t b = a + 1; b < operations.size(); b++)
        {
            const std::string first = std::to_string(a) + "@all";
            const std::string second = std::to_string(b) + "@all";
            const RunReport one = ReportOf(engine, scenario, first);
            const RunReport two = ReportOf(engine, scenario, second);
            const RunReport both = ReportOf(engine, scenario, first + "+" + second);
            EXPECT_GE(both.iterationTime, std::max(one.iterationTime, two.iterationTime));
            EXPECT_LE(both.iterationTime, one.iterationTime + two.iterationTime);
            for (uint32_t c = 0; c < kCommClasses; c++)
            {
                EXPECT_EQ(both.classes[c].bytes, one.classes[c].bytes + two.classes[c].bytes);
            }
            if (operations[a].IsMessage() || operations[b].IsMessage() ||
                operations[a].stream != operations[b].stream)
            {
                continue;
            }
            // On one stream: one after the other, in all stages alike.
            if (operations[a].stages == 4 && operations[b].stages == 4)
            {
                EXPECT_EQ(both.iterationTime, one.iterationTime + two.iterationTime);
            }
        }
    }
}

TEST(SliceOfSeveral, RefusesByName)
{
    const Scenario scenario = FourStages("crossing: pp");
    const auto operations = PlannedOf(scenario);
    const uint32_t number = NumberOf(scenario, [](const Operation& operation) {
        return !operation.IsMessage() && operation.stages == 4;
    });
    const std::string n = std::to_string(number);
    const auto saidOf = [&scenario](const std::string& slice) {
        try
        {
            ReportOf(AnalyticalEngine(), scenario, slice);
        }
        catch (const ConfigError& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(saidOf("0+99"), HasSubstr("there is no operation 99"));
    EXPECT_THAT(saidOf(n + "+" + n), HasSubstr("operation " + n + " of stage 0 is there twice"));
    EXPECT_THAT(saidOf(n + "@all+" + n + "@2"),
                HasSubstr("operation " + n + " of stage 2 is there twice"));
    EXPECT_THAT(saidOf(n + "@7"), HasSubstr("stage 7 does not do operation " + n));
    EXPECT_THAT(saidOf(n + "@7"), HasSubstr("0, 1, 2, 3, or all"));
    EXPECT_THAT(saidOf("4000000000x" + n),
                HasSubstr("1 to " + std::to_string(operations[number].times)));
    EXPECT_EQ(saidOf(n + "@0+" + n + "@1"), "");
}

} // namespace
} // namespace scaleacross
