// SPDX-License-Identifier: GPL-2.0-only

// What the ScaleAcross study (2605.24326) says about schedules, as crossings that can be measured:
// DoraPP, interleaved and ZBV trade computing efficiency against traffic between buildings, so that
// which is best depends on latency and bandwidth between them.
//
// Per microbatch and direction a schedule over two buildings sends one message with one chunk per
// stage, two on a V of two chunks, three on a loop of two chunks: with more chunks the bubble is
// smaller and the traffic larger.

#include "../../pipeline-oracle.h"
#include "core/engine/analytical-engine.h"
#include "core/io/presets.h"
#include "core/work/cost/schedule-times.h"
#include "helper/engine/packet-engine.h"
#include "report-of.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t kRanks = 8;
constexpr uint32_t kMicrobatches = 32;

/// A schedule as a plan names it.
struct Entrant
{
    const char* schedule;
    uint32_t chunks{1};
    uint32_t round{0};
};

constexpr Entrant kOneFOneB{"1f1b"};
constexpr Entrant kZbH1{"zb-h1"};
constexpr Entrant kInterleaved{"interleaved", 2};
constexpr Entrant kDoraPp{"dorapp", 2, 16};
constexpr Entrant kZbv{"zbv", 2};
constexpr Entrant kLatencyAware{"latency-aware"};

/// What is between the two buildings.
struct Between
{
    double kilometres{1};
    double gigabits{1600}; //!< as much as the NICs of a building have together
};

/// 16 dense layers on eight GPUs with a NIC each, four stages in either building.
Scenario
Study(const Entrant& entrant, const Between& between)
{
    Scenario scenario;
    for (const char* name : {"north", "south"})
    {
        BuildingSpec building;
        building.name = name;
        building.gpus = kRanks / 2;
        building.gpusPerNode = 1;
        building.gpu = GpuPreset("h100");
        building.fabric.spines = 1;
        scenario.cluster.buildings.push_back(building);
    }
    CrossLinkSpec span;
    span.b = 1;
    span.distance = Distance(between.kilometres);
    span.latency = FibreDelay(span.distance);
    span.capacity = BitRate(between.gigabits * 1e9);
    scenario.cluster.crossLinks = {span};
    scenario.network.qps = 4;
    scenario.network.spineBuffer = Bytes(uint64_t{1} << 30); // PFC over 400 km
    JobSpec job;
    job.model.name = "dense";
    job.model.layers = 16;
    job.model.hidden = 2048;
    job.model.heads = 16;
    job.model.kvHeads = 16;
    job.model.headDim = 128;
    job.model.denseFfn = 8192;
    job.model.vocabulary = 1024; // next to nothing: all stages compute the same
    job.workload.sequence = 512;
    job.workload.globalBatch = kMicrobatches;
    job.plan.pp = kRanks;
    job.plan.dp = 1;
    job.plan.crossing = Crossing::Pipeline;
    job.plan.sharding = Sharding("ddp");
    job.plan.schedule = Schedule(entrant.schedule);
    job.plan.chunks = entrant.chunks;
    job.plan.round = entrant.round;
    scenario.jobs.push_back(job);
    scenario.Validate();
    return scenario;
}

double
Seconds(const Engine& engine, const Entrant& entrant, const Between& between)
{
    return ReportOf(engine, Study(entrant, between)).iterationTime.S();
}

double
Analytical(const Entrant& entrant, const Between& between)
{
    return Seconds(AnalyticalEngine(), entrant, between);
}

double
MessageBits(const JobSpec& job)
{
    return static_cast<double>(PipelineMessageBytes(job).Count()) * 8;
}

/// The same by the longest path through the orders, without the optimizer, which is the same for
/// all.
double
Oracle(const Entrant& entrant, const Between& between)
{
    const Scenario scenario = Study(entrant, between);
    const JobSpec& job = scenario.Job();
    const PipelineTimes pipeline =
        PipelineTimesOf(scenario, std::get<RankLayout>(LayOut(job.plan, scenario.cluster)));
    OracleTimes times;
    for (const PassTimes& pass : pipeline.passes)
    {
        times.byPosition.push_back(
            {pass.forward.S(), pass.inputGradient.S(), pass.weightGradient.S()});
    }
    // With 82 bytes of headers and a quarter of a 86-byte ACK per packet of 4,096; one leaf, or
    // up to a spine and down again, which is one packet's time more for each of the links.
    const double bits = MessageBits(job) * (4096 + 82 + 86 / 4.0) / 4096;
    const double packet = 4178 * 8 / 400e9;
    const double port = bits / 400e9;
    times.hop = port + 2 * 0.75e-6 + packet;
    // What crosses holds the way instead of the port.
    times.slowTransfer = std::max(port, bits / (between.gigabits * 1e9));
    times.slow = FibreDelay(Distance(between.kilometres)).S() + 2 * 4.5e-6 + 3 * packet - port;
    times.slowRank = kRanks / 2 - 1;
    return EvaluateOrders({entrant.schedule, kRanks, kMicrobatches, entrant.chunks, entrant.round},
                          times)
        ->LongestSpan();
}

/// Where `difference` changes its sign between `low` and `high`, to a thousandth.
double
TurningPoint(double low, double high, const std::function<double(double)>& difference)
{
    const bool sign = difference(low) < 0;
    EXPECT_NE(sign, difference(high) < 0) << "no turn between " << low << " and " << high;
    while (high - low > 1e-3 * high)
    {
        const double middle = (low + high) / 2;
        (sign == (difference(middle) < 0) ? low : high) = middle;
    }
    return (low + high) / 2;
}

using Timer = double (*)(const Entrant&, const Between&);

/// Kilometres between `low` and `high` at which one entrant overtakes the other.
double
TurnOverDistance(Timer time, const Entrant& a, const Entrant& b, double low, double high)
{
    return TurningPoint(low, high, [&](double km) { return time(a, {km}) - time(b, {km}); });
}

/// The same over capacity, in Gb/s.
double
TurnOverCapacity(Timer time, const Entrant& a, const Entrant& b)
{
    return TurningPoint(10, 400, [&](double gigabits) {
        return time(a, {1, gigabits}) - time(b, {1, gigabits});
    });
}

double
Packet(const Entrant& entrant, const Between& between)
{
    return Seconds(PacketEngine(), entrant, between);
}

// What the oracle leaves out: messages to both neighbours that leave a NIC at the same time. One of
// them may take a message's 43 us longer, once at the turn, where times of two schedules diverge by
// 0.1 ms/km: 0.4 km of 46, 1 %.
constexpr double kLeftOut = 0.01;

// On the V's way from one building to the other and back messages of two chunks meet at up to eight
// ports each way, 16 x 43 us, where times diverge by 0.15 ms/km: 4.6 km of 46, 10 %.
constexpr double kShared = 0.10;

} // namespace

TEST(StudySchedules, ZbvIsBestNearbyAndDoraPpFarAway)
{
    // A V holds p microbatches at most, the loop in rounds of 16 more: it has something to do for
    // longer while a message is under way, but a larger bubble to begin with.
    const double turn = TurnOverDistance(Analytical, kZbv, kDoraPp, 1, 150);
    const double oracle = TurnOverDistance(Oracle, kZbv, kDoraPp, 1, 150);
    RecordProperty("kilometres", std::to_string(turn));
    // The loop has slack here: its time does not depend on the distance. The V has none, so that
    // every message of it that shares a port, where it leaves or where it arrives, makes it later
    // and the turn nearer than the oracle's. By how much, packets tell: there a message may also
    // wait for all of another.
    const double packets = TurnOverDistance(Packet, kZbv, kDoraPp, 35, 55);
    RecordProperty("kilometres of packets", std::to_string(packets));
    EXPECT_LE(turn, oracle);
    EXPECT_GE(turn, packets);
    EXPECT_GT(packets, (1 - kShared) * oracle);
    for (const Entrant& other : {kOneFOneB, kZbH1, kInterleaved, kDoraPp})
    {
        EXPECT_LT(Analytical(kZbv, {1}), Analytical(other, {1})) << other.schedule;
    }
    for (const Entrant& other : {kOneFOneB, kZbH1, kInterleaved, kZbv})
    {
        EXPECT_LT(Analytical(kDoraPp, {75}), Analytical(other, {75})) << other.schedule;
    }
    // Packet by packet.
    EXPECT_LT(Packet(kZbv, {turn * 0.8}), Packet(kDoraPp, {turn * 0.8}));
    EXPECT_GT(Packet(kZbv, {turn * 1.25}), Packet(kDoraPp, {turn * 1.25}));
}

TEST(StudySchedules, InterleavedOvertakesZbH1AndFallsBehindAgain)
{
    // Its messages hide behind more passes of other chunks, up to where what is on the way is more
    // than what it holds; from there on it pays for each of its crossings.
    for (const auto& [name, low, high] :
         {std::make_tuple("overtakes", 1, 60), std::make_tuple("falls_behind", 60, 150)})
    {
        const double turn = TurnOverDistance(Analytical, kZbH1, kInterleaved, low, high);
        const double oracle = TurnOverDistance(Oracle, kZbH1, kInterleaved, low, high);
        RecordProperty(name, std::to_string(turn));
        EXPECT_NEAR(turn, oracle, kLeftOut * oracle) << name;
    }
}

TEST(StudySchedules, FewerCrossingsWinOverAThinCut)
{
    // One message per microbatch and direction against two: all of the V's time once the cut is
    // the bottleneck.
    const double turn = TurnOverCapacity(Analytical, kZbH1, kZbv);
    const double oracle = TurnOverCapacity(Oracle, kZbH1, kZbv);
    RecordProperty("gigabits", std::to_string(turn));
    EXPECT_NEAR(turn, oracle, kLeftOut * oracle);
    EXPECT_LT(Packet(kZbH1, {1, turn * 0.8}), Packet(kZbv, {1, turn * 0.8}));
    EXPECT_GT(Packet(kZbH1, {1, turn * 1.25}), Packet(kZbv, {1, turn * 1.25}));
}

TEST(StudySchedules, CrossingsDecideWhereTheCutIsTheBottleneck)
{
    // k messages of every microbatch per direction, one after the other, take m k b / C. One with
    // fewer is done by then.
    constexpr double kGigabits = 10;
    const double bits = MessageBits(Study(kZbH1, {}).Job());
    const auto bound = [&](uint32_t crossings) {
        return kMicrobatches * crossings * bits / (kGigabits * 1e9);
    };
    for (const auto& [entrant, crossings] : {std::make_pair(kOneFOneB, 1U),
                                             std::make_pair(kZbH1, 1U),
                                             std::make_pair(kZbv, 2U),
                                             std::make_pair(kInterleaved, 3U),
                                             std::make_pair(kDoraPp, 3U)})
    {
        const double time = Analytical(entrant, {1, kGigabits});
        EXPECT_GT(time, bound(crossings)) << entrant.schedule;
        EXPECT_LT(time, bound(crossings + 1)) << entrant.schedule;
    }
}

TEST(StudySchedules, LatencyAwareIsBestWhereTheBoundaryTakesTwoStageTimes)
{
    // A delay of twice F + I + W of a stage, two positions of a V or one of a single chunk.
    const Scenario scenario = Study(kZbH1, {});
    const PassTimes stage =
        PipelineTimesOf(scenario,
                        std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster)))
            .passes.at(1);
    const double kilometres = 2 * stage.Total().S() / FibreDelay(Distance(1)).S();
    RecordProperty("kilometres", std::to_string(kilometres));
    const double aware = Analytical(kLatencyAware, {kilometres});
    for (const Entrant& other : {kOneFOneB, kZbH1, kInterleaved, kDoraPp, kZbv})
    {
        EXPECT_LT(aware, Analytical(other, {kilometres})) << other.schedule;
    }
    const double packets = Packet(kLatencyAware, {kilometres});
    EXPECT_LT(packets, Packet(kOneFOneB, {kilometres}));
    EXPECT_LT(packets, Packet(kZbv, {kilometres}));
    // It holds no more than they do: p microbatches.
    const Scenario planned = Study(kLatencyAware, {kilometres});
    const PipelineShape shape =
        PipelineShapeOf(planned, std::get<RankLayout>(LayOut(planned.Job().plan, planned.cluster)));
    for (uint32_t r = 0; r < kRanks; r++)
    {
        EXPECT_LE(PeakInFlight(shape, r), kRanks) << r;
    }
    // From where on, against the best of the others.
    RecordProperty("turn_kilometres",
                   std::to_string(TurnOverDistance(Analytical, kDoraPp, kLatencyAware, 1, 150)));
}

} // namespace scaleacross
