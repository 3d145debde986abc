// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/difference.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// A report with 100 us of busy data parallel communication.
RunReport
Report()
{
    RunReport report;
    report.iterationTime = Duration::Microseconds(1000);
    report.Of(CommClass::Data).busy = Duration::Microseconds(100);
    report.Of(CommClass::Data).bytes = Bytes(1);
    report.Of(CommClass::Tensor).bytes = Bytes(1);
    return report;
}

TEST(Difference, OfOneClassCountsThoughTheTotalAgrees)
{
    const RunReport reference = Report();
    RunReport report = Report();
    EXPECT_FALSE(DiffersSomewhere(report, reference));
    report.Of(CommClass::Data).busy = Duration::Microseconds(104);
    EXPECT_FALSE(DiffersSomewhere(report, reference));
    report.Of(CommClass::Data).busy = Duration::Microseconds(106);
    EXPECT_TRUE(DiffersSomewhere(report, reference));
}

TEST(Difference, RelativeToTheReference)
{
    EXPECT_NEAR(RelativeError(Duration::Microseconds(110), Duration::Microseconds(100)),
                0.1,
                1e-12);
    EXPECT_EQ(RelativeError(Duration(), Duration()), 0);
    EXPECT_EQ(RelativeError(Duration::Microseconds(1), Duration()), 1);
}

TEST(Difference, HasTheReasonThatThePacketsShow)
{
    ParallelPlan plan;
    plan.sharding = Sharding("ddp");
    RunReport packet = Report();
    // One kind of transfer on the network, nothing counted.
    EXPECT_EQ(ReasonOfDifference(plan, packet), "unexplained");
    // Gathers and reductions of a sharded plan run beside each other.
    plan.sharding = Sharding("hsdp");
    EXPECT_EQ(ReasonOfDifference(plan, packet), "contention");
    plan.sharding = Sharding("ddp");
    packet.Of(CommClass::Pipeline).bytes = Bytes(1);
    EXPECT_EQ(ReasonOfDifference(plan, packet), "contention");
    packet.network.collisionFactor = 1.5;
    EXPECT_EQ(ReasonOfDifference(plan, packet), "collision");
    packet.network.pauses = 3;
    EXPECT_EQ(ReasonOfDifference(plan, packet), "pause+collision");
    packet.network.retransmissions = 1;
    EXPECT_EQ(ReasonOfDifference(plan, packet), "loss+pause+collision");
}

} // namespace

} // namespace scaleacross
