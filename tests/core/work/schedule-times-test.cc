// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/topology/rank-layout.h"
#include "core/work/cost/schedule-times.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

/// A server of four GPUs of this kind each, as many as kinds.
Scenario
ServersOf(const std::vector<GpuSpec>& kinds)
{
    Scenario scenario;
    for (const GpuSpec& gpu : kinds)
    {
        BuildingSpec building;
        building.name = std::to_string(scenario.cluster.buildings.size());
        building.gpus = building.gpusPerNode = 4;
        building.gpu = gpu;
        scenario.cluster.buildings.push_back(building);
    }
    scenario.jobs.emplace_back();
    JobSpec& job = scenario.Job();
    job.model = ModelPreset("llama3-8b");
    job.workload.sequence = 4096;
    job.plan.pp = 4;
    job.plan.dp = 1;
    return scenario;
}

TEST(ScheduleTimes, MessagesInsideAServerTakeTheScaleUpNetwork)
{
    // 4,096 tokens of 4,096 BF16 are 32 MiB: at half of 400 GB/s 167.77216 us, after 1 us.
    GpuSpec gpu = GpuPreset("h100");
    gpu.scaleUpBandwidth = BytesPerSecond(400e9);
    gpu.scaleUpEfficiency = 0.5;
    gpu.scaleUpLatency = Duration::Microseconds(1);
    const Scenario scenario = ServersOf({gpu});
    const auto layout = std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
    const PipelineTimes times = PipelineTimesOf(scenario, layout);
    ASSERT_EQ(times.hops.size(), 3U);
    for (const Duration hop : times.hops)
    {
        EXPECT_EQ(hop, Duration::Microseconds(1) + Duration::Picoseconds(167772160));
    }
}

TEST(ScheduleTimes, LeastOfTheModelIsOfEveryLayerThatOfItsBestAccelerator)
{
    // One computes, the other reads and writes memory, twice as fast: neither is below the least of
    // both, nor is half of it enough.
    GpuSpec computes = GpuPreset("h100");
    GpuSpec reads = computes;
    computes.hbmBandwidth = computes.hbmBandwidth / 2;
    reads.bf16Peak = reads.bf16Peak / 2;
    const JobSpec job = ServersOf({computes}).Job();
    const PassTimes one = LeastModelTimes(job, {&computes});
    const PassTimes other = LeastModelTimes(job, {&reads});
    const PassTimes both = LeastModelTimes(job, {&computes, &reads});
    EXPECT_LE(both.Total(), std::min(one.Total(), other.Total()));
    EXPECT_GE(both.Total() * 2, std::max(one.Total(), other.Total()));
    EXPECT_EQ(LeastModelTimes(job, {&reads, &computes}).Total(), both.Total());
    // All of it on one pipeline of that accelerator.
    const Scenario scenario = ServersOf({computes});
    const auto layout = std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
    Duration sum;
    for (const PassTimes& pass : PassTimesOf(scenario, layout))
    {
        sum += pass.Total();
    }
    EXPECT_EQ(one.Total(), sum);
}

} // namespace

} // namespace scaleacross
