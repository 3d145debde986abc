// SPDX-License-Identifier: GPL-2.0-only

// Time of the analytical engine on a large cluster, step by step: what a search pays per plan for
// building the work, for its closed form (rung 1) and for its exact evaluation (rung 2).

#include "core/engine/analytical-engine.h"
#include "core/engine/closed-form.h"
#include "core/engine/program-evaluator.h"
#include "core/io/presets.h"
#include "core/work/graph/task-graph-builder.h"

#include <benchmark/benchmark.h>

namespace scaleacross
{

namespace
{

/// Llama 3 405B on 131,072 H100 in two buildings 30 km apart: TP8 PP16 DP1024, 64 microbatches.
Scenario
Large(Schedule schedule, Crossing crossing, Sharding sharding, bool reshard)
{
    Scenario scenario;
    for (uint32_t i = 0; i < 2; i++)
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(i);
        building.gpus = 65536;
        building.gpu = GpuPreset("h100");
        building.fabric.nodesPerPod = 64;
        building.fabric.spines = 64;
        scenario.cluster.buildings.push_back(building);
    }
    CrossLinkSpec link;
    link.b = 1;
    link.latency = Duration::Microseconds(150);
    link.capacity = BitRate(scenario.cluster.buildings.front().NicCapacity().Value() / 2.8);
    scenario.cluster.crossLinks.push_back(link);

    JobSpec job;
    job.model = ModelPreset("llama3-405b");
    job.plan.tp = 8;
    job.plan.pp = 16;
    job.plan.dp = 1024;
    job.plan.crossing = crossing;
    job.plan.sharding = sharding;
    job.plan.reshard = reshard;
    job.plan.schedule = schedule;
    job.plan.chunks = schedule == Schedule("interleaved") ? 4 : 1;
    job.plan.recompute = Recompute("selective");
    job.workload.sequence = 8192;
    job.workload.globalBatch = 64 * 1024;
    scenario.jobs.push_back(job);
    scenario.Validate();
    return scenario;
}

/// Layout, task graph and memory check.
void
Build(benchmark::State& state, const Scenario& scenario)
{
    for (auto _ : state)
    {
        auto run = PrepareRun(scenario);
        benchmark::DoNotOptimize(run);
    }
}

void
Closed(benchmark::State& state, const Scenario& scenario)
{
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const auto facts = std::make_shared<const NetworkFacts>(scenario); // a search has them already

    for (auto _ : state)
    {
        auto form = ClosedFormOf(scenario, run, facts, BoundOf::EveryEngine, [](const ClosedForm&) {
            return true;
        });
        benchmark::DoNotOptimize(form);
    }
}

/// Costs of all transfers and the order of events, without building: one warm-up and one measured
/// iteration.
void
Exact(benchmark::State& state, const Scenario& scenario)
{
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const auto facts = std::make_shared<const NetworkFacts>(scenario); // a search has them already
    for (auto _ : state)
    {
        const NetworkModel network(scenario, run.layout, facts);
        const TransferTimes times = TimesOf(network);
        RunReport report;
        EvaluateProgram(run.graph, times, RunOptions(), report);
        benchmark::DoNotOptimize(report);
        state.counters["iteration_s"] = report.iterationTime.S();
    }
}

void
Whole(benchmark::State& state, const Scenario& scenario)
{
    for (auto _ : state)
    {
        auto result = AnalyticalEngine().Run(scenario, RunOptions());
        benchmark::DoNotOptimize(result);
    }
}

#define SCALEACROSS_BENCHMARK(name, ...)                                                           \
    BENCHMARK_CAPTURE(Build, name, Large(__VA_ARGS__))->Unit(benchmark::kMillisecond);             \
    BENCHMARK_CAPTURE(Closed, name, Large(__VA_ARGS__))->Unit(benchmark::kMillisecond);            \
    BENCHMARK_CAPTURE(Exact, name, Large(__VA_ARGS__))->Unit(benchmark::kMillisecond);             \
    BENCHMARK_CAPTURE(Whole, name, Large(__VA_ARGS__))->Unit(benchmark::kMillisecond)

SCALEACROSS_BENCHMARK(interleaved, "interleaved", Crossing::Data, Sharding("hsdp"), false);
SCALEACROSS_BENCHMARK(fsdp, "interleaved", Crossing::Data, Sharding("fsdp"), false);
SCALEACROSS_BENCHMARK(reshard, "interleaved", Crossing::Data, Sharding("hsdp"), true);
SCALEACROSS_BENCHMARK(pp_out, "interleaved", Crossing::Pipeline, Sharding("hsdp"), false);
SCALEACROSS_BENCHMARK(one_f_one_b, "1f1b", Crossing::Data, Sharding("hsdp"), false);

} // namespace

} // namespace scaleacross
