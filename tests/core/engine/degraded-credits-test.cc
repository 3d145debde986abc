// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <variant>

namespace scaleacross
{
namespace
{

/// Eight pairs of GPUs send 4 MiB each over 5 ms by InfiniBand's credits, sprayed over four links
/// of 100 Gb/s, of which a part is left of one.
Scenario
Sprayed(double left)
{
    const std::string events =
        left == 1 ? ""
                  : "events: [{kind: degradation, target: b1/spine0--b2/spine0, at: 0s, "
                    "factor: " +
                        std::to_string(left) + "}]\n";
    Scenario scenario =
        ParseStudy("study: credits\n"
                   "cluster: {buildings: {name: b, count: 2, gpus: 8, gpus_per_node: 1, gpu: h100, "
                   "nic_rate: 400Gbps, fabric: {spines: 4, nic_delay: 1us, leaf_delay: 2us, "
                   "nodes_per_pod: 8}}, cross: {distance: 1000km, latency: 5ms, capacity: "
                   "400Gbps}}\nnetwork: {transport: infiniband, pfc: false, multipath: spray-rr, "
                   "recovery: selective-repeat, "
                   "lane_credits: 128KiB}\n" +
                       events,
                   "credits.yaml",
                   {},
                   StudyScope::Network)
            .scenario;
    CollectiveSpec& spec = scenario.Job().collective.emplace();
    spec.op = CollectiveOp::SendReceive;
    spec.group = CollectiveGroup::Across;
    spec.bytes = Bytes(4 << 20);
    return scenario;
}

RunReport
ReportOf(const Engine& engine, double left)
{
    RunOptions options;
    options.warmup = 0;
    return std::get<RunReport>(engine.Run(Sprayed(left), options));
}

BitRate
CapacityOfSpan(const RunReport& report)
{
    const auto span = std::find_if(report.resources.begin(),
                                   report.resources.end(),
                                   [](const auto& one) { return one.name == "b1 to b2"; });
    return span == report.resources.end() ? BitRate() : span->capacity;
}

/// Worked case of CreditShare(): 128 KiB are 30 packets of 4,124 B, which come back in 10 ms, so
/// that a link carries 98.97 Mb/s of its 100 Gb/s; at half its rate as many, but for microseconds
/// of three packets in 10 ms; and with 0.05 % left 50 Mb/s, which is less than the credits allow:
/// the others wait for its quarter of the packets.
TEST(DegradedCredits, CreditsLimitWhatTheEventLeaves)
{
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    // 8 x 1,024 packets and an ACK of 64 B or so for each four of them.
    const double whole = 8 * 1024 * 4124 * 8 / (4 * 98.97e6);
    for (const Engine* engine :
         {static_cast<const Engine*>(&analytical), static_cast<const Engine*>(&flow)})
    {
        SCOPED_TRACE(engine->Name());
        const RunReport built = ReportOf(*engine, 1);
        const double time = built.iterationTime.S();
        EXPECT_NEAR(time, whole, 0.03 * whole);
        for (const double left : {0.5, 0.25})
        {
            const RunReport report = ReportOf(*engine, left);
            EXPECT_NEAR(report.iterationTime.S(), time, 0.001 * time) << left;
            // What is printed is what the event leaves of all four links, of which it hits one.
            EXPECT_NEAR(CapacityOfSpan(report).Value(), (3 + left) * 100e9, 1) << left;
        }
        EXPECT_NEAR(ReportOf(*engine, 0.0005).iterationTime.S(),
                    time * 98.97 / 50,
                    0.03 * time * 98.97 / 50);
    }
}

} // namespace

} // namespace scaleacross
