// SPDX-License-Identifier: GPL-2.0-only

// What the ScaleAcross study (2605.24326) says about placement, as a crossing that can be measured:
// DP-out suits dense models, PP-out gains as the number of experts grows.
//
// DP-out sends every parameter's gradient over the cut between two buildings once per iteration and
// direction, P g bytes; what a token costs does not count. PP-out sends every token's activation
// once per direction, 2 T h bytes for T tokens; what the model holds does not count. More experts
// per layer are more parameters for the same tokens and the same computing.

#include "core/engine/analytical-engine.h"
#include "core/io/presets.h"
#include "report-of.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

constexpr uint32_t kBatch = 1536;
constexpr uint32_t kSequence = 4096;

/// 128 GPUs in two buildings, joined by `gigabits` per second, under a small mixture of experts.
Scenario
ExpertsOver(double gigabits, uint32_t experts)
{
    Scenario scenario;
    for (const char* name : {"north", "south"})
    {
        BuildingSpec building;
        building.name = name;
        building.gpus = 64;
        building.gpu = GpuPreset("h100");
        scenario.cluster.buildings.push_back(building);
    }
    CrossLinkSpec span;
    span.b = 1;
    span.distance = Distance(30);
    span.latency = FibreDelay(span.distance);
    span.capacity = BitRate(gigabits * 1e9);
    scenario.cluster.crossLinks = {span};
    JobSpec job;
    job.model.name = "experts";
    job.model.layers = 8;
    job.model.hidden = 2048;
    job.model.heads = 16;
    job.model.kvHeads = 8;
    job.model.headDim = 128;
    job.model.experts = experts;
    job.model.topK = 1;
    job.model.expertFfn = 2048;
    job.model.sharedFfn = 2048;
    job.model.moeEvery = 1;
    job.model.vocabulary = 8192;
    job.workload.sequence = kSequence;
    job.workload.globalBatch = kBatch;
    job.plan.ep = 8;
    job.plan.pp = 2;
    job.plan.dp = 64;
    job.plan.sharding = Sharding("hsdp");
    scenario.jobs.push_back(job);
    scenario.Validate();
    return scenario;
}

RunReport
Crossed(Scenario scenario, const Crossing& crossing)
{
    scenario.Job().plan.crossing = crossing;
    return ReportOf(AnalyticalEngine(), scenario);
}

/// DP-out less PP-out, in seconds.
double
Difference(double gigabits, uint32_t experts)
{
    const Scenario scenario = ExpertsOver(gigabits, experts);
    return Crossed(scenario, Crossing::Data).iterationTime.S() -
           Crossed(scenario, Crossing::Pipeline).iterationTime.S();
}

/// Experts from which on PP-out is faster, by interpolation between multiples of ep.
double
TurningPoint(double gigabits)
{
    double before = Difference(gigabits, 8);
    EXPECT_LT(before, 0) << "few experts: DP-out";
    for (uint32_t experts = 16; experts <= 256; experts += 8)
    {
        const double here = Difference(gigabits, experts);
        if (here > 0)
        {
            return experts - 8 * here / (here - before);
        }
        before = here;
    }
    ADD_FAILURE() << "DP-out wins up to 256 experts";
    return 0;
}

double
ParametersPerExpert()
{
    const ModelSpec model = ExpertsOver(100, 8).Job().model;
    return static_cast<double>(model.ExpertParametersOfLayer(0)) / model.experts * model.layers;
}

} // namespace

TEST(StudyPlacement, BytesAreThoseOfTheTwoLaws)
{
    const Scenario scenario = ExpertsOver(100, 64);
    const JobSpec& job = scenario.Job();
    // Both directions: each of 2 T h bytes, and of 4 P.
    EXPECT_EQ(Crossed(scenario, Crossing::Pipeline).crossBuildingBytes.Count(),
              2 * 2ULL * kBatch * kSequence * job.model.hidden);
    // Parts of a rank are rounded up to whole parameters and bytes: a few bytes per unit and rank.
    const double gradients = 2 * 4.0 * static_cast<double>(job.model.TotalParameters());
    EXPECT_NEAR(static_cast<double>(Crossed(scenario, Crossing::Data).crossBuildingBytes.Count()),
                gradients,
                1e-5 * gradients);
}

TEST(StudyPlacement, PipelineOutGainsAsTheNumberOfExpertsGrows)
{
    // 100 Gb/s: the cut takes 2 s, everything else 0.2 s. The bytes decide: 4 P = 2 T h.
    const double activations = 2.0 * kBatch * kSequence * ExpertsOver(100, 8).Job().model.hidden;
    const double without = static_cast<double>(ExpertsOver(100, 8).Job().model.TotalParameters()) -
                           8 * ParametersPerExpert();
    const double equal = (activations / 4 - without) / ParametersPerExpert();
    const double thin = TurningPoint(100);
    RecordProperty("experts_at_the_turn", std::to_string(thin));
    RecordProperty("experts_by_bytes", std::to_string(equal));
    EXPECT_NEAR(thin, equal, 0.1 * equal);
}

TEST(StudyPlacement, FewExpertsCrossByDataWhateverTheCapacity)
{
    // Fewer bytes, and once per iteration beside the backward pass instead of on the pipeline's
    // path.
    for (const double gigabits : {50, 200, 800, 3200, 12800})
    {
        EXPECT_LT(Difference(gigabits, 8), 0) << gigabits;
    }
}

} // namespace scaleacross
