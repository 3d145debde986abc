// SPDX-License-Identifier: GPL-2.0-only

// Time and memory of a large fabric, step by step: its nodes, devices and channels, its routes, and
// taking it down.

#include "../three-stage-clos.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <memory>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// Bytes of this process that are resident now.
double
ResidentBytes()
{
    long pages = 0;
    long resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r"))
    {
        if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
        {
            resident = 0;
        }
        std::fclose(file);
    }
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

struct Run
{
    explicit Run(uint32_t buildings)
    {
        clos.buildings = buildings;
        clos.Build(fabric);
    }

    ~Run()
    {
        ns3::Simulator::Destroy();
    }

    ThreeStageClos clos;
    ns3::FabricHelper fabric;
};

/// 4,096 NICs per building, and of 16,384 in all the figures that the documentation quotes.
void
BuildAndRoute(benchmark::State& state)
{
    const double before = ResidentBytes();
    for (auto _ : state)
    {
        Run run(static_cast<uint32_t>(state.range(0)));
        run.fabric.InstallRoutes();
        state.PauseTiming();
        state.counters["MiB"] = (ResidentBytes() - before) / (1 << 20);
        state.counters["nics"] = run.clos.Nics();
        state.ResumeTiming();
    }
}

void
Build(benchmark::State& state)
{
    for (auto _ : state)
    {
        auto run = std::make_unique<Run>(static_cast<uint32_t>(state.range(0)));
        state.PauseTiming();
        run.reset();
        state.ResumeTiming();
    }
}

void
Route(benchmark::State& state)
{
    Run run(static_cast<uint32_t>(state.range(0)));
    for (auto _ : state)
    {
        run.fabric.InstallRoutes();
    }
}

/// The graph and its tables alone.
void
ComputeTables(benchmark::State& state)
{
    Run run(static_cast<uint32_t>(state.range(0)));
    const auto weights = state.range(1) != 0 ? RouteWeights::Capacity : RouteWeights::Equal;
    for (auto _ : state)
    {
        auto tables = ComputeRoutes(run.fabric.GetSwitchGraph(), weights);
        benchmark::DoNotOptimize(tables);
    }
}

BENCHMARK(BuildAndRoute)->Arg(4)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(Build)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK(Route)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK(ComputeTables)->Args({4, 0})->Args({4, 1})->Unit(benchmark::kMillisecond);

} // namespace

} // namespace scaleacross
