// SPDX-License-Identifier: GPL-2.0-only

// Gradients clipped by their norm: no rank of either engine begins an iteration before a number has
// come from every rank's last one, whatever the schedule.

#include "../volumes/volume-plans.h"
#include "core/engine/analytical-engine.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/cost/compute-cost.h"
#include "helper/engine/packet-engine.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

constexpr Duration kSpan = Duration::Microseconds(100);

/// Two buildings of 4 H100, kSpan apart, with eight stages across them or two replicas of four.
/// Wide layers and short sequences, so that forward, input and weight gradient take about as long,
/// which is what schedules of split backwards are made for.
Scenario
Across(const Schedule& schedule, bool pipeline, bool clips)
{
    ParallelPlan plan;
    plan.pp = pipeline ? 8 : 4;
    plan.dp = pipeline ? 1 : 2;
    plan.microbatch = 32;
    plan.crossing = pipeline ? Crossing::Pipeline : Crossing::Data;
    plan.sharding = Sharding("ddp");
    plan.schedule = schedule;
    plan.chunks = schedule->Facts().chunks.least;
    ClusterSpec cluster = volumes::Buildings(2, 4);
    cluster.crossLinks.front().latency = kSpan;
    for (BuildingSpec& building : cluster.buildings)
    {
        building.gpu.hbmBandwidth = BytesPerSecond(1e18);
        building.gpu.kernelGap = Duration();
        building.gpu.gemm = GemmCurve();
    }
    ModelSpec model = volumes::Model(false);
    model.hidden = 768;
    model.headDim = 96;
    model.denseFfn = 3072;
    model.vocabulary = 64; // all stages do about as much
    Scenario scenario = volumes::ScenarioOf(cluster, model, plan, 16);
    scenario.Job().workload.sequence = 64;
    scenario.Job().workload.stack.clipsGradients = clips;
    return scenario;
}

RunReport
RunOn(const Engine& engine, const Scenario& scenario)
{
    return std::get<RunReport>(engine.Run(scenario, RunOptions()));
}

/**
 * The least time of an iteration, by what the layers compute. The last of p stages has a number
 * only after m (F + I + W), which it begins after p - 1 stages have passed a forward of a chunk on
 * to it, and stage 0 begins after that number. On the way from the end of one iteration to the
 * beginning of that work, and back, there is the span twice: over the pipeline, with the pipeline
 * across; in the all-reduce of every stage, with replicas across.
 */
Duration
LeastOf(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    const ParallelPlan& plan = job.plan;
    const GpuSpec& gpu = scenario.cluster.buildings.front().gpu;
    const LayerCost layer = CostOfLayer(job.model, job.workload, plan, gpu, 0);
    const Duration forward = layer.attention.forward + layer.mlp.forward;
    const Duration all = forward + layer.attention.inputGradient + layer.attention.weightGradient +
                         layer.mlp.inputGradient + layer.mlp.weightGradient;
    const uint32_t layers = job.model.layers / plan.pp;
    const uint32_t microbatches = job.workload.globalBatch / plan.dp / plan.microbatch;
    return all * (int64_t{microbatches} * layers) +
           forward * (int64_t{plan.pp - 1} * (layers / plan.chunks)) + kSpan * 2;
}

} // namespace

TEST(ClippingLaw, NoRankIsAheadOfTheOthersByMoreThanTheWay)
{
    uint32_t aheadWithout = 0;
    for (const PipelineSchedule* schedule : Schedule::Rows())
    {
        for (const bool pipeline : {true, false})
        {
            const std::string plan = schedule->Name() + (pipeline ? " PP-out" : " DP-out");
            const Scenario scenario = Across(*schedule, pipeline, true);
            const RunReport exact = RunOn(AnalyticalEngine(), scenario);
            const RunReport packets = RunOn(PacketEngine(), scenario);
            EXPECT_GE(exact.iterationTime, LeastOf(scenario)) << plan;
            EXPECT_GE(packets.iterationTime, LeastOf(scenario)) << plan;
            EXPECT_NEAR(exact.iterationTime.S() / packets.iterationTime.S(), 1, 0.02) << plan;
            for (uint32_t k = 0; k < kCommClasses; k++)
            {
                EXPECT_EQ(exact.classes[k].bytes, packets.classes[k].bytes) << plan;
            }
            const RunReport without = RunOn(AnalyticalEngine(), Across(*schedule, pipeline, false));
            aheadWithout += without.iterationTime < LeastOf(scenario) ? 1 : 0;
        }
    }
    // zb-h2 at least, which begins the next iteration in the place of a bubble.
    EXPECT_GT(aheadWithout, 0U);
}

} // namespace scaleacross
