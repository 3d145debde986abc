// SPDX-License-Identifier: GPL-2.0-only

// Time to lay out a plan, to check its memory and to build its task graph: what a search pays per
// plan.

#include "core/io/presets.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/memory/memory.h"

#include <benchmark/benchmark.h>

namespace scaleacross
{

namespace
{

/// 131,072 GPUs in four buildings, PP16, 64 microbatches, four chunks where they are interleaved.
Scenario
Large(const char* model, uint32_t ep, Schedule schedule, bool reshard)
{
    Scenario scenario;
    for (uint32_t i = 0; i < 4; i++)
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(i);
        building.gpus = 32768;
        building.gpu = GpuPreset("h100");
        scenario.cluster.buildings.push_back(building);
    }
    JobSpec job;
    job.model = ModelPreset(model);
    if (job.model.layers < 64)
    {
        job.model.layers = 128; // deep enough for 64 virtual stages
    }
    job.plan.tp = 8;
    job.plan.ep = ep;
    job.plan.pp = 16;
    job.plan.dp = 1024;
    job.plan.schedule = schedule;
    job.plan.chunks = schedule == Schedule("interleaved") ? 4 : 1;
    job.plan.reshard = reshard;
    job.workload.sequence = 8192;
    job.workload.globalBatch = 64 * 1024;
    scenario.jobs.push_back(job);
    return scenario;
}

void
Build(benchmark::State& state, const Scenario& scenario)
{
    for (auto _ : state)
    {
        const auto layout = LayOut(scenario.Job().plan, scenario.cluster);
        auto graph = BuildTaskGraph(scenario, std::get<RankLayout>(layout));
        benchmark::DoNotOptimize(graph);
        state.counters["bodies"] = static_cast<double>(std::get<TaskGraph>(graph).bodies.size());
        state.counters["collectives"] =
            static_cast<double>(std::get<TaskGraph>(graph).collectives.size());
    }
}

void
Memory(benchmark::State& state, const Scenario& scenario)
{
    const auto layout = std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
    for (auto _ : state)
    {
        auto result = CheckMemory(scenario, layout);
        benchmark::DoNotOptimize(result);
    }
}

BENCHMARK_CAPTURE(Build, dense_1f1b, Large("llama3-405b", 1, "1f1b", false));
BENCHMARK_CAPTURE(Build, dense_interleaved, Large("llama3-405b", 1, "interleaved", false));
BENCHMARK_CAPTURE(Build, dense_reshard, Large("llama3-405b", 1, "interleaved", true));
BENCHMARK_CAPTURE(Build, moe_interleaved, Large("llama4-maverick", 64, "interleaved", false));
BENCHMARK_CAPTURE(Build, moe_reshard, Large("llama4-maverick", 64, "interleaved", true));
BENCHMARK_CAPTURE(Memory, dense_interleaved, Large("llama3-405b", 1, "interleaved", false));

} // namespace

} // namespace scaleacross
