// SPDX-License-Identifier: GPL-2.0-only

// Events of a scenario in the engines: what fails for the whole run, in its middle, and for good.

#include "../collectives/collective-cases.h"
#include "core/base/errors.h"
#include "core/topology/graph-names.h"

#include "ns3/cluster-helper.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-wire.h"
#include "ns3/nstime.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/scenario-events.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>
#include <string>
#include <tuple>

namespace scaleacross
{
namespace
{

/// Two buildings of 8 GPUs, each its own server, one plane per spine; gradients cross.
Scenario
Read(const std::string& events, const std::string& network = "")
{
    const std::string study = R"(
model: {name: m, layers: 2, hidden: 1024, heads: 8, dense_ffn: 4096, vocabulary: 4096}
workload: {sequence: 512, global_batch: 16}
cluster:
  buildings: {count: 2, gpus: 8, gpus_per_node: 1, gpu: h100, fabric: {spines: 4, rails: false}}
  cross: {distance: 1km, oversubscription: 4}
plan: {sharding: ddp}
network: {segment: 16KiB, detection: 5us, convergence: 20us, timeout_exponent: 6, )" +
                              network + "}\nevents: " + events + "\n";
    return ParseStudy(study, "s.yaml").scenario;
}

RunReport
RunOn(const Engine& engine, const Scenario& scenario)
{
    RunOptions options;
    options.warmup = 0;
    return std::get<RunReport>(engine.Run(scenario, options));
}

/**
 * How much longer uniform traffic between two buildings takes with events than without, in both
 * engines: 4 NICs of 400 Gb/s at a leaf send 16 MiB / 2 each to the other building, packet by
 * packet over all top switches in turn.
 */
struct Slowdown
{
    const char* name;
    const char* fabric;
    const char* span;
    const char* events;
    double expected;
    double left; //!< of the span
};

class Constant : public testing::TestWithParam<std::tuple<Slowdown, const char*>>
{
};

/// That traffic.
Scenario
UniformTraffic(const Slowdown& row, const std::string& events)
{
    const std::string study =
        "study: events\ncluster:\n  buildings: {count: 2, name: b, gpus: 4, gpus_per_node: 1,"
        " gpu: h100, nic_rate: 400Gbps, fabric: {" +
        std::string(row.fabric) + "}}\n  cross: {distance: 1km, " + row.span +
        "}\nnetwork: {spine_buffer: 1GiB, leaf_buffer: 1GiB, multipath: spray-rr,"
        " recovery: selective-repeat, reorder_tolerance: 4096}\nevents: " +
        events + "\n";
    return With(ParseStudy(study, "events.yaml", {}, StudyScope::Network).scenario,
                CollectiveOp::AllToAll,
                CollectiveGroup::Across,
                16 << 20,
                CollectiveAlgorithm("ring"));
}

RunReport
ReportOf(const Engine& engine, const Scenario& scenario)
{
    RunOptions options;
    options.warmup = 0;
    options.timeline = Timelines::OfAll;
    return std::get<RunReport>(engine.Run(scenario, options));
}

const ResourceReport&
SpanOf(const RunReport& report)
{
    const auto found = std::find_if(report.resources.begin(),
                                    report.resources.end(),
                                    [](const auto& link) { return link.name == "b1 to b2"; });
    EXPECT_NE(found, report.resources.end());
    return *found;
}

/**
 * The cut takes 4 x 8 MiB x 1.025 x 8 / 400 Gb/s = 688 us, the latency of 8 us and some packets
 * beside it: (r T + L) / (T + L) is less than r by up to (1 - 1/r) L / T = 0.6 % for r = 2. Uneven
 * ends, that is which of the packets in turn are the last ones, are some of 512 of a lane. 2 %.
 */
TEST_P(Constant, SlowsTheCutAsDerived)
{
    const auto& [row, engine] = GetParam();
    const auto seconds = [&, engine = engine, row = row](const std::string& events) {
        return SecondsOn(*EngineOf(engine), UniformTraffic(row, events));
    };
    EXPECT_NEAR(seconds(row.events) / seconds("[]"), row.expected, 0.02 * row.expected);
}

/**
 * A span is told by what is left of it, of which its bytes take their share; they are 4 x 8 MiB of
 * payload and 2 % of headers. Its share in time is of the same, and never more than all. Packets
 * are counted while one rank is in its iteration, of some hundred us, which others begin and end by
 * the way of 8 us sooner or later: up to 5 % of the bytes; and in time beyond its end.
 */
TEST_P(Constant, SharesAreOfWhatIsLeft)
{
    const auto& [row, engine] = GetParam();
    const Scenario scenario = UniformTraffic(row, row.events);
    const RunReport report = ReportOf(*EngineOf(engine), scenario);
    const ResourceReport& span = SpanOf(report);
    const double capacity = scenario.cluster.crossLinks[0].capacity.Value() * row.left;
    EXPECT_NEAR(span.capacity.Value(), capacity, 1e-9 * capacity);
    const double bytes = 4.0 * 8 * (1 << 20) * (4096 + 82) / 4096;
    const bool packets = std::string(engine) == "packet";
    const auto counted = static_cast<double>(span.bytes.Count());
    EXPECT_NEAR(counted, bytes, (packets ? 0.05 : 1e-6) * bytes);
    EXPECT_NEAR(span.busy, counted * 8 / capacity / report.iterationTime.S(), 1e-9);
    EXPECT_LE(span.busy, 1);
    ASSERT_TRUE(report.timeline);
    const NetworkSeries& network = report.timeline->network;
    double carried = 0;
    double room = 0;
    for (const Series& one : network.series)
    {
        for (uint32_t i = 0; one.name == "b1 to b2" && i < network.Steps(); i++)
        {
            EXPECT_LE(network.ShareOf(one, i), 1 + 1e-9);
            carried += one.values[i];
            room += network.RoomOf(one, i);
        }
    }
    EXPECT_GE(carried, bytes * (packets ? 0.95 : 1 - 1e-6));
    const double time = (network.at.back() - network.at.front()).S();
    EXPECT_NEAR(room, capacity / 8 * time, 1e-6 * room);
}

/// One of four links is down for 200 us in all, so that of the span 1 - 0.25 x 200 us / T are left
/// in an iteration of T; half of all for 100 us leave 1 - 0.5 x 100 us / T.
TEST(Events, SharesAreOfWhatIsLeftInTheMean)
{
    const Slowdown row{"", "spines: 4", "oversubscription: 4", "", 0, 0};
    for (const auto& [event, lost] :
         {std::pair<std::string, double>("{kind: flap, target: b1/spine1--b2/spine1, at: 50us, "
                                         "down: 100us, period: 300us, count: 2}",
                                         0.25 * 200e-6),
          {"{kind: degradation, target: b1--b2, at: 100us, until: 200us, factor: 0.5}",
           0.5 * 100e-6}})
    {
        const Scenario scenario = UniformTraffic(row, "[" + event + "]");
        const RunReport report = ReportOf(PacketEngine(), scenario);
        const double time = report.iterationTime.S();
        const double built = scenario.cluster.crossLinks[0].capacity.Value();
        EXPECT_GT(time, 450e-6);
        EXPECT_NEAR(SpanOf(report).capacity.Value(), built * (1 - lost / time), 1e-6 * built)
            << event;
        EXPECT_LE(SpanOf(report).busy, 1) << event;
        const NetworkSeries& network = report.timeline->network;
        for (const Series& one : network.series)
        {
            for (uint32_t i = 0; one.name == "b1 to b2" && i < network.Steps(); i++)
            {
                // A packet more may begin in a step than ends in it, on each of four links, and
                // look-ahead counts what leaves in a wire's delay, the 5 us of 1 km.
                EXPECT_LE(one.values[i], network.RoomOf(one, i) + 4 * 4178.0 + built / 8 * 5e-6)
                    << event;
            }
        }
    }
}

const Slowdown g_slowdowns[] = {
    // Three of four top switches.
    {"Plane",
     "spines: 4",
     "oversubscription: 4",
     "[{kind: plane-failure, target: plane 2, at: 0s}]",
     4.0 / 3,
     3.0 / 4},
    // Top switch 3 has a quarter of the traffic, on one lane of two.
    {"Lane",
     "spines: 4",
     "oversubscription: 4, lanes: 2",
     "[{kind: link-failure, target: 'b1/spine3--b2/spine3#2', at: 0s}]",
     2,
     7.0 / 8},
    // Half of the lanes of every plane, and all of them at half the rate.
    {"HalfOfASpan",
     "spines: 4",
     "oversubscription: 4, lanes: 2",
     "[{kind: link-failure, target: b1--b2, lanes: 4, at: 0s}]",
     2,
     1.0 / 2},
    {"SlowSpan",
     "spines: 4",
     "oversubscription: 4",
     "[{kind: degradation, target: b2--b1, at: 0s, factor: 0.5}]",
     2,
     1.0 / 2},
    // It has a quarter, at half the rate.
    {"SlowLink",
     "spines: 4",
     "oversubscription: 4",
     "[{kind: degradation, target: b1/spine3--b2/spine3, at: 0s, factor: 0.5}]",
     2,
     7.0 / 8},
    // Others have a half of every link, or a quarter beside what is left of three quarters.
    {"Shared",
     "spines: 4",
     "oversubscription: 4",
     "[{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.5}]",
     2,
     1.0 / 2},
    {"SharedAndSlow",
     "spines: 4",
     "oversubscription: 4",
     "[{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.25},"
     " {kind: degradation, target: b1--b2, at: 0s, factor: 0.75}]",
     2,
     1.0 / 2},
    // One of four top switches is lost, and half of the others'. Who sent over it sends no more.
    {"SharedAndBroken",
     "spines: 4",
     "oversubscription: 4",
     "[{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.5},"
     " {kind: link-failure, target: b1/spine3--b2/spine3, at: 0s}]",
     8.0 / 3,
     3.0 / 8},
    {"SharedAndBrokenLane",
     "spines: 4",
     "oversubscription: 4, lanes: 2",
     "[{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.5},"
     " {kind: link-failure, target: b1--b2, lanes: 4, at: 0s}]",
     4,
     1.0 / 4},
    // Half of the traffic is in the first plane, with one of its two top switches.
    {"OneOfTwoPlanes",
     "spines: 2, planes: 2",
     "oversubscription: 4",
     "[{kind: plane-failure, target: plane 0, at: 0s}]",
     2,
     3.0 / 4},
    // The uplinks of leaves are the cut; nothing of them fails, but what crosses avoids spine 1.
    {"NoWayOn",
     "spines: 4, oversubscription: 4",
     "oversubscription: 1.5",
     "[{kind: link-failure, target: b1/spine1--b2/spine1, at: 0s}]",
     4.0 / 3,
     3.0 / 4},
};

INSTANTIATE_TEST_SUITE_P(Events,
                         Constant,
                         testing::Combine(testing::ValuesIn(g_slowdowns),
                                          testing::Values("analytical", "flow", "packet")),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param).name) + "_" +
                                    std::get<1>(info.param);
                         });

/// Whatever tells paths apart, every lane carries its load of others both ways. Of 4 lanes of 100
/// Gb/s in 4 ms of which others have 0.3: 9,752 packets of 1,538 bytes each; where hashing or
/// chance spreads those of all four, the deviation is sqrt(0.75 n) = 0.9 %, five are 4.5 %.
TEST(Events, EveryLaneHasItsPartOfOthersTraffic)
{
    if (ns3::Time::GetResolution() != ns3::Time::PS)
    {
        ns3::Time::SetResolution(ns3::Time::PS);
    }
    for (const std::string& word : Multipath::Names())
    {
        const Multipath multipath(word);
        Scenario scenario = Read("[{kind: foreign-traffic, target: building1--building2, at: 0s, "
                                 "until: 4ms, load: 0.3}]");
        scenario.cluster.buildings[0].fabric.spines = 1;
        scenario.cluster.buildings[1].fabric.spines = 1;
        scenario.cluster.crossLinks[0].lanes = 4;
        scenario.cluster.crossLinks[0].capacity = GigabitsPerSecond(400);
        scenario.network.multipath = multipath;
        scenario.network.recovery = Recovery("selective-repeat");
        ns3::RngSeedManager::SetRun(1);
        ns3::ClusterHelper cluster(scenario);
        cluster.AssignStreams(0);
        const auto events = ns3::ScheduleEvents(scenario, cluster);
        ns3::Simulator::Run();
        const FabricGraph& graph = cluster.GetGraph();
        size_t lanes = 0;
        for (uint32_t l = 0; l < graph.links.size(); l++)
        {
            for (const size_t end : {0, 1})
            {
                const auto port =
                    ns3::DynamicCast<ns3::FabricPort>(cluster.GetWire(l)->GetDevice(end));
                const uint64_t bytes = port->GetSentBytes();
                if (graph.links[l].kind == LinkKind::Cross)
                {
                    lanes++;
                    const double expected = 0.3 * 100e9 / 8 * 4e-3;
                    EXPECT_NEAR(static_cast<double>(bytes), expected, 0.045 * expected)
                        << ToString(multipath) << " " << LinkName(scenario.cluster, graph, l);
                }
                else
                {
                    EXPECT_EQ(bytes, 0U) << LinkName(scenario.cluster, graph, l);
                }
            }
        }
        EXPECT_EQ(lanes, 8U);
        EXPECT_EQ(ns3::CheckConservation(cluster.GetFabric()).inFlight, 0U);
        ns3::Simulator::Destroy();
    }
}

/// Next to nothing of others changes nothing: neither addresses, by which paths are hashed, nor
/// what is drawn.
TEST(Events, OthersLeaveTheJobsPathsAlone)
{
    for (const std::string& word : Multipath::Names())
    {
        const auto report = [&](const std::string& events) {
            Scenario scenario = Read(events);
            scenario.network.multipath = Multipath(word);
            scenario.network.recovery = Recovery("selective-repeat");
            return RunOn(PacketEngine(), scenario);
        };
        const RunReport alone = report("[]");
        const RunReport beside = report("[{kind: foreign-traffic, target: building1--building2, "
                                        "at: 0s, load: 1e-9}]");
        EXPECT_EQ(beside.iterationTime.Ps(), alone.iterationTime.Ps()) << word;
        EXPECT_EQ(beside.network.collisionFactor, alone.network.collisionFactor) << word;
        EXPECT_EQ(beside.network.packetsSent, alone.network.packetsSent) << word;
    }
}

/// Packets of 1,024 bytes and short headers are smaller than 1,500 bytes of IP.
TEST(Events, PacketsOfOthersFitWhereThoseOfTheJobDo)
{
    const RunReport report = RunOn(PacketEngine(),
                                   Read("[{kind: foreign-traffic, target: building1--building2, "
                                        "at: 0s, load: 0.5}]",
                                        "mtu: 1024B, headers: 10B"));
    EXPECT_EQ(report.network.packetsDropped, 0U);
    EXPECT_GT(report.iterationTime,
              RunOn(PacketEngine(), Read("[]", "mtu: 1024B, headers: 10B")).iterationTime);
}

/// How much longer such an all-to-all over unequal links takes with events, by one engine.
double
Slower(const std::string& engine,
       const std::string& fabric,
       const std::string& network,
       const std::string& before,
       const std::string& after)
{
    const auto seconds = [&](const std::string& events) {
        const std::string study =
            "study: events\ncluster:\n  buildings: {count: 2, name: b, gpus: 4, gpus_per_node: 1,"
            " gpu: h100, nic_rate: 400Gbps, fabric: {" +
            fabric + "}\nnetwork: {" + network + "}\nevents: [" + events + "]\n";
        return SecondsOn(*EngineOf(engine),
                         With(ParseStudy(study, "events.yaml", {}, StudyScope::Network).scenario,
                              CollectiveOp::AllToAll,
                              CollectiveGroup::Across,
                              16 << 20,
                              CollectiveAlgorithm("ring")));
    };
    return seconds(after) / seconds(before);
}

/// Tables know rates, not loads: of two links one is slower, and others have as much of each. By
/// weights 0.5 and 1 a third of the traffic is on the slow one, of which 0.5 - 0.25 is left: it
/// takes (1/3) / 0.25 against (1/3) / 0.5 without others, twice as long.
TEST(Events, WeightsDoNotFollowOthers)
{
    const std::string slow =
        "{kind: degradation, target: b1/spine0--b2/spine0, at: 0s, factor: 0.5}";
    const std::string others = "{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.25}";
    // Of 16 pairs with 1,024 parts each a third has a deviation of 0.4 % of all, 1.1 % of itself.
    // Three of these less of it, 0.322, and the ratio is 4 x 0.322 / (1 - 0.322) = 1.9; by weights
    // that follow, both links would take 1.5 times as long.
    for (const char* engine : {"analytical", "flow", "packet"})
    {
        EXPECT_NEAR(Slower(engine,
                           "spines: 2}}\n  cross: {distance: 1km, oversubscription: 4",
                           "spine_buffer: 1GiB, leaf_buffer: 1GiB, multipath: ucmp, qps: 1024",
                           slow,
                           slow + ", " + others),
                    2,
                    0.1)
            << engine;
    }
}

/// Of four switches with two lanes each one has a lane of half the rate. Leaves see nothing of it
/// and send a quarter of all to each; that one sees what waits, and uses a lane and a half in place
/// of two: 4/3.
///
/// What others send it does not see: it comes first and waits little. With 0.2 of theirs in every
/// lane there is 0.3 and 0.8 left of 0.5 and 1. By the rates a third is on the slow one: 2 / 3 /
/// 0.3. Packets keep waits equal at these rates while they come faster than they go, 8 lanes' worth
/// to two lanes: (x - 0.3) / 0.5 = (8 - x - 0.8) / 1, so x = 2.6 of 8 is on the slow one: 2 x 0.325
/// / 0.3.
TEST(Events, WhoSeesWhatWaitsSeesItsOwnLinksOnly)
{
    const std::string slow =
        "{kind: degradation, target: b1/spine3--b2/spine3, at: 0s, factor: 0.5}";
    const std::string others = "{kind: foreign-traffic, target: b1--b2, at: 0s, load: 0.2}";
    for (const auto& [engine, shared] :
         {std::pair("analytical", 2 / 0.9), {"flow", 2 / 0.9}, {"packet", 0.65 / 0.3}})
    {
        const auto slower = [engine = engine](const std::string& events) {
            return Slower(engine,
                          "spines: 4}}\n  cross: {distance: 1km, oversubscription: 4, lanes: 2",
                          "spine_buffer: 1GiB, leaf_buffer: 1GiB, multipath: spray-adaptive, "
                          "recovery: selective-repeat, reorder_tolerance: 4096",
                          "",
                          events);
        };
        EXPECT_NEAR(slower(slow), 4.0 / 3, 0.02 * 4 / 3) << engine;
        EXPECT_NEAR(slower(slow + ", " + others), shared, 0.02 * shared) << engine;
    }
}

/// A mesh of four leaves at each end. Others are on the spines, which carry what crosses and are no
/// leaves to make detours over: with next to nothing of theirs nothing changes, and half of the
/// span takes twice as long.
TEST(Events, OthersInAMeshMakeNoDetours)
{
    const std::string fabric = "shape: full-mesh, spines: 2, nodes_per_pod: 1, rails: false}}\n"
                               "  cross: {distance: 1km, oversubscription: 4";
    const std::string network = "pfc: false, spine_buffer: 1GiB, leaf_buffer: 1GiB, multipath: "
                                "spray-rr, recovery: selective-repeat, reorder_tolerance: 4096";
    const std::string traffic = "{kind: foreign-traffic, target: b1--b2, at: 0s, load: ";
    EXPECT_EQ(Slower("packet", fabric, network, "", traffic + "1e-9}"), 1);
    for (const char* engine : {"analytical", "flow", "packet"})
    {
        EXPECT_NEAR(Slower(engine, fabric, network, "", traffic + "0.5}"), 2, 0.02 * 2) << engine;
    }
    // Lanes tell detours apart, so that there is none left.
    EXPECT_THROW(Slower("packet", fabric, "transport: infiniband", "", traffic + "0.5}"),
                 ConfigError);
}

/// Others come before all classes of the job, strict ones and such with weights, which have what a
/// span of half the rate would let them have. What is in the way of a packet is as random as
/// others' gaps: some of thousands.
TEST(Events, OthersComeBeforeAllClasses)
{
    const auto seconds = [](const std::string& network, const std::string& event) {
        return RunOn(PacketEngine(),
                     Read("[{target: building1--building2, at: 0s, " + event + "}]", network))
            .iterationTime.S();
    };
    for (const std::string classes :
         {"classes: {dp: 2}", "classes: {dp: 1, tp: 0}, class_weights: '1:3'"})
    {
        const double half = seconds(classes, "kind: degradation, factor: 0.5");
        EXPECT_NEAR(seconds(classes, "kind: foreign-traffic, load: 0.5"), half, 0.02 * half)
            << classes;
    }
}

TEST(Events, TimelinesBesideOthers)
{
    RunOptions options;
    options.warmup = 0;
    options.timeline = Timelines::OfAll;
    const RunResult result =
        PacketEngine().Run(Read("[{kind: foreign-traffic, target: building1--building2, at: 0s, "
                                "load: 0.1}]"),
                           options);
    EXPECT_TRUE(std::get<RunReport>(result).timeline);
}

TEST(Events, OthersThatCannotSendAreRefused)
{
    const std::string half = "{kind: degradation, target: building1--building2, at: 0s, "
                             "factor: 0.5}";
    const std::string traffic = "{kind: foreign-traffic, target: building1--building2, at: 0s, "
                                "load: 0.5}";
    for (const auto& [events, network] :
         {std::pair<std::string, std::string>("[" + half + ", " + traffic + "]", ""),
          {"[" + traffic + "]", "ns3: {'ns3::RdmaQueuePair::Priority': 7}"},
          {"[" + traffic + "]", "ns3: {'ns3::RdmaQueuePair::Priority': 5}"},
          {"[" + traffic + "]", "ns3: {'ns3::RdmaNic::ForeignPriority': 4}"},
          {"[" + traffic + "]", "classes: {dp: 3}"}})
    {
        // Also what is found only once the network is built says where it was read.
        try
        {
            RunOn(PacketEngine(), Read(events, network));
            ADD_FAILURE() << events << network;
        }
        catch (const ConfigError& error)
        {
            EXPECT_EQ(error.Where().rfind("s.yaml:", 0), 0U) << error.what();
            EXPECT_FALSE(error.Remedy().empty()) << error.what();
        }
    }
}

TEST(Events, NothingIsLostIfItIsKnownFromTheBeginning)
{
    const Scenario with = Read("[{kind: plane-failure, target: plane 2, at: 0s}]");
    EXPECT_EQ(RunOn(PacketEngine(), with).network.packetsDropped, 0U);
}

TEST(Events, AFlapInTheMiddleIsSurvivedByThePacketEngine)
{
    const Scenario without = Read("[]");
    const RunReport clean = RunOn(PacketEngine(), without);
    // Again and again over the whole iteration, so also while gradients are under way.
    const int64_t count = clean.iterationTime.Ps() / 300'000'000;
    const std::string flap = "[{kind: flap, target: building1/spine1--building2/spine1, at: 100us, "
                             "down: 100us, period: 300us, count: " +
                             std::to_string(count) + "}]";
    const RunReport flapped = RunOn(PacketEngine(), Read(flap));
    EXPECT_GT(flapped.network.packetsDropped, 0U);
    EXPECT_GT(flapped.network.retransmissions, 0U);
    EXPECT_GT(flapped.iterationTime, clean.iterationTime);
    EXPECT_THROW(AnalyticalEngine().Run(Read(flap), RunOptions()), ConfigError);
    // Bytes of the training do not depend on it.
    EXPECT_EQ(flapped.crossBuildingBytes, clean.crossBuildingBytes);
}

TEST(Events, ALeafThatFailsForGoodEndsWithANamedFailure)
{
    const Scenario scenario =
        Read("[{kind: switch-failure, target: building2/leaf0, at: 10us}]", "retries: 2");
    try
    {
        PacketEngine().Run(scenario, RunOptions());
        FAIL() << "the run should have failed";
    }
    catch (const RunError& error)
    {
        EXPECT_NE(std::string(error.what()).find("retry limit"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace scaleacross
