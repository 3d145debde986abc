// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/corrected-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/read-study.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{
namespace
{

using testing::HasSubstr;

const OperationKind kRing{CommClass::Data, "all_gather", "ring", "", Tier::Cross, "", ""};

TEST(Corrections, LieBetweenWhatIsKnown)
{
    const Corrections known({{kRing, {4}, Bytes(1 << 20), {1.0, 0.9, 1.1}},
                             {kRing, {4}, Bytes(4 << 20), {1.21, 1.21, 1.21}}});
    // At a row its own, half way (an octave from both) the geometric mean: sqrt(1.21) = 1.1.
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(1 << 20))->value, 1.0, 1e-9);
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(1 << 20))->low, 0.9, 1e-9);
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(4 << 20))->value, 1.21, 1e-9);
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(2 << 20))->value, 1.1, 1e-9);
    // The interval is 0.03 wider on both sides, an octave from what is known.
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(2 << 20))->low,
                std::sqrt(0.9 * 1.21) * std::exp(-0.03),
                1e-9);
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(2 << 20))->high,
                std::sqrt(1.1 * 1.21) * std::exp(0.03),
                1e-9);
    // 16 MiB is 4 octaves, beyond reach, from the one and 2 from the other, half of the way from
    // where that is believed, 1 octave, to where it no longer is, 3: sqrt(1.21).
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes(16 << 20))->value, 1.1, 1e-9);
    // Four times the members are two octaves: from 1 MiB 2, from 4 MiB sqrt(8). Weights (1 - 2/3) /
    // 4 = 0.0833333 and (1 - sqrt(8)/3) / 8 = 0.0071489, the latter 0.0790083 of both; half of it.
    EXPECT_NEAR(known.Of(kRing, {16}, Bytes(1 << 20))->value, std::pow(1.21, 0.0790083 / 2), 1e-7);
}

TEST(Corrections, EndWithoutACliff)
{
    const Corrections known({{kRing, {4}, Bytes(1 << 20), {1.5, 1.5, 1.5}}});
    EXPECT_FALSE(known.Of(kRing, {4}, Bytes(8 << 20)));
    EXPECT_NEAR(known.Of(kRing, {4}, Bytes((8 << 20) - 4096))->value, 1, 1e-3);
    // Nor where a second row comes into reach.
    const Corrections two({{kRing, {4}, Bytes(1 << 20), {1.5, 1.5, 1.5}},
                           {kRing, {4}, Bytes(16 << 20), {0.5, 0.5, 0.5}}});
    EXPECT_NEAR(two.Of(kRing, {4}, Bytes(2 << 20))->value /
                    two.Of(kRing, {4}, Bytes((2 << 20) + 4096))->value,
                1,
                2e-3);
}

TEST(Corrections, KnowLessFartherAway)
{
    // Of one row the interval only widens, by 3 % on both sides for each octave, and has what was
    // measured as well as what is left of it.
    const Corrections known({{kRing, {4}, Bytes(1 << 20), {2, 1.5, 3}}});
    for (const double octaves : {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 2.9})
    {
        const Bytes bytes(static_cast<uint64_t>(std::llround(std::exp2(20 + octaves))));
        const Factor factor = *known.Of(kRing, {4}, bytes);
        const double left = octaves <= 1 ? 1 : (3 - octaves) / 2;
        EXPECT_NEAR(factor.value, std::pow(2, left), 1e-4) << octaves;
        EXPECT_NEAR(factor.low, std::pow(1.5, left) * std::exp(-0.03 * octaves), 1e-4) << octaves;
        EXPECT_NEAR(factor.high, 3 * std::exp(0.03 * octaves), 1e-4) << octaves;
    }
}

TEST(Corrections, KnowNothingOfOthers)
{
    const Corrections known({{kRing, {4, 2}, Bytes(1 << 20), {1.2, 1.2, 1.2}}});
    EXPECT_TRUE(known.Of(kRing, {4, 2}, Bytes(1 << 20)));
    EXPECT_FALSE(known.Of(kRing, {4, 2}, Bytes(16 << 20)));
    EXPECT_FALSE(known.Of(kRing, {8}, Bytes(1 << 20)));
    const auto isOther = [&known](const std::function<void(OperationKind&)>& change) {
        OperationKind other = kRing;
        change(other);
        return !known.Of(other, {4, 2}, Bytes(1 << 20)).has_value();
    };
    EXPECT_TRUE(isOther([](OperationKind& kind) { kind.reach = Tier::Leaf; }));
    EXPECT_TRUE(isOther([](OperationKind& kind) { kind.algorithm = "tree"; }));
    EXPECT_TRUE(isOther([](OperationKind& kind) { kind.protocol = "simple"; }));
    EXPECT_TRUE(isOther([](OperationKind& kind) { kind.way = "3 km 800 Gbps"; }));
    EXPECT_TRUE(isOther([](OperationKind& kind) { kind.split = "3:1"; }));
    // 8 groups of 4 and 4 of 8 are an octave apart in both: sqrt(2) from each other.
    EXPECT_NEAR(known.Of(kRing, {8, 1}, Bytes(1 << 20))->value,
                std::pow(1.2, (3 - std::sqrt(2.0)) / 2),
                1e-9);
    // What another class does is an octave away: its own rows outweigh it.
    OperationKind context = kRing;
    context.comm = CommClass::Context;
    EXPECT_NEAR(known.Of(context, {4, 2}, Bytes(1 << 20))->value, 1.2, 1e-9);
    EXPECT_LT(known.Of(context, {4, 2}, Bytes(1 << 20))->low, 1.17);
    const Corrections both({{kRing, {4}, Bytes(1 << 20), {1.2, 1.2, 1.2}},
                            {context, {4}, Bytes(1 << 20), {0.8, 0.8, 0.8}}});
    EXPECT_NEAR(both.Of(context, {4}, Bytes(1 << 20))->value, 0.8, 1e-9);
    EXPECT_NEAR(both.Of(kRing, {4}, Bytes(1 << 20))->value, 1.2, 1e-9);
}

TEST(TransferCost, StretchKeepsWhatPortsAndWiresCarry)
{
    TransferCost cost;
    cost.On(Port::NicOut) = 1e-3;
    cost.cuts = {{0, 3e-3, 3e-3, 4, 1, 2, 2e-3, 0, 0}}; // collisions make 3 ms of 2
    cost.latency = Duration::Microseconds(500);
    TransferCost longer = cost;
    longer.Stretch(2);
    EXPECT_EQ(longer.Alone(), Duration::Microseconds(7000));
    EXPECT_EQ(longer.On(Port::NicOut), 1e-3);
    EXPECT_EQ(longer.cuts[0].seconds, 3e-3);
    EXPECT_EQ(longer.PortSeconds(), 1e-3) << "its members queue at the cut as before";
    // 2.8 ms, of which the wire has 2.4.
    TransferCost shorter = cost;
    shorter.Stretch(0.8);
    EXPECT_EQ(shorter.Alone(), Duration::Microseconds(2800));
    EXPECT_NEAR(shorter.cuts[0].seconds, 2.4e-3, 1e-12);
    // Not below what the wire takes.
    cost.Stretch(0.1);
    EXPECT_EQ(cost.Alone(), Duration::Microseconds(2000));
}

const std::string kSpray = "multipath: spray-rr, recovery: selective-repeat, collective: ring";

Scenario
SmallStudy(const std::string& more,
           const std::string& network = kSpray,
           const std::string& model = "")
{
    return ParseStudy("study: slices\n"
                      "model: {layers: 8, hidden: 1024, heads: 8, kv_heads: 8, vocabulary: 4096, "
                      "dense_ffn: 4096" +
                          model +
                          "}\n"
                          "workload: {sequence: 1024, global_batch: 32}\n"
                          "cluster: {buildings: {count: 2, gpus: 16, gpus_per_node: 4, gpu: h100, "
                          "nic_rate: 400Gbps, fabric: {spines: 4, nodes_per_pod: 2}}, "
                          "cross: {distance: 20km, capacity: 1.6Tbps}}\n"
                          "search: {}\n"
                          "network: {" +
                          network + "}\n" + more,
                      "slices.yaml")
        .scenario;
}

RunReport
ReportOf(const Engine& engine, const Scenario& scenario, const RunOptions& options = {})
{
    return std::get<RunReport>(engine.Run(scenario, options));
}

RunOptions
Slice(uint32_t operation, double part = 1)
{
    RunOptions options;
    options.slice = SliceSpec{operation, part};
    return options;
}

TEST(Slice, EveryOperationRunsByItselfWithItsBytes)
{
    // Stages of 16 ranks, each in a building: tensor parallelism is inside servers, data
    // parallelism crosses leaves and pipelines cross buildings.
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const std::vector<Operation> operations = OperationsOf(run, ClusterPaths(scenario.cluster));
    ASSERT_FALSE(operations.empty());
    const AnalyticalEngine analytical;
    const FlowEngine flow(Collisions::Expected);
    uint32_t messages = 0;
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        const Operation& operation = operations[i];
        const RunReport report = ReportOf(analytical, scenario, Slice(i));
        const RunReport flows = ReportOf(flow, scenario, Slice(i));
        EXPECT_EQ(operation.kind.comm, operation.peer != 0 ? CommClass::Pipeline : CommClass::Data);
        for (uint32_t c = 0; c < kCommClasses; c++)
        {
            EXPECT_EQ(report.classes[c].bytes > Bytes(),
                      static_cast<CommClass>(c) == operation.kind.comm);
            EXPECT_EQ(flows.classes[c].bytes, report.classes[c].bytes);
        }
        EXPECT_NEAR(flows.iterationTime.S() / report.iterationTime.S(), 1, 0.02)
            << ToString(operation.kind);
        if (operation.peer != 0)
        {
            messages++;
            // A microbatch's activations, 1,024 x 1,024 x 2 B, are the same on all 4 tensor ranks,
            // or a quarter of it on each; there and back, from all 16 ranks of the stage.
            EXPECT_EQ(report.Of(CommClass::Pipeline).bytes, operation.bytes * (16 * 2));
            EXPECT_EQ(report.Of(CommClass::Pipeline).crossBytes, operation.bytes * (16 * 2));
        }
    }
    EXPECT_EQ(messages, 1U); // forward and backward are alike
}

/// Buildings of 16 GPUs each, of which a study says `each`, in a row over spans of such lengths.
Scenario
Sites(const std::vector<std::string>& each,
      const std::vector<std::string>& spans,
      const std::string& plan)
{
    std::string buildings;
    std::string links;
    for (size_t i = 0; i < each.size(); i++)
    {
        const auto name = [](size_t building) { return std::string(1, char('a' + building)); };
        buildings += "    - {name: " + name(i) + ", gpus: 16, gpus_per_node: 4, gpu: h100, " +
                     each[i] + "}\n";
        links += i == 0 ? ""
                        : "    - {between: [" + name(i - 1) + ", " + name(i) +
                              "], distance: " + spans[i - 1] + ", capacity: 1.6Tbps}\n";
    }
    return ParseStudy("study: sites\n"
                      "model: {layers: 12, hidden: 1024, heads: 8, kv_heads: 8, vocabulary: 4096, "
                      "dense_ffn: 4096}\n"
                      "workload: {sequence: 1024, global_batch: 32}\n"
                      "cluster:\n  buildings:\n" +
                          buildings + "  links:\n" + links +
                          "network: {multipath: spray-rr, recovery: selective-repeat}\n"
                          "search: {}\nplan: {" +
                          plan + "}\n",
                      "sites.yaml")
        .scenario;
}

TEST(Operation, SpansOfDifferentLengthAreTakenByDifferentMessages)
{
    const std::string each = "nic_rate: 400Gbps, fabric: {spines: 4, nodes_per_pod: 2}";
    const Scenario scenario =
        Sites({each, each, each}, {"3km", "300km"}, "tp: 4, pp: 3, crossing: pp");
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    std::vector<std::string> ways;
    for (const Operation& operation : OperationsOf(run, ClusterPaths(scenario.cluster)))
    {
        if (operation.IsMessage())
        {
            ways.push_back(operation.kind.way);
        }
    }
    EXPECT_THAT(ways, testing::ElementsAre("3 km 1.6 Tbps", "300 km 1.6 Tbps"));
}

TEST(Operation, IsOneForAllGroupsOfAStage)
{
    // Groups inside buildings reach other leaves in one of them and stay on one leaf in the other:
    // all run at the same time, so they are one operation with the farthest reach.
    const Scenario scenario = Sites({"nic_rate: 400Gbps, fabric: {spines: 4, nodes_per_pod: 1}",
                                     "nic_rate: 100Gbps, fabric: {spines: 4, nodes_per_pod: 4}"},
                                    {"3km"},
                                    "tp: 4, pp: 1, crossing: dp, sharding: hsdp");
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    ASSERT_GT(run.graph.classes.size(), 1U);
    std::set<uint32_t> collectives;
    std::set<std::string> kinds;
    for (const Operation& operation : OperationsOf(run, ClusterPaths(scenario.cluster)))
    {
        EXPECT_TRUE(collectives.insert(operation.collective).second) << ToString(operation);
        kinds.insert(ToString(operation.kind.reach) + " " + operation.kind.way + " over " +
                     operation.kind.split);
    }
    EXPECT_THAT(
        kinds,
        testing::ElementsAre("building as a and b over ", "cross 3 km 1.6 Tbps as a and b over 2"));
}

TEST(Operation, LevelsOfMembersAreTold)
{
    EXPECT_EQ(ToString(MemberLevels{4, 8}), "4x8");
    Collective collective;
    const RankGroup inside({{1, 4}});
    const RankGroup across({{4, 8}});
    collective.phases = {Phase(Pattern::RingReduceScatter, inside, Bytes(4096)),
                         Phase(Pattern::RingAllGather, across, Bytes(1024)),
                         Phase(Pattern::RingAllGather, inside, Bytes(4096))};
    EXPECT_EQ(LevelsOf(collective), (MemberLevels{4, 8}));
    EXPECT_EQ(BytesOf(collective), Bytes(4096));
}

TEST(Slice, WindowsAreWholeChunks)
{
    Collective collective;
    collective.phases = {Phase(Pattern::RingAllGather, RankGroup({{1, 4}}), Bytes(1 << 20))};
    EXPECT_EQ(WindowOf(collective, 0.3), 0.3);
    // The worked case: of 24 chunks on 4 channels 12 at most, 8 for two alike in each channel.
    collective.chunks = 24;
    collective.channels = 4;
    EXPECT_DOUBLE_EQ(WindowOf(collective, 0.5), 8.0 / 24);
    EXPECT_DOUBLE_EQ(WindowOf(collective, 0.25), 6.0 / 24); // too few for that: 6 and 3
    EXPECT_EQ(WindowOf(collective, 1.0 / 24), 0);
}

TEST(Slice, PartsHaveTheirPartOfTheBytes)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: dp}\n");
    const AnalyticalEngine engine;
    const RunReport whole = ReportOf(engine, scenario, Slice(0));
    const RunReport part = ReportOf(engine, scenario, Slice(0, 0.25));
    EXPECT_NEAR(static_cast<double>(part.Of(CommClass::Data).bytes.Count()) /
                    static_cast<double>(whole.Of(CommClass::Data).bytes.Count()),
                0.25,
                1e-3);
    EXPECT_LT(part.iterationTime, whole.iterationTime);
}

TEST(Slice, IsRunOnceWhateverIsAskedFor)
{
    // Every rank begins at once on an idle network and ends when it is through: that groups are
    // done before others does not make them begin again beside them.
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    RunOptions many = Slice(0);
    many.warmup = 3;
    many.iterations = 4;
    const FlowEngine flow(Collisions::Sampled);
    const AnalyticalEngine analytical;
    for (const Engine* engine :
         {static_cast<const Engine*>(&flow), static_cast<const Engine*>(&analytical)})
    {
        const RunReport once = ReportOf(*engine, scenario, Slice(0));
        EXPECT_EQ(once.warmup, 0U);
        EXPECT_EQ(once.iterations, 1U);
        EXPECT_EQ(ReportOf(*engine, scenario, many).iterationTime, once.iterationTime);
    }
}

TEST(Slice, RefusesByName)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: dp}\n");
    try
    {
        ReportOf(AnalyticalEngine(), scenario, Slice(99));
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("there is no operation 99"));
        EXPECT_THAT(error.what(), HasSubstr("calibrate"));
    }
    ASSERT_EQ(ParseSlice("3:0.25").pieces.size(), 1U);
    EXPECT_EQ(ParseSlice("3:0.25").pieces[0].operation, 3U);
    EXPECT_EQ(ParseSlice("3:0.25").part, 0.25);
    EXPECT_EQ(ToString(ParseSlice("3:0.25")), "3:0.25");
    EXPECT_EQ(ToString(ParseSlice("3")), "3");
    for (const char* text : {"", "x", "3:", "3:0", "3:1.5", "-1", "3:0.5:1"})
    {
        EXPECT_THROW(ParseSlice(text), ValueError) << text;
    }
}

/// Corrections with one factor for everything that a scenario does between servers.
CorrectedEngine::Finder
All(double factor)
{
    return [factor](const Scenario& scenario) {
        std::vector<CorrectionRow> rows;
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
        for (const Operation& operation : OperationsOf(run, ClusterPaths(scenario.cluster)))
        {
            rows.push_back(
                {operation.kind, operation.levels, operation.bytes, {factor, factor, factor}});
        }
        return Corrections(rows);
    };
}

/// What every slice of a scenario takes, less its launch, by one factor over what it takes without.
std::vector<double>
GotOf(const Scenario& scenario, double factor)
{
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const auto operations = OperationsOf(run, ClusterPaths(scenario.cluster));
    const CorrectedEngine engine("all", "set", "", All(factor));
    std::vector<double> got;
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        const Operation& operation = operations[i];
        const double launch =
            operation.IsMessage() ? 0 : run.graph.collectives[operation.collective].launch.S();
        const double time = ReportOf(AnalyticalEngine(), scenario, Slice(i)).iterationTime.S();
        got.push_back((ReportOf(engine, scenario, Slice(i)).iterationTime.S() - launch) /
                      (time - launch));
    }
    return got;
}

TEST(CorrectedEngine, StretchesEveryOperationByItsFactor)
{
    // However a collective goes: whole, in chunks side by side and one behind the other, by NCCL's
    // and DeepEP's algorithms. Ports hold nothing to more than a factor above 1.
    const std::string hashed = "multipath: ecmp, recovery: selective-repeat, qps: 1, ";
    std::vector<Scenario> scenarios = {
        SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n", hashed + "collective: ring")};
    for (const CollectiveAlgorithmFacts* row : CollectiveAlgorithm::Rows())
    {
        for (const char* chunks : {"",
                                   ", collective_chunk: 256KiB, channels: 4",
                                   ", collective_chunk: 384KiB, channels: 2"})
        {
            scenarios.push_back(SmallStudy("plan: {tp: 4, pp: 1, sharding: ddp}\n",
                                           hashed + "collective: " + row->word + chunks));
        }
    }
    for (const AllToAllFacts* row : AllToAllAlgorithm::Rows())
    {
        scenarios.push_back(SmallStudy("plan: {tp: 1, pp: 1, ep: 16}\n",
                                       hashed + "all_to_all: " + row->word,
                                       ", experts: 16, top_k: 2, expert_ffn: 1024, moe_every: 2"));
    }
    size_t operations = 0;
    for (const Scenario& scenario : scenarios)
    {
        for (const double factor : {1.0, 1.000001, 1.1, 2.0, 3.5})
        {
            for (const double got : GotOf(scenario, factor))
            {
                EXPECT_NEAR(got / factor, 1, 1e-6)
                    << scenario.network.collective->word << ", " << scenario.network.allToAll->word
                    << " in " << scenario.network.collectiveChunk.Count();
                operations++;
            }
        }
    }
    EXPECT_GT(operations, 200U);
}

TEST(CorrectedEngine, SaysWhichFactorsPortsDoNotAllow)
{
    // Half of the time of rings whose NICs are busy throughout cannot be; nothing is said of what
    // is longer.
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 1}\n");
    const auto reportBy = [&scenario](double factor) {
        return *ReportOf(CorrectedEngine("all", "set", "", All(factor)), scenario).correction;
    };
    EXPECT_TRUE(reportBy(1).unreached.empty());
    EXPECT_TRUE(reportBy(2).unreached.empty());
    const CorrectionReport half = reportBy(0.1);
    ASSERT_FALSE(half.unreached.empty());
    EXPECT_THAT(half.unreached.front(), HasSubstr(": asked 0.1, got 0."));
    const std::vector<double> got = GotOf(scenario, 0.1);
    EXPECT_GT(*std::max_element(got.begin(), got.end()), 0.11);
}

TEST(CorrectedEngine, FactorsNextToOneChangeNextToNothing)
{
    // Flows that collide at a cut and come one after the other have head starts there, which a
    // factor leaves as they are.
    for (const char* plan : {"plan: {tp: 4, pp: 2, crossing: pp}\n",
                             "plan: {tp: 4, pp: 4, crossing: pp}\n",
                             "plan: {tp: 4, pp: 1}\n"})
    {
        for (const char* more : {"", ", collective_chunk: 256KiB, channels: 4"})
        {
            const Scenario scenario =
                SmallStudy(plan, std::string("collective: ring, multipath: ecmp, qps: 1") + more);
            const auto timeBy = [&scenario](double factor) {
                return ReportOf(CorrectedEngine("all", "set", "", All(factor)), scenario)
                    .iterationTime.S();
            };
            const double plain = ReportOf(AnalyticalEngine(), scenario).iterationTime.S();
            EXPECT_EQ(timeBy(1), plain);
            EXPECT_NEAR(timeBy(1 + 1e-6) / plain, 1, 1e-5) << plan << more;
            EXPECT_NEAR(timeBy(1 - 1e-6) / plain, 1, 1e-5) << plan << more;
            double before = timeBy(0.7);
            for (const double factor : {0.8, 0.9, 0.97, 1.0, 1.03, 1.1, 1.3, 2.0})
            {
                const double now = timeBy(factor);
                EXPECT_GE(now, before * (1 - 1e-9)) << factor << " " << plan << more;
                before = now;
            }
            EXPECT_GT(before, plain);
        }
    }
}

TEST(CorrectedEngine, SaysByWhat)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const RunReport report = ReportOf(CorrectedEngine("twice", "set", "", All(2)), scenario);
    EXPECT_EQ(report.engine, "twice");
    EXPECT_EQ(report.correction->set, "set");
    EXPECT_EQ(report.correction->covered, OperationsOf(run, ClusterPaths(scenario.cluster)).size());
    EXPECT_EQ(report.correction->operations, report.correction->covered);
    EXPECT_EQ(report.correction->uncovered, 0);
    EXPECT_TRUE(report.correction->missing.empty());
}

TEST(CorrectedEngine, WeighsWhatItKnowsNothingOfByItsTime)
{
    // Without the factor of messages: what they take alone, as often as a rank sends them, is the
    // share of the messages.
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
    const auto operations = OperationsOf(run, ClusterPaths(scenario.cluster));
    double all = 0;
    double messages = 0;
    std::vector<CorrectionRow> rows;
    for (uint32_t i = 0; i < operations.size(); i++)
    {
        const Operation& operation = operations[i];
        const RunReport slice = ReportOf(AnalyticalEngine(), scenario, Slice(i));
        const double seconds =
            operation.IsMessage()
                ? slice.iterationTime.S() / 2
                : slice.iterationTime.S() - run.graph.collectives[operation.collective].launch.S();
        const double time = seconds * static_cast<double>(operation.times);
        all += time;
        messages += operation.IsMessage() ? time : 0;
        if (!operation.IsMessage())
        {
            rows.push_back({operation.kind, operation.levels, operation.bytes, {2, 2, 2}});
        }
    }
    const CorrectedEngine engine("most", "set", "", [&rows](const Scenario&) {
        return Corrections(rows);
    });
    const CorrectionReport correction = *ReportOf(engine, scenario).correction;
    EXPECT_EQ(correction.covered + 1, correction.operations);
    EXPECT_GT(messages / all, 0.01);
    EXPECT_NEAR(correction.uncovered, messages / all, 1e-6);
}

TEST(CorrectedEngine, SaysWhatItKnowsNothingOf)
{
    const Scenario scenario = SmallStudy("plan: {tp: 4, pp: 2, crossing: pp}\n");
    const CorrectedEngine none("none", "set", "", [](const Scenario&) { return Corrections({}); });
    const RunReport report = ReportOf(none, scenario);
    EXPECT_EQ(report.iterationTime, ReportOf(AnalyticalEngine(), scenario).iterationTime);
    EXPECT_EQ(report.correction->covered, 0U);
    EXPECT_EQ(report.correction->missing.size(), report.correction->operations);
    EXPECT_THAT(report.correction->missing,
                testing::Contains(HasSubstr("pp message, cross 20 km 1.6 Tbps")));
}

} // namespace
} // namespace scaleacross
