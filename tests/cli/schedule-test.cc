// SPDX-License-Identifier: GPL-2.0-only

#include "../pipeline-oracle.h"
#include "../waiting-oracle.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "program.h"

#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

const std::string g_times = " --forward 3ms --input-grad 4ms --weight-grad 2ms";

class ScheduleCommand : public ProgramTest
{
};

TEST_F(ScheduleCommand, RunsEveryScheduleAsTheOracleDoes)
{
    // Times of a stage are cut evenly over its chunks; ranks 0-1 and 2-3 are in two buildings.
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const ScheduleFacts& facts = schedule->Facts();
        if (facts.usesTimes)
        {
            continue; // its order is made for the command's times
        }
        const uint32_t v = facts.chunks.most == 1 ? 1 : 2;
        const auto run =
            RunJson("schedule --name " + facts.name + " --stages 4 --microbatches 12 --chunks " +
                    std::to_string(v) + " --buildings 2 --comm 1ms --cross 5ms" + g_times);
        OracleTimes times{3e-3 / v, 4e-3 / v, 2e-3 / v, 1e-3};
        times.slow = 5e-3;
        times.slowRank = 1;
        const PipelineShape shape{*schedule, 4, 12, v};
        const auto oracle = EvaluateOrders(shape, times);
        ASSERT_TRUE(oracle) << facts.name;
        EXPECT_NEAR(run.at("makespan_s"), oracle->Makespan(), 1e-9) << facts.name;
        EXPECT_NEAR(run.at("span_s"), oracle->LongestSpan(), 1e-9) << facts.name;
        EXPECT_NEAR(run.at("bubble_fraction"), 1 - 12 * 9e-3 / oracle->LongestSpan(), 1e-9)
            << facts.name;
        size_t actions = 0;
        for (uint32_t r = 0; r < 4; r++)
        {
            actions += PipelineOrder(shape, r).size();
            EXPECT_EQ(run.at("peak_activations").at(r), PeakInFlight(shape, r) * 1.0 / v);
        }
        EXPECT_EQ(run.at("timeline").size(), actions) << facts.name;
    }
}

TEST_F(ScheduleCommand, RunsMessagesThatWaitAsTheOracleDoes)
{
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const ScheduleFacts& facts = schedule->Facts();
        if (facts.usesTimes)
        {
            continue; // its order is made for the command's times
        }
        const uint32_t v = facts.chunks.most == 1 ? 1 : 2;
        for (const std::string receives : {"early", "planned", "planned --credit 7ms"})
        {
            const auto run = RunJson("schedule --name " + facts.name +
                                     " --stages 4 --microbatches 12 --chunks " + std::to_string(v) +
                                     " --buildings 2 --cross 5ms --cross-transfer 6ms " +
                                     "--receives " + receives + g_times);
            WaitingTimes times{3e-3 / v, 4e-3 / v, 2e-3 / v, 5e-3, 6e-3, 2};
            times.planned = receives != "early";
            times.credit = receives == "planned --credit 7ms" ? 7e-3 : 0;
            const PipelineShape shape{*schedule, 4, 12, v};
            const auto oracle = EvaluateWaiting(shape, times);
            ASSERT_TRUE(oracle) << facts.name;
            EXPECT_NEAR(run.at("makespan_s"), oracle->Makespan(), 1e-9) << facts.name << receives;
        }
    }
}

TEST_F(ScheduleCommand, PlansReceivesOfTheLatencyAwareOrderWithItsDelays)
{
    // Where no message waits for a way, receives of a plan with the delays are in time.
    const std::string rest = "schedule --name latency-aware --stages 8 --microbatches 16 "
                             "--buildings 4 --cross 9ms" +
                             g_times;
    EXPECT_EQ(RunJson(rest + " --receives planned").at("makespan_s"),
              RunJson(rest).at("makespan_s"));
}

TEST_F(ScheduleCommand, CountsCrossingsByPlacement)
{
    // R = 4 buildings: in a row R - 1; v chunks in a loop v R - 1, with the ways back to the first
    // building; a V down and up again 2 (R - 1), and turns within a stage are no transfer.
    const auto crossings = [this](const std::string& name, int chunks) {
        return RunJson("schedule --stages 8 --microbatches 16 --buildings 4 --name " + name +
                       " --chunks " + std::to_string(chunks) + g_times);
    };
    EXPECT_EQ(crossings("1f1b", 1).at("crossings"), 3);
    EXPECT_EQ(crossings("interleaved", 3).at("crossings"), 11);
    EXPECT_EQ(crossings("zbv", 2).at("crossings"), 6);
    EXPECT_EQ(crossings("zbv", 2).at("transfers"), 14);
    EXPECT_EQ(crossings("zbv-interleaved", 4).at("crossings"), 12);
    const auto pairs = crossings("interleaved", 3).at("crossings_by_pair");
    ASSERT_EQ(pairs.size(), 4U);
    EXPECT_EQ(pairs[1], (nlohmann::json{{"from", 0}, {"to", 3}, {"messages", 2}}));
}

TEST_F(ScheduleCommand, PrintsPublishedMemory)
{
    const auto peaks = [this](const std::string& name) {
        return RunJson("schedule --stages 4 --microbatches 16 --name " + name + g_times)
            .at("peak_activations");
    };
    EXPECT_THAT(peaks("1f1b"), ElementsAre(4, 3, 2, 1));
    EXPECT_THAT(peaks("zb-h1"), ElementsAre(4, 4, 4, 4));
    EXPECT_THAT(peaks("zb-h2"), ElementsAre(7, 7, 7, 7));
    EXPECT_THAT(peaks("zbv"), ElementsAre(4, 4, 4, 4));
    EXPECT_THAT(peaks("gpipe"), ElementsAre(16, 16, 16, 16));
    // p (1 + (p-1)/(p v)) = 4 + 3/2 on the first stage, 2 r / v less behind.
    EXPECT_THAT(peaks("interleaved"), ElementsAre(5.5, 4.5, 3.5, 2.5));
}

TEST_F(ScheduleCommand, DrawsWithLettersAndMicrobatches)
{
    // F, I + W = 1, 2 ms, p = 2, m = 2: makespan (m + p - 1) 3 ms = 9 ms, 4 columns each ms. Rank 0
    // is idle from 2 to 4 and from 6 to 7.
    const auto call = Run("schedule --name 1f1b --stages 2 --microbatches 2 --width 36 "
                          "--forward 1ms --input-grad 1ms --weight-grad 1ms");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out,
                HasSubstr("   0  F0--F1--........B0------....B1------\n"
                          "   1  ....F0--B0------F1--B1------........\n"))
        << call.out;
    EXPECT_THAT(call.out, HasSubstr("bubble_fraction     0.3333\n"));
}

TEST_F(ScheduleCommand, WritesADrawing)
{
    const auto call = Run("schedule --name dualpipev --stages 4 --microbatches 10 --buildings 2 "
                          "--cross 1ms -o picture.svg" +
                          g_times);
    EXPECT_EQ(call.code, 0) << call.err;
    const std::string svg = Read("picture.svg");
    EXPECT_EQ(svg.rfind("<svg ", 0), 0U);
    EXPECT_THAT(svg, HasSubstr("</svg>\n"));
    EXPECT_THAT(svg, HasSubstr("forward and backward"));
    // A box with its words for every action.
    size_t boxes = 0;
    for (size_t at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1))
    {
        boxes++;
    }
    size_t actions = 0;
    for (uint32_t r = 0; r < 4; r++)
    {
        actions += PipelineOrder({"dualpipev", 4, 10, 2}, r).size();
    }
    EXPECT_EQ(boxes, actions);
}

TEST_F(ScheduleCommand, MakesTheLatencyAwareOrderForItsTimes)
{
    // A boundary that takes twice a stage's time, 2 x 9 ms: it beats 1F1B, ZB-H1 and ZBV, which
    // crosses it twice, with the same activations held.
    const std::string rest = " --stages 8 --microbatches 32 --buildings 2 --cross 18ms" + g_times;
    const auto own = RunJson("schedule --name latency-aware" + rest);
    for (const double peak : own.at("peak_activations"))
    {
        EXPECT_LE(peak, 8);
    }
    for (const std::string other : {"1f1b", "zb-h1", "zbv"})
    {
        EXPECT_LT(own.at("makespan_s"),
                  RunJson("schedule --name " + other + rest).at("makespan_s").get<double>())
            << other;
    }
    const auto more = RunJson("schedule --name latency-aware --in-flight 16" + rest);
    EXPECT_LT(more.at("makespan_s"), own.at("makespan_s").get<double>());
}

TEST_F(ScheduleCommand, RefusesWhatHasNoSchedule)
{
    const std::string shape = " --stages 4 --microbatches 8";
    const std::pair<std::string, const char*> bad[] = {
        {"--name zbw" + shape + g_times, "did you mean zbv"},
        {"--name zbv --chunks 3" + shape + g_times, "zbv takes 2 chunks"},
        {"--name dualpipev --stages 4 --microbatches 7" + g_times, "8 microbatches or more"},
        {"--name 1f1b --round 4" + shape + g_times, "1f1b has no rounds"},
        {"--name 1f1b --in-flight 4" + shape + g_times, "1f1b has no limit"},
        {"--name zbv --forward-backward 1ms" + shape + g_times, "overlapped"},
        {"--name 1f1b --buildings 3" + shape + g_times, "not divisible by 3"},
        {"--name 1f1b --stages 16384 --microbatches 65535" + g_times, "too many"},
        {"--name zbv --stages 65535 --microbatches 1" + g_times, "1 to 16384"},
        {"--name 1f1b --stages 0 --microbatches 8" + g_times, "--stages"},
        {"--name 1f1b" + shape + " --forward 3 --input-grad 4ms --weight-grad 2ms", "--forward"},
        {"--name 1f1b" + shape + " --forward 0s --input-grad 0s --weight-grad 0s", "no time"},
        {"--name 1f1b --comm 2000s" + shape + g_times, "--comm"},
        {"--name 1f1b -o a.png" + shape + g_times, ".svg"},
        {"--name 1f1b -o nowhere/a.svg" + shape + g_times, "cannot write"},
        {"--name 1f1b" + shape, "--forward"},
        {"--name 1f1b --cross-transfer 1ms" + shape + g_times, "--buildings of 2"},
        {"--name 1f1b --receives late" + shape + g_times, "early"},
        {"--name 1f1b --receives planned --credit 1ms" + shape + g_times, "--buildings of 2"},
        {"--name 1f1b --buildings 2 --credit 1ms" + shape + g_times, "--receives planned"},
    };
    for (const auto& [arguments, words] : bad)
    {
        const auto call = Run("schedule " + arguments);
        EXPECT_EQ(call.code, 2) << arguments << "\n" << call.out;
        EXPECT_THAT(call.err, HasSubstr(words)) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
        EXPECT_TRUE(Files().empty()) << arguments;
    }
}

} // namespace

} // namespace scaleacross
