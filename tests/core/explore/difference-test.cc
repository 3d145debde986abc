// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/difference.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

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

/// 100 = 60 + 10 + 20 + 10 against 130 = 50 + 35 + 21 + 18, and 6 that are left for the imbalance.
TEST(Difference, OfTimesAddsUp)
{
    const auto ms = [](int64_t value) { return Duration::Microseconds(1000 * value); };
    RunReport a;
    a.iterationTime = ms(100);
    a.computeTime = ms(60);
    a.bubble = ms(10);
    a.Of(CommClass::Data).exposed = ms(20);
    a.Of(CommClass::Pipeline).exposed = ms(10);
    RunReport b;
    b.iterationTime = ms(130);
    b.computeTime = ms(50);
    b.bubble = ms(35);
    b.Of(CommClass::Data).exposed = ms(21);
    b.Of(CommClass::Pipeline).exposed = ms(18);
    std::map<std::string, Duration> changes;
    Duration sum;
    for (const TimeChange& part : TimeChanges(a, b))
    {
        changes[part.key] = part.change;
        sum += part.change;
    }
    EXPECT_EQ(sum, ms(30));
    EXPECT_EQ(changes.size(), 3 + kCommClasses);
    EXPECT_EQ(changes.at("compute"), ms(-10));
    EXPECT_EQ(changes.at("bubble"), ms(25));
    EXPECT_EQ(changes.at("exposed_dp"), ms(1));
    EXPECT_EQ(changes.at("exposed_pp"), ms(8));
    EXPECT_EQ(changes.at("exposed_tp"), ms(0));
    EXPECT_EQ(changes.at("imbalance"), ms(6));
    // From 2.5 ms on, largest first, whatever the sign.
    std::vector<std::string> main;
    for (const TimeChange& part : MainChanges(a, b))
    {
        main.push_back(part.key);
    }
    EXPECT_EQ(main, (std::vector<std::string>{"bubble", "compute", "exposed_pp", "imbalance"}));
    EXPECT_TRUE(MainChanges(a, a).empty());
}

/// A sum of thousands of whole picoseconds is off by up to a nanosecond, of 4 s by up to four; no
/// part of a time is told that is no more than that.
TEST(Difference, OfRoundingIsNone)
{
    const auto ps = [](int64_t value) { return Duration::Picoseconds(value); };
    EXPECT_TRUE(IsRounding(ps(-1), Duration::Seconds(0.1)));
    EXPECT_TRUE(IsRounding(ps(1000), Duration::Seconds(0.1)));
    EXPECT_FALSE(IsRounding(ps(1001), Duration::Seconds(0.1)));
    EXPECT_TRUE(IsRounding(ps(-4000), Duration::Seconds(4)));
    EXPECT_FALSE(IsRounding(ps(-4001), Duration::Seconds(4)));
    RunReport a;
    a.iterationTime = Duration::Seconds(1);
    a.computeTime = Duration::Seconds(0.5);
    RunReport b = a;
    b.computeTime += ps(1);
    EXPECT_TRUE(MainChanges(a, b).empty());
}

TEST(Difference, OfPlansIsInTheirFields)
{
    Plan a;
    Plan b = a;
    EXPECT_TRUE(FieldsThatDiffer(a, b).empty());
    b.parallel.tp = 4;
    b.network.qps = 2;
    const auto differences = FieldsThatDiffer(b, a);
    ASSERT_EQ(differences.size(), 2);
    EXPECT_EQ(differences[0].key, "plan.tp");
    EXPECT_EQ(differences[0].value, "4");
    EXPECT_EQ(differences[0].other, "1");
    EXPECT_EQ(differences[1].key, "network.qps");
    EXPECT_EQ(differences[1].value, "2");
    EXPECT_EQ(differences[1].other, "16");
}

} // namespace

} // namespace scaleacross
