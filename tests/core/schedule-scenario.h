// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_SCHEDULE_SCENARIO_H
#define SCALEACROSS_TESTS_SCHEDULE_SCENARIO_H

#include "core/io/presets.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// Buildings of `gpus` each, in nodes of `gpusPerNode`, every pair joined.
inline ClusterSpec
BuildingsOf(const std::vector<uint32_t>& gpus, uint32_t gpusPerNode = 8)
{
    ClusterSpec cluster;
    for (size_t i = 0; i < gpus.size(); i++)
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(i);
        building.gpus = gpus[i];
        building.gpusPerNode = gpusPerNode;
        building.gpu = GpuPreset("h100");
        building.fabric.nicDelay = Duration::Nanoseconds(500);
        building.fabric.leafDelay = Duration::Microseconds(1);
        for (uint32_t other = 0; other < i; other++)
        {
            CrossLinkSpec link;
            link.a = other;
            link.b = static_cast<uint32_t>(i);
            link.latency = Duration::Microseconds(50);
            link.capacity = GigabitsPerSecond(1000);
            cluster.crossLinks.push_back(link);
        }
        cluster.buildings.push_back(building);
    }
    return cluster;
}

/// A small dense model whose dimensions divide by 8.
inline ModelSpec
SmallModel()
{
    ModelSpec model;
    model.name = "small";
    model.layers = 8;
    model.hidden = 512;
    model.heads = 8;
    model.kvHeads = 8;
    model.headDim = 64;
    model.denseFfn = 2048;
    model.vocabulary = 4096;
    return model;
}

/// The same with eight experts in every second layer, two per token, and a shared one.
inline ModelSpec
SmallMoe()
{
    ModelSpec model = SmallModel();
    model.name = "small-moe";
    model.experts = 8;
    model.topK = 2;
    model.expertFfn = 1024;
    model.sharedFfn = 1024;
    model.moeEvery = 2;
    return model;
}

/// A job of m microbatches per replica.
inline Scenario
ScenarioOf(const ClusterSpec& cluster, const ModelSpec& model, ParallelPlan plan, uint32_t m)
{
    Scenario scenario;
    scenario.cluster = cluster;
    JobSpec job;
    job.model = model;
    job.plan = plan;
    job.workload.sequence = 1024;
    job.workload.globalBatch = plan.dp * plan.microbatch * m;
    scenario.jobs.push_back(job);
    return scenario;
}

/// The layout, or an abort with the reason there is none.
inline RankLayout
LayoutOf(const Scenario& scenario)
{
    auto layout = LayOut(scenario.Job().plan, scenario.cluster);
    if (const auto* bad = std::get_if<Infeasible>(&layout))
    {
        SCALEACROSS_INVARIANT(false, bad->reason + ": " + bad->detail);
    }
    return std::get<RankLayout>(layout);
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_SCHEDULE_SCENARIO_H
