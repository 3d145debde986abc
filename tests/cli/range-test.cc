// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * Quantities beyond what their types hold: refused by name, or failures by name, never a ranked
 * plan.
 */

#include "program.h"

namespace scaleacross
{

namespace
{

/// 405B over a span of 10 Mb/s. Plans whose weights are gathered over it for every microbatch send
/// 183 to 356 TiB: at 10 Mb/s and both ways 9.3 to 18 years, where 64 bits of picoseconds end
/// after 106 days; those that send 1 to 2.2 TiB take 5 to 12 days.
const char* const g_thinSpan = R"(
model: llama3-405b
workload: {global_batch: 2048, sequence: 8192}
cluster:
  buildings: {count: 2, gpus: 1024, gpus_per_node: 8, gpu: h100}
  cross: {capacity: 10Mbps, distance: 30km}
plan: {tp: 8, pp: 16, microbatch: 1, recompute: full, sharding: fsdp, crossing: dp, reshard: true}
)";

class Range : public ProgramTest
{
};

TEST_F(Range, TimeBeyondItIsAFailureWithItsValues)
{
    Write("study.yaml", g_thinSpan);
    const Call run = Run("run study.yaml --no-store");
    EXPECT_EQ(run.code, 1);
    EXPECT_NE(run.out.find("range"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("is beyond 9223372 s (106 days)"), std::string::npos) << run.out;
}

TEST_F(Range, PlansBeyondItAreCountedAndNotRanked)
{
    Write("study.yaml",
          std::string(g_thinSpan) +
              "search: {plan: {pp: [8, 16], crossing: [dp, pp], reshard: [false, true]}}\n");
    const auto json = RunJson("explore study.yaml --db all.db");
    // The two that gather over the span.
    EXPECT_EQ(json.at("failed").at("range"), 2);
    ASSERT_EQ(json.at("ran"), 6);
    for (const auto& entry : json.at("ranking"))
    {
        // At least what crosses, 1 TiB, over both directions: 2^40 x 8 / (2 x 10e6) s.
        EXPECT_GE(entry.at("iteration_time_s").get<double>(), 439'804.0) << entry;
    }
    for (const auto& [crossing, best] : json.at("placements").items())
    {
        EXPECT_GE(best.at("exposed_comm_s").get<double>(), 0) << crossing;
        EXPECT_LE(best.at("bubble_fraction").get<double>(), 1) << crossing;
    }
    const auto counts = Sql("all.db", "SELECT count(*) FROM run WHERE reason = 'range'");
    EXPECT_EQ(counts, "2");
}

TEST_F(Range, AStudyOfSuchPlansOnlyHasNoAnswer)
{
    Write("study.yaml", std::string(g_thinSpan) + "search: {plan: {pp: [8, 16]}}\n");
    const Call call = Run("explore study.yaml --db none.db");
    EXPECT_EQ(call.code, 1);
    EXPECT_NE(call.out.find("2 failed (2 range)"), std::string::npos) << call.out;
    EXPECT_NE(call.out.find("range: e.g. "), std::string::npos) << call.out;
    EXPECT_EQ(call.out.find("inf"), std::string::npos) << call.out;
}

TEST_F(Range, RatesThatMakeNoSenseAreRefusedWithTheRange)
{
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"bf16_peak: 0.000001FLOP/s", "1GFLOP/s to 1000PFLOP/s"},
        {"fp8_peak: 1FLOP/s", "0FLOP/s, or 1GFLOP/s to 1000PFLOP/s"},
        {"fp4_peak: 2000PFLOP/s", "0FLOP/s, or 1GFLOP/s to 1000PFLOP/s"},
        {"host_bandwidth: 1bps", "0bps, or 1Mbps to 1Pbps"},
        {"nic_rate: 1bps", "1Mbps to 1Pbps"},
        {"scale_up_bandwidth: 1kB/s", "1Mbps to 1Pbps"},
        {"hbm_bandwidth: 10Pbps", "1Mbps to 1Pbps"},
    };
    for (const auto& [field, range] : cases)
    {
        std::string text = g_thinSpan;
        text.replace(text.find("gpu: h100"), 9, "gpu: {preset: h100, " + field + "}");
        Write("study.yaml", text);
        const Call call = Run("run study.yaml --no-store");
        EXPECT_EQ(call.code, 2) << field;
        EXPECT_NE(call.err.find(field.substr(0, field.find(':'))), std::string::npos) << call.err;
        EXPECT_NE(call.err.find("is out of range\n  allowed: " + range), std::string::npos)
            << call.err;
    }
}

} // namespace

} // namespace scaleacross
