// SPDX-License-Identifier: GPL-2.0-only

// What fast-forward gains over simulating every packet, and how wrong it is: the same runs with the
// engines packet and packet:fast-forward, in turn, three times. Times and factors are of the median
// CPU time; of the same seed all else is the same every time.
//
// Minutes for each; --benchmark_filter=small is the shortest.

#include "core/io/read-study.h"
#include "helper/engine/packet-engine.h"
#include "places.h"

#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <cmath>
#include <ctime>
#include <string>
#include <variant>

namespace scaleacross
{

namespace
{

constexpr std::size_t kRuns = 3;

/// A run that is measured with both engines.
struct Workload
{
    Scenario scenario;
    RunOptions options;
};

/// On two buildings of so many H100, 3 km apart, with half of what their NICs could send between
/// them: messages of real sizes, megabytes long.
Study
TwoBuildings(const std::string& model, uint32_t gpus, const std::string& plan)
{
    return ParseStudy(R"(
study: fast-forward
model: )" + model + R"(
workload:
  sequence: 4096
  global_batch: 64
cluster:
  buildings:
    count: 2
    gpus: )" + std::to_string(gpus) +
                          R"(
    gpus_per_node: 8
    gpu: h100
    fabric:
      rails: true
      spines: 1
  cross:
    distance: 3km
    oversubscription: 2
network:
  qps: 4
  spine_buffer: 512MiB
plan: {)" + plan + R"(, sharding: hsdp, schedule: 1f1b}
engines: [packet]
seed: 1
)",
                      "fast-forward.yaml");
}

/// dp follows: 8 replicas.
Workload
Llama8B(const std::string& crossing)
{
    return {TwoBuildings("llama3-8b", 32, "tp: 2, pp: 4, crossing: " + crossing).scenario, {}};
}

/// The sizes of GPT-13B: 4 replicas of tp 8 and pp 4.
Workload
Llama13B()
{
    return {TwoBuildings("llama2-13b", 64, "tp: 8, pp: 4, crossing: dp").scenario, {}};
}

/// Twice, without a warm-up, on the same 64 GPUs.
Workload
OneCollective(CollectiveOp op, CollectiveGroup group)
{
    Workload workload = Llama8B("dp");
    CollectiveSpec spec;
    spec.op = op;
    spec.group = group;
    spec.bytes = Bytes(256 << 20);
    workload.scenario.Job().collective = spec;
    workload.options.warmup = 0;
    workload.options.iterations = 2;
    return workload;
}

/// Messages too short for anything to be skipped.
Workload
SmallModel()
{
    const std::string file = SourcePath("examples/small-two-buildings/study.yaml");
    return {ReadStudy(file).scenario, {}};
}

/// One engine's report and the median of its CPU times in s.
struct Measured
{
    PacketEngine engine;
    RunReport report;
    std::array<double, kRuns> cpu{};

    void Run(const Workload& workload, std::size_t run)
    {
        const std::clock_t before = std::clock();
        report = std::get<RunReport>(engine.Run(workload.scenario, workload.options));
        cpu.at(run) = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    }

    double MedianCpu() const
    {
        std::array<double, kRuns> sorted = cpu;
        std::sort(sorted.begin(), sorted.end());
        return sorted[kRuns / 2];
    }
};

double
Over(uint64_t a, uint64_t b)
{
    return static_cast<double>(a) / static_cast<double>(b);
}

void
Compare(benchmark::State& state, Workload (*make)())
{
    const Workload workload = make();
    Measured packet{PacketEngine(), {}};
    Measured forward{PacketEngine(PacketEngine::FastForwards::Steady), {}};
    for (auto _ : state)
    {
        for (std::size_t run = 0; run < kRuns; ++run)
        {
            packet.Run(workload, run);
            forward.Run(workload, run);
        }
    }
    const double time = packet.report.iterationTime.S();
    const double forwardTime = forward.report.iterationTime.S();
    const FastForwardReport& skips = *forward.report.fastForward;
    const uint32_t iterations = workload.options.warmup + workload.options.iterations;
    auto& counters = state.counters;
    counters["packet_ms"] = time * 1e3;
    counters["forward_ms"] = forwardTime * 1e3;
    counters["error_%"] = (forwardTime / time - 1) * 100;
    counters["stated_%"] = skips.error * 100;
    counters["packet_cpu_s"] = packet.MedianCpu();
    counters["forward_cpu_s"] = forward.MedianCpu();
    counters["cpu_factor"] = packet.MedianCpu() / forward.MedianCpu();
    counters["packets_factor"] =
        Over(packet.report.network.packetsSent, forward.report.network.packetsSent);
    counters["skipped_%"] = skips.skipped.S() / (forwardTime * iterations) * 100;
}

#define SCALEACROSS_BENCHMARK(name, ...)                                                           \
    BENCHMARK_CAPTURE(Compare, name, [] { return __VA_ARGS__; })                                   \
        ->Iterations(1)                                                                            \
        ->Unit(benchmark::kSecond)

SCALEACROSS_BENCHMARK(llama3_8b_pp, Llama8B("pp"));
SCALEACROSS_BENCHMARK(llama3_8b_dp, Llama8B("dp"));
SCALEACROSS_BENCHMARK(all_reduce_rail,
                      OneCollective(CollectiveOp::AllReduce, CollectiveGroup::Rail));
SCALEACROSS_BENCHMARK(sendrecv_across,
                      OneCollective(CollectiveOp::SendReceive, CollectiveGroup::Across));
SCALEACROSS_BENCHMARK(small, SmallModel());
SCALEACROSS_BENCHMARK(llama2_13b_dp, Llama13B());

} // namespace

} // namespace scaleacross
