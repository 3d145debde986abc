// SPDX-License-Identifier: GPL-2.0-only

// Training iterations of a small model over two buildings, packet by packet: the task graph of a
// plan is replayed by one application per rank. Placement decides what crosses the long span:
// gradients (dp) or activations (pp).

#include "core/spec/plan-fields.h"

#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/simulator.h"
#include "ns3/training-application.h"
#include "ns3/training-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>

using namespace ns3;
using namespace scaleacross;

namespace
{

/// An accelerator of the H100's speeds. Studies name it by its preset (`gpu: h100`), which has the
/// sources; a script can take any figures.
GpuSpec
MakeGpu()
{
    GpuSpec gpu;
    gpu.bf16Peak = FlopRate(989e12);
    gpu.hbmCapacity = Bytes(80'000'000'000);
    gpu.hbmBandwidth = BytesPerSecond(3350e9);
    gpu.scaleUpBandwidth = BytesPerSecond(450e9);
    gpu.scaleUpLatency = Duration::Nanoseconds(1900);
    gpu.nicRate = GigabitsPerSecond(400);
    // What kernels achieve.
    gpu.gemmEfficiency = 0.72;
    gpu.attentionEfficiency = 0.6;
    gpu.hbmEfficiency = 0.8;
    gpu.scaleUpEfficiency = 0.82;
    gpu.kernelGap = Duration::Microseconds(2);
    gpu.gemm.processors = 132;
    gpu.gemm.depth = 16;
    gpu.gemm.tiles = ParseTiles("256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65");
    gpu.collectiveProcessors = 20;
    return gpu;
}

/// Two buildings of two servers with four GPUs each, and a model of 13 million parameters.
Scenario
MakeScenario(uint32_t km)
{
    Scenario scenario;
    for (const char* name : {"north", "south"})
    {
        BuildingSpec building;
        building.name = name;
        building.gpus = 8;
        building.gpusPerNode = 4;
        building.gpu = MakeGpu();
        scenario.cluster.buildings.push_back(building);
    }
    CrossLinkSpec span;
    span.b = 1;
    span.distance = Distance(km);
    span.latency = FibreDelay(span.distance);
    span.capacity = GigabitsPerSecond(800);
    scenario.cluster.crossLinks.push_back(span);

    JobSpec job;
    job.model.name = "tiny";
    job.model.layers = 4;
    job.model.hidden = 512;
    job.model.heads = 8;
    job.model.kvHeads = 8;
    job.model.headDim = 64;
    job.model.denseFfn = 1536;
    job.model.vocabulary = 4096;
    job.workload.sequence = 2048;
    job.workload.globalBatch = 16;
    job.plan.tp = 2;
    job.plan.pp = 2;
    job.plan.dp = 4;
    scenario.jobs.push_back(job);
    return scenario;
}

void
Simulate(Scenario scenario, Crossing crossing, uint32_t iterations)
{
    scenario.Job().plan.crossing = crossing;
    ClusterHelper cluster(scenario);
    TrainingHelper training(scenario);
    training.SetAttribute("Iterations", UintegerValue(iterations));
    training.SetAttribute("Record", BooleanValue(true));
    const ApplicationContainer ranks = training.Install(cluster);
    Simulator::Run();

    const FabricBalance balance = CheckConservation(cluster.GetFabric());
    Duration end;
    for (uint32_t i = 0; i < ranks.GetN(); i++)
    {
        const auto rank = DynamicCast<TrainingApplication>(ranks.Get(i));
        end = std::max(end, rank->GetRecord()->runs.back().end);
    }
    const RankTimes times = DynamicCast<TrainingApplication>(ranks.Get(0))->GetTimes();
    std::printf("%-9s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f   %s\n",
                ToString(crossing).c_str(),
                end.S() * 1e3 / iterations,
                times.compute.S() * 1e3 / iterations,
                times.bubble.S() * 1e3 / iterations,
                times.exposed[static_cast<size_t>(CommClass::Tensor)].S() * 1e3 / iterations,
                times.exposed[static_cast<size_t>(CommClass::Pipeline)].S() * 1e3 / iterations,
                times.exposed[static_cast<size_t>(CommClass::Data)].S() * 1e3 / iterations,
                balance.Text().c_str());
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t km = 30;
    uint32_t iterations = 2;
    CommandLine cmd(__FILE__);
    cmd.AddValue("km", "kilometres of fibre between the buildings", km);
    cmd.AddValue("iterations", "training iterations", iterations);
    cmd.Parse(argc, argv);

    Time::SetResolution(Time::PS);
    std::printf("rank 0, ms per iteration; what crosses %u km:\n", km);
    std::printf(
        "crossing  iteration   compute    bubble        tp        pp        dp   packets\n");
    for (const Crossing& crossing : {Crossing::Data, Crossing::Pipeline})
    {
        Simulate(MakeScenario(km), crossing, iterations);
    }
    return 0;
}
