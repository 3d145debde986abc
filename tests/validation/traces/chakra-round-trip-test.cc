// SPDX-License-Identifier: GPL-2.0-only

// What is written as traces of Chakra and read back is the same work: the same bytes of files when
// it is written again, and the same result of every engine.

#include "../../temporary-folder.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/chakra/chakra-files.h"
#include "core/io/chakra/chakra-writer.h"
#include "core/io/chakra/read-traces.h"
#include "core/io/read-study.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/graph/trace-graph.h"
#include "helper/engine/packet-engine.h"
#include "places.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

constexpr uint32_t kGpus = 64;
constexpr uint32_t kPerServer = 8;

/// The servers of each building: one at least, the rest by size.
std::vector<uint32_t>
ServersOf(const ClusterSpec& cluster)
{
    std::vector<uint32_t> servers(cluster.buildings.size(), 1);
    for (uint32_t left = kGpus / kPerServer - servers.size(); left > 0; left--)
    {
        // To the building that has the fewest of its due.
        size_t poorest = 0;
        const auto due = [&](size_t i) {
            return servers[i] / static_cast<double>(cluster.buildings[i].gpus);
        };
        for (size_t i = 1; i < servers.size(); i++)
        {
            poorest = due(i) < due(poorest) ? i : poorest;
        }
        servers[poorest]++;
    }
    return servers;
}

/// Degrees of the study's plan, or the next smaller ones that fit 64 GPUs.
bool
TakeFittingPlan(Scenario& scenario)
{
    const ParallelPlan whole = scenario.Job().plan;
    for (const uint32_t chunks : {std::min(whole.chunks, 2U), 1U})
    {
        for (const uint32_t pp : {4U, 2U, 1U})
        {
            for (const uint32_t cp : {std::min(whole.cp, 2U), 1U})
            {
                for (uint32_t tp = whole.tp; tp > 0; tp /= 2)
                {
                    for (uint32_t ep = std::min(whole.ep, kGpus / (pp * cp * tp)); ep > 0; ep /= 2)
                    {
                        ParallelPlan plan = whole;
                        plan.tp = tp;
                        plan.cp = cp;
                        plan.pp = pp;
                        plan.ep = ep;
                        plan.chunks = pp == 1 ? 1 : chunks;
                        plan.schedule = plan.chunks == 1 ? Schedule("1f1b") : whole.schedule;
                        plan.dp = kGpus / (tp * cp * pp);
                        scenario.Job().plan = plan;
                        scenario.Job().workload.globalBatch = plan.dp * plan.microbatch * 2 * pp;
                        if (!scenario.FindConflict() &&
                            std::holds_alternative<PreparedRun>(PrepareRun(scenario)))
                        {
                            return true;
                        }
                    }
                }
            }
        }
    }
    return false;
}

/// A shipped study on 64 GPUs, in its own buildings.
Scenario
AtSixtyFour(const std::string& file)
{
    Scenario scenario = ReadStudy(SourcePath("examples/") + file).scenario;
    // Of spans, their lanes and what switches buffer for them as much is left as of GPUs.
    for (CrossLinkSpec& link : scenario.cluster.crossLinks)
    {
        link.capacity = BitRate(link.capacity.Value() * kGpus / scenario.cluster.Gpus());
        link.lanes = std::clamp(link.lanes * kGpus / scenario.cluster.Gpus(), 1U, link.lanes);
    }
    const std::vector<uint32_t> servers = ServersOf(scenario.cluster);
    for (size_t i = 0; i < servers.size(); i++)
    {
        BuildingSpec& building = scenario.cluster.buildings[i];
        building.gpus = servers[i] * kPerServer;
        building.fabric.nodesPerPod = 0;
        building.fabric.podsPerZone = 0;
        building.fabric.aggregations = 0;
        building.fabric.zoneOversubscription = 1;
        building.fabric.spines = std::min(building.fabric.spines, 4U);
    }
    scenario.Job().workload.memoryLimit = false;
    EXPECT_TRUE(TakeFittingPlan(scenario)) << file;
    scenario.Validate();
    return scenario;
}

/// The same with a model of a few layers so small that every packet can be simulated.
Scenario
WithSmallModel(Scenario scenario)
{
    ModelSpec& model = scenario.Job().model;
    const ParallelPlan& plan = scenario.Job().plan;
    model.layers = plan.pp * plan.chunks * std::max(model.moeEvery, 1U);
    model.hidden = 256;
    model.heads = 16;
    model.kvHeads = 8;
    model.headDim = 16;
    model.denseFfn = model.denseFfn > 0 ? 512 : 0;
    model.expertFfn = model.experts > 0 ? 128 : 0;
    model.sharedFfn = model.sharedFfn > 0 ? 128 : 0;
    model.vocabulary = 2048;
    model.queryRank = model.kvRank = model.ropeDim = model.valueDim = 0;
    model.leadingDense = model.mtpLayers = 0;
    model.window = model.fullAttentionEvery = 0;
    scenario.Job().workload.sequence = 512;
    scenario.Job().workload.globalBatch = plan.dp * plan.microbatch * plan.pp;
    EXPECT_TRUE(std::holds_alternative<PreparedRun>(PrepareRun(scenario)));
    return scenario;
}

/// The same with all experts on every rank, so that no tokens go between them.
Scenario
WithoutRouting(Scenario scenario)
{
    scenario.Job().plan.ep = 1;
    EXPECT_TRUE(std::holds_alternative<PreparedRun>(PrepareRun(scenario)));
    return scenario;
}

/// Files of a scenario's ranks, by rank, and the process groups.
std::vector<std::string>
TracesOf(const Scenario& scenario)
{
    const auto run = std::get<PreparedRun>(PrepareRun(scenario));
    const ChakraWriter writer(run);
    std::vector<std::string> texts;
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        texts.push_back(writer.Trace(rank));
    }
    texts.push_back(writer.Groups().Json());
    return texts;
}

/// The scenario with traces in place of its work.
Scenario
Replay(const Scenario& scenario,
       const std::vector<std::string>& texts,
       const TemporaryFolder& folder,
       bool lowers = false)
{
    TraceSpec trace;
    trace.files = folder.Of("step");
    trace.lowers = lowers;
    for (Rank rank = 0; rank + 1 < texts.size(); rank++)
    {
        folder.Write(ChakraFile("step", rank), texts[rank]);
    }
    folder.Write(ChakraGroupsFile("step"), texts.back());
    ReadTraces(trace);
    Scenario replay = scenario;
    replay.Job() = JobSpec();
    replay.Job().plan = trace.work->plan;
    replay.Job().trace = trace;
    return replay;
}

Bytes
BytesOf(const RunReport& report)
{
    Bytes all;
    for (const ClassReport& comm : report.classes)
    {
        all += comm.bytes;
    }
    return all;
}

RunReport
ReportOf(const Engine& engine, const Scenario& scenario)
{
    const RunResult result = engine.Run(scenario, {});
    if (const auto* no = std::get_if<Infeasible>(&result))
    {
        ADD_FAILURE() << no->reason << ": " << no->detail;
        return {};
    }
    return std::get<RunReport>(result);
}

void
ExpectSameResult(const Engine& engine, const Scenario& scenario, const Scenario& replay)
{
    const RunReport whole = ReportOf(engine, scenario);
    const RunReport again = ReportOf(engine, replay);
    EXPECT_EQ(again.iterationTime, whole.iterationTime) << engine.Name();
    EXPECT_EQ(again.computeTime, whole.computeTime) << engine.Name();
    EXPECT_EQ(again.bubble, whole.bubble) << engine.Name();
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        EXPECT_EQ(again.classes[k].bytes, whole.classes[k].bytes) << engine.Name();
        EXPECT_EQ(again.classes[k].crossBytes, whole.classes[k].crossBytes) << engine.Name();
        EXPECT_EQ(again.classes[k].exposed, whole.classes[k].exposed) << engine.Name();
    }
    ASSERT_EQ(again.resources.size(), whole.resources.size()) << engine.Name();
    for (size_t i = 0; i < whole.resources.size(); i++)
    {
        EXPECT_EQ(again.resources[i].name, whole.resources[i].name) << engine.Name();
        EXPECT_EQ(again.resources[i].bytes, whole.resources[i].bytes)
            << engine.Name() << " " << whole.resources[i].name;
    }
}

/// When the last rank is through with one iteration, from idle GPUs and links.
Duration
EndOfOneIteration(const Scenario& scenario)
{
    auto run = std::get<PreparedRun>(PrepareRun(scenario));
    run.graph.once = true;
    run.trains = false;
    RunOptions options;
    options.timeline = Timelines::OfClasses;
    NetworkFactsCache facts;
    const RunReport report = RunAnalytically(scenario, run, options, facts.Of(scenario));
    Duration end;
    for (const RankTimeline& rank : report.timeline->ranks)
    {
        end = std::max(end, rank.end);
    }
    return end;
}

class ChakraRoundTrip : public testing::TestWithParam<const char*>
{
};

TEST_P(ChakraRoundTrip, FilesAreTheSameToTheByte)
{
    const Scenario scenario = AtSixtyFour(GetParam());
    const TemporaryFolder folder;
    const auto texts = TracesOf(scenario);
    const Scenario replay = Replay(scenario, texts, folder);
    EXPECT_TRUE(TracesOf(replay) == texts);
    ExpectSameResult(AnalyticalEngine(), scenario, replay);
    ExpectSameResult(FlowEngine(Collisions::Expected), scenario, replay);
}

TEST_P(ChakraRoundTrip, AllEnginesSendTheSame)
{
    const Scenario scenario = WithSmallModel(AtSixtyFour(GetParam()));
    const TemporaryFolder folder;
    const auto texts = TracesOf(scenario);
    const Scenario replay = Replay(scenario, texts, folder);
    EXPECT_TRUE(TracesOf(replay) == texts);
    ExpectSameResult(AnalyticalEngine(), scenario, replay);
    ExpectSameResult(FlowEngine(Collisions::Expected), scenario, replay);
    ExpectSameResult(PacketEngine(), scenario, replay);
}

/// Without our attributes the same bytes go between ranks, where every operation is one that Chakra
/// has (tokens to experts are an all-to-all of other messages) and n divides the buffers of
/// all-gathers, of which the format has the n-th part.
TEST_P(ChakraRoundTrip, WithoutOurAttributesAsManyBytesAreSent)
{
    const Scenario scenario = WithoutRouting(WithSmallModel(AtSixtyFour(GetParam())));
    const TemporaryFolder folder;
    const Scenario replay = Replay(scenario, TracesOf(scenario), folder, true);
    const RunReport whole = ReportOf(AnalyticalEngine(), scenario);
    for (const RunReport& again : {ReportOf(AnalyticalEngine(), replay),
                                   ReportOf(FlowEngine(Collisions::Expected), replay),
                                   ReportOf(PacketEngine(), replay)})
    {
        Bytes all;
        Bytes cross;
        Bytes allAgain;
        Bytes crossAgain;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            all += whole.classes[k].bytes;
            cross += whole.classes[k].crossBytes;
            allAgain += again.classes[k].bytes;
            crossAgain += again.classes[k].crossBytes;
        }
        EXPECT_EQ(allAgain, all);
        // A plan has its norm of gradients by halving and doubling, whatever the network says: some
        // of the few bytes of that cross in another building.
        EXPECT_NEAR(static_cast<double>(crossAgain.Count()),
                    static_cast<double>(cross.Count()),
                    1e-5 * static_cast<double>(cross.Count()));
        EXPECT_EQ(again.iterations, 1U);
        EXPECT_GE(again.iterationTime, whole.computeTime);
    }
}

/// And they take as long as one iteration of the plan: programs that are put together from nodes
/// lose next to nothing. But a rank that sends what it has received stops for it, so that the rings
/// of context parallelism, which are sends and receives then, are not hidden. And what the plan has
/// on one stream for two families, the parameters of experts and all others, goes side by side.
TEST_P(ChakraRoundTrip, WithoutOurAttributesAnIterationTakesAsLong)
{
    const Scenario scenario = WithoutRouting(WithSmallModel(AtSixtyFour(GetParam())));
    const TemporaryFolder folder;
    const Scenario replay = Replay(scenario, TracesOf(scenario), folder, true);
    const double ratio =
        ReportOf(AnalyticalEngine(), replay).iterationTime.S() / EndOfOneIteration(scenario).S();
    EXPECT_GE(ratio, scenario.Job().model.IsMoe() ? 0.998 : 0.999);
    EXPECT_LE(ratio, scenario.Job().plan.cp == 1 ? 1.001 : 1.15);
}

/// What a plan and the network may say of collectives and passes, drawn from their registries;
/// none: such a plan cannot run.
std::optional<Scenario>
Draw(std::mt19937& random)
{
    const auto one = [&random](const auto& rows) {
        return rows[std::uniform_int_distribution<size_t>(0, rows.size() - 1)(random)];
    };
    const auto coin = [&random] { return random() % 2 == 0; };
    Scenario scenario = WithSmallModel(AtSixtyFour("small-two-buildings/study.yaml"));
    ParallelPlan& plan = scenario.Job().plan;
    plan.tp = one(std::vector<uint32_t>{1, 2, 8});
    plan.cp = one(std::vector<uint32_t>{1, 1, 2});
    plan.pp = one(std::vector<uint32_t>{1, 2, 4});
    plan.dp = kGpus / (plan.tp * plan.cp * plan.pp);
    plan.schedule = *one(Schedule::Rows());
    plan.chunks = std::clamp(coin() ? 2U : 1U,
                             plan.schedule->Facts().chunks.least,
                             plan.schedule->Facts().chunks.most);
    plan.reduce = coin() ? std::optional<Reduction>() : Reduction(*one(Reduction::Rows()));
    plan.sharding = *one(Sharding::Rows());
    plan.reshard = coin();
    scenario.network.collective = *one(CollectiveAlgorithm::Rows());
    scenario.network.collectiveChunk = coin() ? Bytes() : Bytes(64 << 10);
    scenario.network.channels = coin() ? 1 : 4;
    scenario.Job().model.layers = 8;
    scenario.Job().workload.globalBatch = plan.dp * plan.microbatch * 2 * plan.pp;
    if (scenario.FindConflict() || !std::holds_alternative<PreparedRun>(PrepareRun(scenario)))
    {
        return std::nullopt;
    }
    return scenario;
}

/// Of any such plan the traces are the same work, and without our attributes they move the same
/// bytes in the time of one iteration. Context parallelism by rings is left to the test above.
TEST(ChakraDraws, AreTheSameWorkWhateverThePlanSays)
{
    std::mt19937 random(20261128);
    for (uint32_t drawn = 0; drawn < 60;)
    {
        const auto scenario = Draw(random);
        if (!scenario)
        {
            continue;
        }
        SCOPED_TRACE(Label({scenario->Job().plan, scenario->network}));
        drawn++;
        const TemporaryFolder folder;
        const auto texts = TracesOf(*scenario);
        const Scenario own = Replay(*scenario, texts, folder);
        EXPECT_TRUE(TracesOf(own) == texts);
        ExpectSameResult(AnalyticalEngine(), *scenario, own);
        const Scenario lowered = Replay(*scenario, texts, folder, true);
        const RunReport whole = ReportOf(AnalyticalEngine(), *scenario);
        const RunReport again = ReportOf(AnalyticalEngine(), lowered);
        EXPECT_EQ(BytesOf(again), BytesOf(whole));
        EXPECT_NEAR(again.iterationTime.S() / EndOfOneIteration(*scenario).S(), 1, 0.002);
        // What a rank does at any time is computing, bubble or exposed.
        EXPECT_NEAR((again.computeTime + again.bubble + again.exposedComm).S(),
                    again.iterationTime.S(),
                    1e-9 * again.iterationTime.S());
    }
}

/// Two plans of the same collectives, of which one computes slower: files of a whole class of ranks
/// of one among the other's are noticed.
TEST(ChakraDraws, TracesOfTwoPlansAreNotMixed)
{
    const Scenario fast = WithSmallModel(AtSixtyFour("small-two-buildings/study.yaml"));
    Scenario slow = fast;
    for (BuildingSpec& building : slow.cluster.buildings)
    {
        building.gpu.gemmEfficiency /= 2;
    }
    std::vector<std::string> texts = TracesOf(fast);
    const std::vector<std::string> others = TracesOf(slow);
    const auto graph = std::get<PreparedRun>(PrepareRun(fast)).graph;
    ASSERT_GT(graph.classes.size(), 1U);
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        texts[rank] = graph.ClassOf(rank) == 1 ? others[rank] : texts[rank];
    }
    const TemporaryFolder folder;
    try
    {
        Replay(fast, texts, folder);
        FAIL() << "nothing is refused";
    }
    catch (const ConfigError& error)
    {
        EXPECT_NE(std::string(error.what()).find("it is of another plan than"), std::string::npos)
            << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(Examples,
                         ChakraRoundTrip,
                         testing::Values("gpt3-175b-one-building/study.yaml",
                                         "llama3-405b-two-buildings/study.yaml",
                                         "llama3-405b-three-unequal-buildings/study.yaml",
                                         "llama3-405b-five-buildings/study.yaml",
                                         "llama4-maverick-two-buildings/study.yaml",
                                         "multipath-two-buildings/study.yaml",
                                         "small-two-buildings/study.yaml",
                                         "design-points/llama3-405b.yaml",
                                         "design-points/llama4-maverick.yaml",
                                         "design-points/moe-512.yaml"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace_if(
                                 name.begin(),
                                 name.end(),
                                 [](char c) { return std::isalnum(c) == 0; },
                                 '_');
                             return name;
                         });

/// The list above has every study that is shipped.
TEST(ChakraRoundTripExamples, EveryStudyIsTried)
{
    size_t studies = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourcePath("examples")))
    {
        studies += entry.path().extension() == ".yaml" ? 1 : 0;
    }
    EXPECT_EQ(studies, 10U);
}

} // namespace
} // namespace scaleacross
