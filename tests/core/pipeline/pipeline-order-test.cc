// SPDX-License-Identifier: GPL-2.0-only

#include "../../pipeline-oracle.h"
#include "../../waiting-oracle.h"
#include "core/pipeline/list-schedule.h"
#include "core/pipeline/order-walk.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/simplest-shape.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace scaleacross
{

namespace
{

/// Every shape with a schedule, p <= 6, m <= 14, v <= 3.
std::vector<PipelineShape>
SmallShapes()
{
    std::vector<PipelineShape> shapes;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        for (uint32_t p = 1; p <= 6; p++)
        {
            for (uint32_t m = 1; m <= 14; m++)
            {
                for (uint32_t v = 1; v <= 3; v++)
                {
                    for (uint32_t round = 0; round <= (schedule->Facts().inRounds ? m : 0); round++)
                    {
                        const PipelineShape shape{*schedule, p, m, v, round};
                        if (!CheckPipeline(shape))
                        {
                            shapes.push_back(shape);
                        }
                    }
                }
            }
        }
    }
    return shapes;
}

std::string
Describe(const PipelineShape& shape)
{
    return ToString(shape.schedule) + " p " + std::to_string(shape.ranks) + " m " +
           std::to_string(shape.microbatches) + " v " + std::to_string(shape.chunks) + " N " +
           std::to_string(shape.round);
}

/// Larger ones with random dimensions, limits and times, of all schedules that have them.
std::vector<PipelineShape>
RandomShapes()
{
    std::mt19937 random(20240607);
    const auto draw = [&random](uint32_t least, uint32_t most) {
        return least + static_cast<uint32_t>(random() % (most - least + 1));
    };
    std::vector<PipelineShape> shapes;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        for (uint32_t found = 0; found < 24;)
        {
            PipelineShape shape{*schedule, draw(1, 16), draw(1, 48), draw(1, 8)};
            shape.inFlight = draw(0, 2) * draw(1, 16);
            auto times = std::make_shared<PipelineTimes>();
            for (uint32_t i = 0; i < Positions(shape); i++)
            {
                const auto time = [&] { return Duration::Microseconds(draw(1, 9)); };
                times->passes.push_back({time(), time(), time()});
                times->hops.push_back(time() * draw(0, 8));
            }
            shape.times = times;
            if (!CheckPipeline(shape))
            {
                shapes.push_back(shape);
                found++;
            }
        }
    }
    return shapes;
}

std::vector<PipelineShape>
AllShapes()
{
    auto shapes = SmallShapes();
    const auto random = RandomShapes();
    shapes.insert(shapes.end(), random.begin(), random.end());
    return shapes;
}

/// "F0 F1 B0 F2&B1.1": letters F B I W, microbatch, and chunk after a dot unless it is 0.
std::string
Text(const std::vector<PipelineAction>& order)
{
    const auto pass = [](char letter, uint32_t microbatch, uint32_t chunk) {
        return letter + std::to_string(microbatch) + (chunk > 0 ? "." + std::to_string(chunk) : "");
    };
    std::string text;
    for (const auto& action : order)
    {
        const bool both = action.action == Action::ForwardBackward;
        text += (text.empty() ? "" : " ") +
                pass("FBIW.F"[static_cast<size_t>(action.action)], action.microbatch, action.chunk);
        text += both ? "&" + pass('B', action.backMicrobatch, action.backChunk) : "";
    }
    return text;
}

std::string
Text(const PipelineShape& shape, uint32_t r)
{
    return Text(PipelineOrder(shape, r));
}

/// All that is run: the positions and the actions of every rank.
std::string
Text(const PipelineShape& shape)
{
    std::string text;
    const PipelineOrders orders = shape.schedule->Orders(shape);
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        for (uint32_t chunk = 0; chunk < shape.chunks; chunk++)
        {
            text += std::to_string(VirtualStage(shape, r, chunk)) + " ";
        }
        text += Text(orders[r]) + "\n";
    }
    return text;
}

/// Idle time of a rank within the makespan, in units of time.
double
Bubble(const PipelineShape& shape, double f, double i, double w)
{
    const auto spans = EvaluateOrders(shape, {f, i, w, 0});
    return spans->Makespan() - shape.microbatches * shape.chunks * (f + i + w);
}

} // namespace

TEST(PipelineOrder, EveryPassOfEveryMicrobatchComesOnceAndInOrder)
{
    for (const auto& shape : AllShapes())
    {
        SCOPED_TRACE(Describe(shape));
        const bool split = shape.schedule->Facts().splitsBackward;
        const auto orders = shape.schedule->Orders(shape);
        ASSERT_EQ(orders.size(), shape.ranks);
        for (const auto& order : orders)
        {
            std::map<std::pair<uint32_t, uint32_t>, std::string> passes;
            for (const auto& action : order)
            {
                if (action.action == Action::ForwardBackward)
                {
                    passes[{action.chunk, action.microbatch}] += 'F';
                    passes[{action.backChunk, action.backMicrobatch}] += 'B';
                    continue;
                }
                passes[{action.chunk, action.microbatch}] +=
                    "FBIW"[static_cast<size_t>(action.action)];
            }
            EXPECT_EQ(passes.size(), size_t{shape.chunks} * shape.microbatches);
            for (const auto& [key, text] : passes)
            {
                EXPECT_LT(key.first, shape.chunks);
                EXPECT_LT(key.second, shape.microbatches);
                EXPECT_TRUE(text == "FB" || (split && text == "FIW")) << text;
            }
        }
    }
}

TEST(PipelineOrder, OrdersOfAllRanksAreThoseOfEach)
{
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        const ChunkRule& chunks = schedule->Facts().chunks;
        const PipelineShape shape{*schedule, 4, 8, chunks.most == 1 ? 1U : 2U};
        ASSERT_FALSE(CheckPipeline(shape)) << Describe(shape);
        const auto orders = schedule->Orders(shape);
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            EXPECT_EQ(Text(orders[r]), Text(PipelineOrder(shape, r))) << Describe(shape);
        }
    }
}

TEST(PipelineOrder, ShapesOfEqualOrdersHaveOneSimplestShape)
{
    std::map<std::string, std::map<std::string, std::string>> simplest;
    for (const PipelineShape& shape : SmallShapes())
    {
        const PipelineShape simple = SimplestShape(shape);
        if (shape.schedule->Facts().usesTimes && shape.ranks > 1)
        {
            EXPECT_EQ(simple.schedule, shape.schedule) << "without times nothing is known of it";
            continue;
        }
        EXPECT_FALSE(CheckPipeline(simple)) << Describe(shape) << ": " << Describe(simple);
        EXPECT_EQ(Text(simple), Text(shape)) << Describe(shape) << ": " << Describe(simple);
        simplest[Text(shape)][Describe(simple)] = Describe(shape);
    }
    for (const auto& [text, shapes] : simplest)
    {
        std::string all;
        for (const auto& [simple, of] : shapes)
        {
            all += simple + " (of " + of + "); ";
        }
        EXPECT_EQ(shapes.size(), 1U) << all;
    }
}

TEST(PipelineOrder, TimesAndLimitsAreOfSeveralRanks)
{
    for (PipelineShape shape : RandomShapes())
    {
        shape.ranks = 1;
        if (shape.schedule->Facts().usesTimes && !CheckPipeline(shape))
        {
            auto times = std::make_shared<PipelineTimes>(*shape.times);
            times->passes.resize(Positions(shape));
            times->hops.resize(Positions(shape));
            shape.times = times;
            const PipelineShape simple = SimplestShape(shape);
            EXPECT_EQ(Text(simple), Text(shape)) << Describe(shape) << ": " << Describe(simple);
            EXPECT_NE(simple.schedule, shape.schedule) << Describe(shape);
        }
    }
}

TEST(PipelineOrder, RanksNeverWaitForEachOtherInACircle)
{
    for (const auto& shape : AllShapes())
    {
        EXPECT_TRUE(EvaluateOrders(shape, {1, 1, 1, 0.5})) << Describe(shape);
    }
}

TEST(PipelineOrder, OrdersByHand)
{
    // Rank r of p warms up with p-1-r forwards, then alternates, then drains.
    EXPECT_EQ(Text({"1f1b", 3, 4, 1, 0}, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
    EXPECT_EQ(Text({"1f1b", 3, 4, 1, 0}, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
    EXPECT_EQ(Text({"gpipe", 3, 3, 1, 0}, 1), "F0 F1 F2 B0 B1 B2");
    // p = 2, v = 2, N = 2: rank 0 warms up with (v-1) N + 2 (p-1-r) = 4, which is all of m v = 4.
    EXPECT_EQ(Text({"interleaved", 2, 2, 2, 0}, 0), "F0 F1 F0.1 F1.1 B0.1 B1.1 B0 B1");
    // Rank 1: 2 forwards, then pairs.
    EXPECT_EQ(Text({"interleaved", 2, 2, 2, 0}, 1), "F0 F1 F0.1 B0.1 F1.1 B1.1 B0 B1");
    // Breadth first: N = m = 4, p = 2, rank 1: (v-1) 4 = 4 forwards, then pairs.
    EXPECT_EQ(Text({"dorapp", 2, 4, 2, 4}, 1),
              "F0 F1 F2 F3 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.1 B3.1 B0 B1 B2 B3");
    // One W follows each I once r of them are done; the rest at the end.
    EXPECT_EQ(Text({"zb-h1", 3, 4, 1, 0}, 0), "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    EXPECT_EQ(Text({"zb-h1", 3, 4, 1, 0}, 1), "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
    EXPECT_EQ(Text({"zb-h1", 3, 4, 1, 0}, 2), "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
}

TEST(PipelineOrder, OrdersByHandOfZeroBubble)
{
    // ZB-H2, p = 2: rank 0 warms up with 2 (p-1-r) + 1 = 3 forwards and owes no W; rank 1 with 1,
    // and owes 2 r = 2.
    EXPECT_EQ(Text({"zb-h2", 2, 4}, 0), "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    EXPECT_EQ(Text({"zb-h2", 2, 4}, 1), "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
    // ZB1P, p = 2, v = 2, N = 2: rank 1 warms up with (v-1) N + p-1-r = 2, lags its W by 1.
    EXPECT_EQ(Text({"zb1p", 2, 2, 2}, 1), "F0 F1 F0.1 I0.1 F1.1 I1.1 W0.1 I0 W1.1 I1 W0 W1");
    // ZBV, p = 2, n = max(2p-1, m) = 3. Rank 0: 2 (p-r) - 1 = 3 F0; p - r = 2 times F1 I1 W1; then
    // [no F0 left] I0 W0 F1 I1 W1; 2 times I0 W0.
    EXPECT_EQ(Text({"zbv", 2, 3, 2}, 0),
              "F0 F1 F2 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 I0 W0 F2.1 I2.1 W2.1 I1 W1 I2 W2");
    // Rank 1: 1 F0; once F1 F0; once F1 I1 W1; steady twice, the first with F0; I0 I1; I0 W0; then
    // what W1 and W0 are left.
    EXPECT_EQ(Text({"zbv", 2, 3, 2}, 1),
              "F0 F0.1 F1 F1.1 I0.1 W0.1 F2 I0 W0 F2.1 I1.1 W1.1 I1 I2.1 I2 W1 W2.1 W2");
    // Breadth first: backwards of chunks and microbatches in reverse.
    EXPECT_EQ(Text({"breadth-first", 2, 2, 2}, 0), "F0 F1 F0.1 F1.1 B1.1 B0.1 B1 B0");
    // DualPipeV, p = 2, m = 4. Rank 0: 2 F0; once F0 F1; once I1 W1 F1; m - 2p + r + 1 = 1 time the
    // overlapped pair; once B1 and F1 with B0; once B1 and B0, the second split; once W0 I0; W0.
    // One forward more than the way there and back, in pairs, takes.
    EXPECT_EQ(Text({"1f1b-overlapped", 1, 3, 1}, 0), "F0 F1&B0 F2&B1 B2");
    EXPECT_EQ(Text({"1f1b-overlapped", 2, 4, 1}, 0), "F0 F1 F2 F3&B0 B1 B2 B3");
    EXPECT_EQ(Text({"1f1b-overlapped", 2, 4, 1}, 1), "F0 F1&B0 F2&B1 F3&B2 B3");
    EXPECT_EQ(Text({"1f1b-overlapped", 2, 5, 1}, 1), "F0 F1&B0 F2&B1 F3&B2 F4&B3 B4"); // any m
    EXPECT_EQ(Text({"1f1b-overlapped", 2, 4, 2, 2}, 1),
              "F0 F1 F0.1 F1.1&B0.1 F2&B1.1 F3&B0 F2.1&B1 F3.1&B2.1 B3.1 B2 B3");
    EXPECT_EQ(Text({"dualpipev", 2, 4, 2}, 0),
              "F0 F1 F2 F0.1 I0.1 W0.1 F1.1 F3&B1.1 F2.1&B0 B2.1 F3.1&B1 B3.1 I2 W2 I3 W3");
    // Rank 1: no F0 alone; twice F0 F1; 2 overlapped pairs, of which F0 B1 of the first run apart;
    // twice B1 B0, the second time split; 2 W.
    EXPECT_EQ(Text({"dualpipev", 2, 4, 2}, 1),
              "F0 F0.1 F1 F1.1 F2 B0.1 F2.1&B0 F3&B1.1 F3.1&B1 B2.1 B2 I3.1 I3 W3.1 W3");
}

TEST(PipelineOrder, RoundsOfTheFlexibleSchedule)
{
    // m = 10, p = 4: R = 10 / 4 = 2 rounds of N = 5.
    EXPECT_EQ(Text({"dorapp", 4, 10, 2, 0}, 0), Text({"dorapp", 4, 10, 2, 5}, 0));
    // Where p divides m, N = p: the interleaved schedule.
    EXPECT_EQ(Text({"dorapp", 4, 8, 3, 0}, 1), Text({"interleaved", 4, 8, 3, 0}, 1));
    // m < p: one round of m.
    EXPECT_FALSE(CheckPipeline({"dorapp", 4, 3, 2, 0}));
}

TEST(PipelineOrder, NamesWhyAShapeHasNoSchedule)
{
    const PipelineShape bad[] = {
        {"1f1b", 4, 8, 2, 0},         // chunks
        {"gpipe", 4, 8, 2, 0},        // chunks
        {"zb-h1", 4, 8, 2, 0},        // chunks
        {"interleaved", 4, 8, 1, 0},  // nothing to interleave
        {"interleaved", 4, 10, 2, 0}, // 4 does not divide 10
        {"dorapp", 4, 11, 2, 0},      // two rounds do not divide 11
        {"dorapp", 4, 8, 2, 3},       // N < p
        {"dorapp", 4, 8, 2, 9},       // N > m
        {"dorapp", 4, 8, 2, 5},       // 5 does not divide 8
        {"1f1b", 4, 0, 1, 0},
        {"1f1b", 4, 65536, 1, 0},
        {"zb-h2", 4, 8, 2},           // chunks
        {"zbv", 4, 8, 1},             // two chunks make a V
        {"zbv", 4, 8, 4},             // one V
        {"zbv-interleaved", 4, 8, 3}, // whole Vs
        {"zb1p", 4, 10, 2, 4},        // 4 does not divide 10
        {"dualpipev", 4, 7, 2},       // m < 2p
    };
    for (const auto& shape : bad)
    {
        const auto reason = CheckPipeline(shape);
        ASSERT_TRUE(reason) << Describe(shape);
        EXPECT_EQ(reason->reason, "schedule");
        EXPECT_FALSE(reason->detail.empty());
    }
}

TEST(PipelineOrder, BubblesFollowTheClosedForms)
{
    // Per rank: GPipe and 1F1B (p-1)(F+B); interleaved (p-1)(F+B) per chunk time, that is 1/v of
    // it; ZB-H1 (p-1)(F+I-W). F, I, W = 5, 6, 4 per chunk.
    for (uint32_t p = 1; p <= 6; p++)
    {
        for (uint32_t m = p; m <= 4 * p; m++)
        {
            EXPECT_DOUBLE_EQ(Bubble({"gpipe", p, m, 1, 0}, 5, 6, 4), (p - 1) * 15.0);
            EXPECT_DOUBLE_EQ(Bubble({"1f1b", p, m, 1, 0}, 5, 6, 4), (p - 1) * 15.0);
            EXPECT_DOUBLE_EQ(Bubble({"zb-h1", p, m, 1, 0}, 5, 6, 4), (p - 1) * 7.0);
            EXPECT_DOUBLE_EQ(Bubble({"breadth-first", p, m, 3}, 5, 6, 4), (p - 1) * 15.0);
            for (uint32_t v = 1; v <= 3; v++)
            {
                for (uint32_t n = p; n <= m; n++)
                {
                    if (m % n == 0)
                    {
                        EXPECT_DOUBLE_EQ(Bubble({"dorapp", p, m, v, n}, 5, 6, 4), (p - 1) * 15.0);
                        EXPECT_DOUBLE_EQ(Bubble({"1f1b-overlapped", p, m, v, n}, 5, 6, 4),
                                         (p - 1) * 15.0)
                            << p << " " << m << " " << v << " " << n;
                    }
                }
            }
        }
    }
}

TEST(PipelineOrder, LimitOfTheLatencyAwareScheduleHolds)
{
    for (const auto& shape : RandomShapes())
    {
        if (!shape.schedule->Facts().limitsHeld)
        {
            continue;
        }
        const uint32_t limit = shape.inFlight > 0 ? shape.inFlight : shape.ranks;
        for (const auto& order : shape.schedule->Orders(shape))
        {
            EXPECT_LE(PeakHeld(order, std::vector<uint64_t>(shape.chunks, 1)),
                      uint64_t{limit} * shape.chunks)
                << Describe(shape);
        }
    }
}

TEST(PipelineOrder, NoBubbleOnAVOfEqualPasses)
{
    // F = I = W and m >= 2p-1: no rank of ZBV is ever idle between its first and its last action,
    // nor with ZB-H2. ZB-H1 leaves (p-1)(F+I-W), each of the v chunks of ZB1P that over v.
    for (uint32_t p = 1; p <= 8; p++)
    {
        for (uint32_t m = 2 * p; m <= 4 * p; m += p)
        {
            const auto idle = [&](const PipelineShape& shape) {
                return EvaluateOrders(shape, {1, 1, 1, 0})->LongestSpan() - 3.0 * m * shape.chunks;
            };
            EXPECT_DOUBLE_EQ(idle({"zbv", p, m, 2}), 0);
            EXPECT_DOUBLE_EQ(idle({"zb-h2", p, m}), 0);
            EXPECT_DOUBLE_EQ(idle({"zb1p", p, m, 2}), p - 1);
        }
    }
}

TEST(PipelineOrder, BubbleOfAScheduleIsThatOfItsOrders)
{
    // The closed forms, and the walk over orders where there is none, against the oracle. F, I, W =
    // 6, 6, 6 per chunk: the closed form of ZB1P needs W <= F, I.
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        for (const uint32_t p : {2U, 4U, 5U})
        {
            const ChunkRule& chunks = schedule->Facts().chunks;
            const PipelineShape shape{*schedule, p, 6 * p, chunks.most == 1 ? 1U : 2U};
            const int64_t v = shape.chunks;
            const PassTimes times{Duration::Seconds(6.0 * v),
                                  Duration::Seconds(6.0 * v),
                                  Duration::Seconds(6.0 * v)};
            const double idle = EvaluateOrders(shape, {6, 6, 6, 0})->LongestSpan() -
                                18.0 * shape.microbatches * shape.chunks;
            EXPECT_DOUBLE_EQ(schedule->Bubble(shape, times).S(), idle) << Describe(shape);
        }
    }
}

TEST(PipelineOrder, WalkedOrdersAreTheOracles)
{
    for (const auto& shape : RandomShapes())
    {
        const auto second = [](double s) { return Duration::Seconds(s); };
        const PipelineTimes times{
            std::vector<PassTimes>(Positions(shape), {second(3), second(4), second(2)}),
            std::vector<Duration>(Positions(shape), second(5))};
        const auto walked = WalkOrders(shape, shape.schedule->Orders(shape), times);
        const auto oracle = EvaluateOrders(shape, {3, 4, 2, 5});
        ASSERT_TRUE(walked && oracle) << Describe(shape);
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            EXPECT_DOUBLE_EQ(walked->begin[r].S(), oracle->begin[r]) << Describe(shape);
            EXPECT_DOUBLE_EQ(walked->end[r].S(), oracle->end[r]) << Describe(shape);
        }
    }
}

TEST(PipelineOrder, WalkedOrdersThatWaitForWaysAreTheOracles)
{
    const auto shapes = RandomShapes();
    for (size_t k = 0; k < shapes.size(); k += 10) // the oracle takes its time
    {
        const PipelineShape& shape = shapes[k];
        const auto second = [](double s) { return Duration::Seconds(s); };
        const PipelineTimes times{
            std::vector<PassTimes>(Positions(shape), {second(3), second(4), second(2)}),
            std::vector<Duration>(Positions(shape), second(11)),
            std::vector<Duration>(Positions(shape), second(6))};
        const auto orders = shape.schedule->Orders(shape);
        ActionTimes actions;
        ASSERT_TRUE(WalkOrders(shape, orders, times, &actions));
        // Every rank is a site of its own: each hop has a latency of 5 and holds the way for 6.
        const auto oracle = EvaluateWaiting(shape, {3, 4, 2, 5, 6, 1});
        ASSERT_TRUE(oracle) << Describe(shape);
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            for (size_t i = 0; i < orders[r].size(); i++)
            {
                ASSERT_DOUBLE_EQ(actions.begin[r][i].S(), oracle->begin[r][i]) << Describe(shape);
                ASSERT_DOUBLE_EQ(actions.end[r][i].S(), oracle->end[r][i]) << Describe(shape);
            }
        }
    }
}

TEST(PipelineOrder, MessagesHoldTheWayOneAfterTheOther)
{
    // GPipe, p = 2, m = 3, F = 1, B = 2; a message holds the way for 2. Forwards of rank 0 end at
    // 1, 2, 3 and arrive at 3, 5, 7; rank 1 has forwards 3-4, 5-6, 7-8 and backwards 8-10, 10-12,
    // 12-14, which arrive at 12, 14, 16; rank 0 has backwards 12-14, 14-16, 16-18.
    const PipelineShape shape{"gpipe", 2, 3};
    PipelineTimes times = UnitTimes(shape);
    const Duration second = Duration::Seconds(1);
    times.hops.assign(2, second * 2);
    times.holds.assign(2, second * 2);
    const auto spans = WalkOrders(shape, shape.schedule->Orders(shape), times);
    ASSERT_TRUE(spans);
    EXPECT_EQ(spans->end[0], second * 18);
    EXPECT_EQ(spans->end[1], second * 14);
}

TEST(PipelineOrder, ReceivesStandWhereTheyAreInThePlan)
{
    // 1F1B, p = 2, m = 2, F = 1, B = 2: rank 0 has F 0-1, F 1-2, B 4-6, B 7-9, and rank 1 F 1-2,
    // B 2-4, F 4-5, B 5-7. So rank 1 posts the receive of F1, sent at 2, before its first B, and
    // rank 0 those of the gradients, sent at 4 and 7, before the backwards themselves.
    const PipelineShape shape{"1f1b", 2, 2};
    const ReceivePosts posts =
        PlannedReceives(shape, shape.schedule->Orders(shape), UnitTimes(shape));
    EXPECT_EQ(posts[MessageRow(shape, true, 1, 0)], 0U);
    EXPECT_EQ(posts[MessageRow(shape, true, 1, 1)], 1U);
    EXPECT_EQ(posts[MessageRow(shape, false, 0, 0)], 2U);
    EXPECT_EQ(posts[MessageRow(shape, false, 0, 1)], 3U);
}

TEST(PipelineOrder, PlacementOfAVTurnsAtTheLastRank)
{
    // p = 3, v = 4: positions 0 1 2 | 2 1 0 | 0 1 2 | 2 1 0.
    const PipelineShape shape{"zbv-interleaved", 3, 6, 4};
    const uint32_t ranks[] = {0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0};
    for (uint32_t position = 0; position < 12; position++)
    {
        EXPECT_EQ(RankOf(shape, position), ranks[position]);
        EXPECT_EQ(VirtualStage(shape, ranks[position], position / 3), position);
    }
    EXPECT_EQ(VirtualStage({"interleaved", 3, 6, 4}, 1, 2), 7U);
    EXPECT_EQ(RankOf({"interleaved", 3, 6, 4}, 7), 1U);
}

TEST(PipelineOrder, LatencyCostsARoundTripPerTwoMicrobatchesOrSo)
{
    // Strict 1F1B with delay c per hop, m >= p:
    // T = (m+p-1)(F+B) + 2c [(p-1) + floor((m-1)(p-1)/p)].
    for (uint32_t p = 1; p <= 12; p++)
    {
        for (uint32_t m = p; m <= 5 * p; m++)
        {
            for (const double c : {0.0, 0.25, 1.0, 4.0, 32.0})
            {
                const auto spans = EvaluateOrders({"1f1b", p, m, 1, 0}, {3, 4, 3, c});
                const double rounds = p - 1 + (m - 1) * (p - 1) / p;
                EXPECT_DOUBLE_EQ(spans->Makespan(), (m + p - 1) * 10.0 + 2 * c * rounds)
                    << "p " << p << " m " << m << " c " << c;
            }
        }
    }
}

} // namespace scaleacross
