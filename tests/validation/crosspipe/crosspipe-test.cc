// SPDX-License-Identifier: GPL-2.0-only

// CrossPipe (2507.00217): a 70B class model over two data centres by PP-out, TP4 PP8, m = 16;
// makespan per microbatch in seconds. F, I, W = .038, .0465, .0205 are fitted to the cells without
// delay, so only the delayed ones test anything. There latency and transfer over the one slow
// boundary, between ranks 3 and 4, take 0.25 F each.

#include "../../pipeline-oracle.h"

#include <cmath>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

double
PerMicrobatch(Schedule schedule, double slow)
{
    OracleTimes times{0.038, 0.0465, 0.0205};
    times.slow = slow;
    times.slowRank = 3;
    return EvaluateOrders({schedule, 8, 16}, times)->Makespan() / 16;
}

/// The same on a V: two chunks per rank, each half as long.
double
PerMicrobatchOnV(double slow)
{
    OracleTimes times{0.038 / 2, 0.0465 / 2, 0.0205 / 2};
    times.slow = slow;
    times.slowRank = 3;
    return EvaluateOrders({"zbv", 8, 16, 2}, times)->Makespan() / 16;
}

constexpr double kDelay = (0.25 + 0.25) * 0.038;
constexpr double kThreeDecimals = 0.5e-3;

} // namespace

TEST(CrossPipe, WithoutDelay)
{
    EXPECT_NEAR(PerMicrobatch("1f1b", 0), 0.151, kThreeDecimals);
    EXPECT_NEAR(PerMicrobatch("zb-h1", 0), 0.133, kThreeDecimals);
}

TEST(CrossPipe, OneFOneBOverASlowBoundary)
{
    EXPECT_NEAR(PerMicrobatch("1f1b", kDelay), 0.168, kThreeDecimals);
}

TEST(CrossPipe, ZbH1OverASlowBoundary)
{
    // Published .150; the hand-made order gives .1445, 3.7 % less. Theirs may place W differently.
    EXPECT_NEAR(PerMicrobatch("zb-h1", kDelay) / 0.150, 1, 0.04);
}

TEST(CrossPipe, ZbvWithoutDelay)
{
    // Published .118; this order gives .1164, 1.4 % less.
    EXPECT_NEAR(PerMicrobatchOnV(0) / 0.118, 1, 0.02);
}

TEST(CrossPipe, ZbvOverASlowBoundaryIsMissed)
{
    // A miss, kept here so that nobody takes it for a hit: published .148, this order gives .126,
    // 15 % less, for a goal of 5 %. It is not the order: the one that the authors of ZBV make by
    // list for equal passes, on which CrossPipe builds, gives .126 too over a latency and a link
    // per direction that sends one message after the other; so does a link that both directions
    // share. With delays twice as long it is .1454, within 2 %, as if the ratio had been of both
    // chunks' crossings, while those of 1F1B and ZB-H1 fit as they are. An order or a reading that
    // comes within the goal belongs above.
    EXPECT_GT(std::abs(PerMicrobatchOnV(kDelay) / 0.148 - 1), 0.05);
}

} // namespace scaleacross
