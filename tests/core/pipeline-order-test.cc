// SPDX-License-Identifier: GPL-2.0-only

#include "../pipeline-oracle.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/schedule-registry.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
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
    for (const PipelineSchedule* schedule : PipelineSchedules())
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

/// "F0 F1 B0": letters F B I W, microbatch, and chunk after a dot unless it is 0.
std::string
Text(const PipelineShape& shape, uint32_t r)
{
    std::string text;
    for (const auto& action : PipelineOrder(shape, r))
    {
        text += (text.empty() ? "" : " ") +
                std::string(1, "FBIW"[static_cast<size_t>(action.action)]) +
                std::to_string(action.microbatch) +
                (action.chunk > 0 ? "." + std::to_string(action.chunk) : "");
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
    for (const auto& shape : SmallShapes())
    {
        SCOPED_TRACE(Describe(shape));
        const bool split = shape.schedule->Facts().splitsBackward;
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            std::map<std::pair<uint32_t, uint32_t>, std::string> passes;
            for (const auto& action : PipelineOrder(shape, r))
            {
                passes[{action.chunk, action.microbatch}] +=
                    "FBIW"[static_cast<size_t>(action.action)];
            }
            EXPECT_EQ(passes.size(), size_t{shape.chunks} * shape.microbatches);
            for (const auto& [key, text] : passes)
            {
                EXPECT_LT(key.first, shape.chunks);
                EXPECT_LT(key.second, shape.microbatches);
                EXPECT_EQ(text, split ? "FIW" : "FB");
            }
        }
    }
}

TEST(PipelineOrder, RanksNeverWaitForEachOtherInACircle)
{
    for (const auto& shape : SmallShapes())
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
            for (uint32_t v = 2; v <= 3; v++)
            {
                for (uint32_t n = p; n <= m; n++)
                {
                    if (m % n == 0)
                    {
                        EXPECT_DOUBLE_EQ(Bubble({"dorapp", p, m, v, n}, 5, 6, 4), (p - 1) * 15.0);
                    }
                }
            }
        }
    }
}

TEST(PipelineOrder, PeaksFollowTheClosedForms)
{
    for (uint32_t p = 1; p <= 8; p++)
    {
        const uint32_t m = 3 * p;
        for (uint32_t r = 0; r < p; r++)
        {
            EXPECT_EQ(PeakInFlight({"gpipe", p, m, 1, 0}, r), m);
            EXPECT_EQ(PeakInFlight({"1f1b", p, m, 1, 0}, r), p - r);
            // Each rank delays its W so far that it holds as much as the first rank of 1F1B.
            EXPECT_EQ(PeakInFlight({"zb-h1", p, m, 1, 0}, r), p);
        }
        // 2205.05198: p (1 + (p-1)/(p v)) microbatches of v chunks each: p v + p - 1 chunks.
        for (uint32_t v = 2; v <= 4; v++)
        {
            EXPECT_EQ(PeakInFlight({"interleaved", p, m, v, 0}, 0), p * v + p - 1);
        }
    }
}

TEST(PipelineOrder, HeldBytesWeighTheChunks)
{
    // p = 2, v = 2, m = 2, rank 1: F0 F1 F0.1 B0.1 ...: chunk 0 twice and chunk 1 once.
    EXPECT_EQ(PeakHeld(PipelineOrder({"interleaved", 2, 2, 2, 0}, 1), {10, 7}), 27U);
    EXPECT_EQ(PeakInFlight({"interleaved", 2, 2, 2, 0}, 1), 3U);
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
