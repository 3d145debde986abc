// SPDX-License-Identifier: GPL-2.0-only

// No engine is faster than the bound of rung 1, the packet engine neither.

#include "../../draws.h"
#include "../collectives/collective-cases.h"
#include "../volumes/volume-plans.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/first-look.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"
#include "core/work/cost/schedule-times.h"
#include "helper/engine/packet-engine.h"

#include <gtest/gtest.h>
#include <random>

namespace scaleacross
{

TEST(Bound, IsBelowThePacketEngine)
{
    double tightest = 0;
    for (const Scenario& scenario : volumes::Plans(30, 32, volumes::DrawAny))
    {
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        const ClosedForm closed = ClosedFormOf(scenario, run);
        const auto result = PacketEngine().Run(scenario, RunOptions());
        const double time = std::get<RunReport>(result).iterationTime.S();
        EXPECT_LE(closed.bound.S(), time) << volumes::TextOf(scenario);
        const LeastPasses passes({scenario.network});
        const auto looked = std::get<ClosedForm>(FirstLook(scenario, PlanDepth::Network, &passes));
        EXPECT_LE(looked.bound.S(), time) << volumes::TextOf(scenario);
        tightest = std::max(tightest, closed.bound.S() / time);
    }
    EXPECT_GT(tightest, 0.9);
}

// Whatever a study can say: what is computed, the bound of every engine, the replay with the
// analytical engine's own costs, and what it says. Both may be far below.
TEST(Bound, OfEveryRungIsBelowTheNext)
{
    size_t tight = 0;
    const auto plans = volumes::Plans(Draws(1500), 64, volumes::DrawAny);
    ASSERT_EQ(plans.size(), Draws(1500));
    for (const Scenario& scenario : plans)
    {
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        // With and without the collectives inside layers.
        const LeastPasses passes({scenario.network});
        const LeastPasses analytical({scenario.network}, BoundOf::Analytical);
        ClosedForm glanced;
        ClosedForm passed;
        ClosedForm alone;
        for (const PlanDepth depth : kPlanDepths)
        {
            const auto above = std::get<ClosedForm>(FirstLook(scenario, depth));
            EXPECT_LE(glanced.bound, above.bound) << volumes::TextOf(scenario);
            EXPECT_LE(glanced.memoryMax, above.memoryMax) << volumes::TextOf(scenario);
            glanced = above;
            const auto with = std::get<ClosedForm>(FirstLook(scenario, depth, &passes));
            EXPECT_LE(passed.bound, with.bound) << volumes::TextOf(scenario);
            EXPECT_LE(above.bound, with.bound) << volumes::TextOf(scenario);
            passed = with;
            const auto own = std::get<ClosedForm>(FirstLook(scenario, depth, &analytical));
            EXPECT_LE(alone.bound, own.bound) << volumes::TextOf(scenario);
            EXPECT_LE(with.bound, own.bound) << volumes::TextOf(scenario);
            alone = own;
        }
        const ClosedForm closed = ClosedFormOf(scenario, run);
        const ClosedForm replayed = ClosedFormOf(scenario, run, BoundOf::Analytical);
        const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
        const std::string text = volumes::TextOf(scenario);
        EXPECT_LE(glanced.bound, closed.bound) << text;
        EXPECT_LE(closed.bound, replayed.bound) << text;
        EXPECT_LE(passed.bound, closed.bound) << text;
        EXPECT_LE(alone.bound, replayed.bound) << text;
        EXPECT_LE(replayed.bound, report.iterationTime) << text;
        EXPECT_EQ(glanced.memoryMax, report.memoryMax) << text;
        EXPECT_EQ(replayed.crossBuildingBytes, report.crossBuildingBytes) << text;
        tight += report.iterationTime.S() < 1.05 * replayed.bound.S() ? 1 : 0;
    }
    EXPECT_GT(tight, plans.size() / 4);
}

// Data parallelism over a span, 8 microbatches of a sequence over four stages. Between the first
// forward and the last backward of the last stage nothing is reduced: eight passes forward and
// backward of its layers and head. Then all four stages reduce what they have, 4 bytes of every
// parameter, by rings of two, which send it once each way (a half to be summed up, and a half that
// is), in packets of 4 KiB with 82 bytes of headers. The chain of any one stage knows of no more
// than its own quarter of that. Besides there is what tensor parallelism adds to the passes.
TEST(Bound, OfReductionsCountsWhatAllStagesSendAndWhatIsBetween)
{
    const Scenario scenario = ParseStudy(R"(
study: window
model: llama3-8b
workload: {sequence: 4096, global_batch: 16}
cluster:
  buildings:
    - {name: east, gpus: 16, gpu: h100}
    - {name: west, gpus: 16, gpu: h100}
  cross: {capacity: 400Gbps, distance: 1km}
network: {collective: ring, mtu: 4096B}
plan: {tp: 4, pp: 4, dp: 2, crossing: dp, sharding: ddp, bucket: 100GB}
)",
                                         "window.yaml")
                                  .scenario;
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const PassTimes last = PassTimesOf(scenario, run.layout).back();
    const double passes = 8 * last.Total().S();
    const double parameters = 8030261248;
    const double reduced = 4 * parameters * (4096 + 82) / 4096 * 8 / 400e9;
    const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
    const double tensor = report.classes[static_cast<size_t>(CommClass::Tensor)].busy.S();
    const Duration bound = ClosedFormOf(scenario, run, BoundOf::Analytical).bound;
    EXPECT_GE(bound.S(), (passes + reduced) * (1 - 2e-6)); // less a millionth
    EXPECT_LT(bound.S(), passes + reduced + tensor);
    EXPECT_LT(bound, report.iterationTime);
    // A first look knows as much.
    const LeastPasses known({scenario.network}, BoundOf::Analytical);
    const auto looked = std::get<ClosedForm>(FirstLook(scenario, PlanDepth::Network, &known));
    EXPECT_GE(looked.bound.S(), (passes + reduced) * (1 - 2e-6));
    EXPECT_LE(looked.bound, bound);
}

// Rings of four over a scarce span: by flows each member goes on when it has received all, though
// what it has sent still waits before the span, so that this is busy while all compute. No bound of
// every engine has what it carries behind what is computed.
TEST(Bound, OfReductionsLeavesASpanToRingsThatGoOn)
{
    for (const std::string sharding : {"ddp", "zero1"})
    {
        const Scenario scenario = ParseStudy(R"(
study: rings
model: llama3-8b
workload: {sequence: 4096, global_batch: 8}
cluster:
  buildings:
    - {name: east, gpus: 16, gpu: h100}
    - {name: west, gpus: 16, gpu: h100}
  cross: {capacity: 50Gbps, distance: 1km}
network: {collective: ring, control: none, pfc: true}
plan: {tp: 4, pp: 2, dp: 4, crossing: dp, bucket: 100GB, sharding: )" +
                                                 sharding + "}\n",
                                             "rings.yaml")
                                      .scenario;
        const auto run = std::get<PreparedRun>(PrepareRun(scenario));
        const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
        const auto flows = std::get<RunReport>(FlowEngine().Run(scenario, RunOptions()));
        EXPECT_LE(ClosedFormOf(scenario, run).bound, flows.iterationTime) << sharding;
        EXPECT_LE(ClosedFormOf(scenario, run, BoundOf::Analytical).bound, report.iterationTime);
    }
}

// Eight blocks of a server, 3, 3 and 2 of them in far buildings, and four stages of two blocks over
// which experts go: of these stages the second alone lies in two buildings. The third, in the
// building in which the second ends, waits for no span.
TEST(Bound, OfAFirstLookTakesALayerWhereItsStageLies)
{
    const Scenario scenario = ParseStudy(R"(
study: astride
model: mixtral-8x7b
workload: {sequence: 4096, global_batch: 8}
cluster:
  buildings:
    - {name: north, gpus: 24, gpu: h100}
    - {name: south, gpus: 24, gpu: h100}
    - {name: west, gpus: 16, gpu: h100}
  cross: {capacity: 3.2Tbps, distance: 3000km}
plan: {tp: 8, pp: 4, dp: 2, ep: 2, crossing: tp-cp-dp-ep-pp, sharding: zero1, recompute: full}
)",
                                         "astride.yaml")
                                  .scenario;
    const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
    const LeastPasses passes({scenario.network}, BoundOf::Analytical);
    for (const PlanDepth depth : kPlanDepths)
    {
        const auto looked = std::get<ClosedForm>(FirstLook(scenario, depth, &passes));
        EXPECT_LE(looked.bound, report.iterationTime);
    }
}

// Experts over two buildings: what their all-to-alls send over the span is known at a first look,
// as soon as the layout is, whatever the schedule; and what gathers and reductions do, as soon as
// it is known how parameters are sharded.
TEST(Bound, OfAFirstLookCountsWhatExpertsSendOverSpans)
{
    const Scenario scenario = ParseStudy(R"(
study: experts
model: mixtral-8x7b
workload: {sequence: 4096, global_batch: 32}
cluster:
  buildings:
    - {name: east, gpus: 16, gpu: h100}
    - {name: west, gpus: 16, gpu: h100}
  cross: {capacity: 100Gbps, distance: 1km}
plan: {tp: 1, pp: 4, dp: 8, ep: 8, crossing: ep, sharding: zero1}
)",
                                         "experts.yaml")
                                  .scenario;
    const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
    // Half of it each way.
    const auto secondsOf = [&report](CommClass comm) {
        const Bytes crosses = report.classes[static_cast<size_t>(comm)].crossBytes;
        return static_cast<double>(crosses.Count()) / 2 * 8 / 100e9;
    };
    const LeastPasses passes({scenario.network});
    for (const PlanDepth depth : kPlanDepths)
    {
        const auto looked = std::get<ClosedForm>(FirstLook(scenario, depth, &passes));
        if (depth >= PlanDepth::Order)
        {
            const double seconds = secondsOf(CommClass::Expert) +
                                   (depth >= PlanDepth::Shards ? secondsOf(CommClass::Data) : 0);
            EXPECT_GE(looked.bound.S(), seconds);
            // 82 bytes of headers; the last packets of messages are not full.
            EXPECT_LE(looked.bound.S(), 1.001 * (4096 + 82) / 4096 * seconds);
        }
        EXPECT_LE(looked.bound, report.iterationTime);
    }
}

// What is reduced after every microbatch is known at a first look as soon as it is known how
// parameters are sharded. The whole model is one unit, which is gathered once and is there from
// then on. Four microbatches reduce 4 bytes of each of the 6.98 billion parameters of its layers,
// an eighth of them on a rank, over four servers: three quarters by a NIC of 100 Gb/s, 0.84 s in
// all, where passes compute 0.3 s.
TEST(Bound, OfAFirstLookCountsWhatIsReducedAfterEveryMicrobatch)
{
    const Scenario scenario = ParseStudy(R"(
study: reductions
model: llama3-8b
workload: {sequence: 4096, global_batch: 16}
cluster:
  buildings:
    - {name: one, gpus: 32, gpu: h100, nic_rate: 100Gbps}
plan: {tp: 8, pp: 1, dp: 4, sharding: fsdp, reshard: true, bucket: 100GB}
)",
                                         "reductions.yaml")
                                  .scenario;
    const double layers = 32 * (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336);
    const double seconds = 4 * (4 * layers / 8) * 3 / 4 * 8 / 100e9;
    EXPECT_NEAR(seconds, 0.84, 0.005);
    const auto report = std::get<RunReport>(AnalyticalEngine().Run(scenario, RunOptions()));
    const LeastPasses passes({scenario.network});
    const auto looked = [&](PlanDepth depth) {
        return std::get<ClosedForm>(FirstLook(scenario, depth, &passes)).bound;
    };
    EXPECT_LT(looked(PlanDepth::Kernels).S(), 0.6 * seconds);
    EXPECT_GE(looked(PlanDepth::Shards).S(), seconds);
    EXPECT_LE(looked(PlanDepth::Shards), report.iterationTime);
}

// Passes that overlap, with experts over all servers of a building: a first look has the bodies of
// both together, as the programs have them, which is more than what they compute and less than one
// after the other.
TEST(Bound, OfAFirstLookCountsWhatOverlappedPassesWaitFor)
{
    const Scenario scenario = ParseStudy(R"(
study: pairs
model: mixtral-8x7b
workload: {sequence: 4096, global_batch: 128}
cluster:
  buildings:
    - {name: one, gpus: 32, gpu: h100}
plan: {tp: 1, pp: 4, dp: 8, ep: 8, sharding: ddp, schedule: dualpipev, chunks: 2}
)",
                                         "pairs.yaml")
                                  .scenario;
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const auto computed = std::get<ClosedForm>(FirstLook(scenario));
    for (const BoundOf engine : {BoundOf::EveryEngine, BoundOf::Analytical})
    {
        const LeastPasses passes({scenario.network}, engine);
        const auto looked = std::get<ClosedForm>(FirstLook(scenario, PlanDepth::Network, &passes));
        const Duration closed = ClosedFormOf(scenario, run, engine).bound;
        EXPECT_LT(computed.bound.S(), 0.95 * closed.S());
        EXPECT_GT(looked.bound.S(), 0.99 * closed.S());
        EXPECT_LE(looked.bound, closed);
    }
}

TEST(Bound, CountsLaunches)
{
    // A gather of S by NCCL's ring and its Simple protocol over the four GPUs of a server: 8.4 us
    // by NCCL's table before the first step, then three parts of S/4 over the links. The engine
    // adds three steps; the bound is less by a millionth.
    constexpr double s = 1 << 20;
    Scenario scenario = With(PlainCluster(1),
                             CollectiveOp::AllGather,
                             CollectiveGroup::Node,
                             static_cast<uint64_t>(s),
                             CollectiveAlgorithm("nccl"));
    scenario.cluster = volumes::Buildings(1, 4);
    scenario.network.ncclAlgorithm = "ring";
    scenario.network.ncclProtocol = "simple";
    const GpuSpec& gpu = scenario.cluster.buildings[0].gpu;
    const double links = gpu.scaleUpBandwidth.Value() / 8 * gpu.scaleUpEfficiency;
    const double expected = 8.4e-6 + 0.75 * s / links;
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    EXPECT_NEAR(ClosedFormOf(scenario, run).bound.S(), expected, 2e-6 * expected);
    const auto result = AnalyticalEngine().Run(scenario, RunOptions());
    EXPECT_GE(std::get<RunReport>(result).iterationTime.S(), expected);
}

TEST(Bound, OfChunksCountsTheirBytesAndNotThoseOfTheLargest)
{
    // S in 4,096 chunks, 13 of 1,026 and the others of 1,025 bytes, all-reduced by pairs. Over the
    // span goes, each way, the half that the one reduces and the half that the other has reduced:
    // S. In packets of 512 bytes halves of 513 are two packets, those of 512 one: 3 a chunk, and 4
    // of the 13 larger ones; two a chunk at least. Four pairs; a byte more in each chunk would be
    // 4,083 of them.
    constexpr uint64_t chunks = 4096;
    constexpr uint64_t size = chunks * 1025 + 13;
    Scenario scenario =
        With(PlainCluster(2), CollectiveOp::AllReduce, CollectiveGroup::Across, size);
    scenario.network.collectiveChunk = Bytes(1000);
    scenario.network.mtu = Bytes(512);
    const uint64_t headers = scenario.network.Format().DataHeaders().Count();
    const auto result = AnalyticalEngine().Run(scenario, RunOptions());
    uint32_t spans = 0;
    for (const ResourceReport& resource : std::get<RunReport>(result).resources)
    {
        if (resource.name.find(" to ") != std::string::npos)
        {
            spans++;
            EXPECT_GE(resource.bytes, Bytes(4 * (size + 2 * chunks * headers)));
            EXPECT_LE(resource.bytes, Bytes(4 * (size + (3 * chunks + 13) * headers)));
        }
    }
    EXPECT_EQ(spans, 2U);
}

} // namespace scaleacross
