// SPDX-License-Identifier: GPL-2.0-only

// What collectives on part of a cluster, or on one that is hit by events, take on the analytical
// engine.

#include "core/engine/analytical-engine.h"
#include "core/io/read-study.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

/// Of 1 MiB between two 400 Gb/s NICs: 256 packets of 4,096 + 82 B and a quarter of an 86 B ACK.
constexpr double kMessage = 256 * 4199.5 * 8 / 400e9;

/// Seconds of one collective on two buildings of 400 Gb/s NICs.
double
SecondsOn(const std::string& buildings, const std::string& rest, const CollectiveSpec& spec)
{
    const std::string text = "study: part\n"
                             "cluster:\n"
                             "  buildings: {count: 2, gpu: h100, nic_rate: 400Gbps, " +
                             buildings +
                             "}\n"
                             "  cross: {distance: 1km, oversubscription: 1}\n" +
                             rest;
    Scenario scenario = ParseStudy(text, "part.yaml", {}, StudyScope::Network).scenario;
    scenario.Job().collective = spec;
    RunOptions options;
    options.warmup = 0;
    return std::get<RunReport>(AnalyticalEngine().Run(scenario, options)).iterationTime.S();
}

CollectiveSpec
SpecOf(CollectiveOp op, CollectiveGroup group, uint64_t bytes, uint32_t groups = 0)
{
    CollectiveSpec spec;
    spec.op = op;
    spec.group = group;
    spec.groups = groups;
    spec.bytes = Bytes(bytes);
    return spec;
}

TEST(CollectiveCost, AnEventInsideABuildingCountsWhicheverItIs)
{
    // Two pods of two servers in each building, an uplink of 800 Gb/s per pod. Three steps of an
    // all-gather's ring 0-1-2-3 carry 1 MiB each over every edge, one of which leaves each pod. At
    // a tenth, 80 Gb/s, the uplink takes 5 times as long as a NIC.
    const auto seconds = [](const std::string& events) {
        return SecondsOn("gpus: 4, gpus_per_node: 1, fabric: {spines: 1, nodes_per_pod: 2}",
                         "events: [" + events + "]\n",
                         SpecOf(CollectiveOp::AllGather, CollectiveGroup::Building, 4 << 20));
    };
    const auto event = [](const std::string& building) {
        return "{kind: degradation, target: " + building + "/leaf0--" + building +
               "/spine0, at: 0s, factor: 0.1}";
    };
    const double without = seconds("");
    EXPECT_NEAR(seconds(event("building1")) - without, (5 - 1) * 3 * kMessage, 1e-9);
    EXPECT_EQ(seconds(event("building2")), seconds(event("building1")));
}

TEST(CollectiveCost, FewGroupsCrowdFewLeaves)
{
    // 16 GPUs in two pods of 8, leaf uplinks a quarter of the NICs. Ranks 0 to 7 send to the other
    // building: all from the first pod, 8 NICs into 2 NICs' worth. 4 more servers do not help.
    const auto seconds = [](const std::string& fabric, uint32_t groups) {
        return SecondsOn(
            "gpus: 16, gpus_per_node: 4, fabric: {spines: 1, " + fabric + "}",
            "",
            SpecOf(CollectiveOp::SendReceive, CollectiveGroup::Across, 1 << 20, groups));
    };
    const std::string wide = "nodes_per_pod: 2, rails: false, oversubscription: 1";
    const std::string thin = "nodes_per_pod: 2, rails: false, oversubscription: 4";
    // Store and forward of a packet at other rates: under 1 us.
    EXPECT_NEAR(seconds(thin, 8) - seconds(wide, 8), 3 * kMessage, 1e-6);
    EXPECT_NEAR(seconds(thin, 16) - seconds(wide, 16), 3 * kMessage, 1e-6);
    // On rails: four leaves of 4 NICs with one NIC's worth upwards. Ranks 0 to 4 are two on leaf 0
    // and one on each of the others.
    const std::string wideRails = "nodes_per_pod: 4, rails: true, oversubscription: 1";
    const std::string thinRails = "nodes_per_pod: 4, rails: true, oversubscription: 4";
    EXPECT_NEAR(seconds(thinRails, 5) - seconds(wideRails, 5), kMessage, 1e-6);
    EXPECT_NEAR(seconds(thinRails, 4) - seconds(wideRails, 4), 0, 1e-6);
}

TEST(CollectiveCost, FewGroupsCrowdFewZones)
{
    // Four pods of one server of 4 in two zones; a zone's links upwards carry half of its 8 NICs.
    // Four groups are all in the first pod, so in the first zone: 4 NICs into 4 NICs' worth. Eight
    // are two pods of the same zone.
    const auto seconds = [](uint32_t oversubscription, uint32_t groups) {
        return SecondsOn(
            "gpus: 16, gpus_per_node: 4, fabric: {spines: 1, rails: false, "
            "nodes_per_pod: 1, pods_per_zone: 2, aggregations: 1, "
            "zone_oversubscription: " +
                std::to_string(oversubscription) + "}",
            "",
            SpecOf(CollectiveOp::SendReceive, CollectiveGroup::Across, 1 << 20, groups));
    };
    EXPECT_NEAR(seconds(2, 4) - seconds(1, 4), 0, 1e-6);
    EXPECT_NEAR(seconds(2, 8) - seconds(1, 8), kMessage, 1e-6);
    EXPECT_NEAR(seconds(2, 16) - seconds(1, 16), kMessage, 1e-6);
}

TEST(CollectiveCost, PhasesOfOneGroupWaitForTheUnluckiestOnce)
{
    // An all-reduce across is two rounds of the same 16 chains: with m << N, 16 x 512 x 1e-5
    // packets per round, 1.02 round trips of 10 ms (loss-delay.h), not twice the 0.73 of one round.
    const auto seconds = [](const std::string& loss, CollectiveOp op) {
        const std::string text =
            "study: far\n"
            "cluster:\n"
            "  buildings: {count: 2, gpus: 8, gpus_per_node: 1, gpu: h100, fabric: {spines: 1}}\n"
            "  cross: {distance: 1000km, oversubscription: 1, loss: " +
            loss + "}\nnetwork: {qps: 16, recovery: selective-repeat}\n";
        Scenario scenario = ParseStudy(text, "far.yaml", {}, StudyScope::Network).scenario;
        scenario.Job().collective = SpecOf(op, CollectiveGroup::Across, 64 << 20);
        RunOptions options;
        options.warmup = 0;
        return std::get<RunReport>(AnalyticalEngine().Run(scenario, options)).iterationTime.S();
    };
    const auto delay = [&](CollectiveOp op) { return seconds("1e-5", op) - seconds("0", op); };
    // A delay is a round trip less what a loss near the beginning of 512 packets has time for, m /
    // N = 6.8 %, at the most. The last of 512 packets waits for the next message: 32 x 16 x 1e-5
    // times half a round trip more, under 0.1 ms.
    const double p = 1 - std::exp(-16 * 512e-5);
    const double once = 1 - std::pow(1 - p, 16);
    const double twice = 2 - std::pow(1 - p, 32) - std::pow(1 - p * p, 16);
    EXPECT_NEAR(once, 0.73, 0.005);
    EXPECT_NEAR(twice, 1.02, 0.005);
    EXPECT_GT(delay(CollectiveOp::AllGather), once * 10e-3 * (1 - 0.068));
    EXPECT_LT(delay(CollectiveOp::AllGather), once * 10e-3 + 0.1e-3);
    EXPECT_GT(delay(CollectiveOp::AllReduce), twice * 10e-3 * (1 - 0.068));
    EXPECT_LT(delay(CollectiveOp::AllReduce), twice * 10e-3 + 0.1e-3);
}

} // namespace
} // namespace scaleacross
