// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/engine.h"
#include "server-gpu.h"

#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/config.h"
#include "ns3/fabric-balance.h"
#include "ns3/nvlink-domain.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/training-application.h"
#include "ns3/training-helper.h"
#include "ns3/uinteger.h"

#include <functional>
#include <map>
#include <string>

using namespace ns3;
using namespace scaleacross;

namespace
{

/// 450 GB/s. Two messages of 45 MB to different GPUs share the egress: both leave after 200 us. To
/// one GPU they leave in order, after 100 and 200 us. Each arrives 1 us later.
class NvlinkSharingTest : public TestCase
{
  public:
    NvlinkSharingTest()
        : TestCase("NVLink egress is shared by destination, in order to each")
    {
    }

  private:
    void Expect(uint32_t secondTo, int64_t firstUs, int64_t secondUs)
    {
        auto domain = CreateObject<NvlinkDomain>();
        domain->SetGpus(3);
        domain->SetRate(BytesPerSecond(450e9));
        domain->SetLatency(scaleacross::Duration::Microseconds(1));
        std::vector<Time> arrivals(2);
        domain->Send(0, 1, Bytes(45'000'000), [&] { arrivals[0] = Simulator::Now(); });
        domain->Send(0, secondTo, Bytes(45'000'000), [&] { arrivals[1] = Simulator::Now(); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ_TOL(arrivals[0],
                                  MicroSeconds(firstUs),
                                  NanoSeconds(1),
                                  "first message");
        NS_TEST_EXPECT_MSG_EQ_TOL(arrivals[1],
                                  MicroSeconds(secondUs),
                                  NanoSeconds(1),
                                  "second message");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Expect(2, 201, 201);
        Expect(1, 101, 201);
    }
};

Scenario
SmallJob(Sharding sharding, Crossing crossing, CollectiveAlgorithm algorithm)
{
    Scenario scenario;
    for (const char* name : {"north", "south"})
    {
        BuildingSpec building;
        building.name = name;
        building.gpus = 8;
        building.gpusPerNode = 4;
        building.gpu = ServerGpu();
        scenario.cluster.buildings.push_back(building);
    }
    CrossLinkSpec span;
    span.b = 1;
    span.distance = Distance(10);
    span.latency = FibreDelay(span.distance);
    span.capacity = GigabitsPerSecond(800);
    scenario.cluster.crossLinks.push_back(span);
    scenario.network.collective = algorithm;

    JobSpec job;
    // The small dimensions of a mixture of experts.
    job.model.name = "small";
    job.model.layers = 2;
    job.model.hidden = 256;
    job.model.heads = 8;
    job.model.kvHeads = 4;
    job.model.headDim = 32;
    job.model.experts = 4;
    job.model.topK = 1;
    job.model.moeEvery = 1;
    job.model.expertFfn = 512;
    job.model.sharedFfn = 512;
    job.model.vocabulary = 1000; // parts of odd sizes
    job.workload.sequence = 512;
    job.workload.globalBatch = 16;
    job.plan.tp = 2;
    job.plan.ep = 2;
    job.plan.pp = 2;
    job.plan.dp = 4;
    job.plan.sharding = sharding;
    job.plan.crossing = crossing;
    scenario.jobs.push_back(job);
    scenario.Validate();
    return scenario;
}

/**
 * What the applications put on the network in one iteration is, to the byte, what the report counts
 * from the task graph. The payload that NICs deliver and what NVLink carries are two parts of it:
 * the first is counted by the queue pairs, so the test compares it with the task graph's payload
 * between servers, added up here rank by rank and message by message.
 */
class BytesTest : public TestCase
{
  public:
    BytesTest(Sharding sharding, Crossing crossing, CollectiveAlgorithm algorithm, Bytes chunk)
        : TestCase("bytes of one iteration"),
          m_sharding(sharding),
          m_crossing(crossing),
          m_algorithm(algorithm),
          m_chunk(chunk)
    {
    }

  private:
    /// Payload that rank sends to other servers in the phases of a collective.
    uint64_t BetweenServers(const Collective& collective, Rank rank) const
    {
        uint64_t bytes = 0;
        for (const Phase& phase : collective.phases)
        {
            if (phase.group.Size() == 1)
            {
                continue;
            }
            const uint32_t index = phase.group.IndexOf(rank);
            for (uint32_t c = 0; c < collective.chunks; c++)
            {
                const Phase chunk = ChunkOf(phase, c, collective.chunks);
                const MemberFlows flows = FlowsOf(chunk, index);
                for (uint32_t o = 0; o < kMostFlows; o++)
                {
                    for (uint32_t number = 0; number < flows.outputs[o].messages; number++)
                    {
                        const PhaseMessage message = MessageOf(chunk, index, o, number);
                        const Rank to = phase.group.Member(rank, message.to);
                        bytes += to / 4 != rank / 4 ? message.bytes.Count() : 0;
                    }
                }
            }
        }
        return bytes;
    }

    uint64_t BetweenServers(const TaskGraph& graph, const std::vector<Op>& ops, Rank rank) const
    {
        uint64_t bytes = 0;
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Run)
            {
                bytes += BetweenServers(graph, graph.bodies[op.index].ops, rank);
            }
            else if (op.kind == OpKind::Collective)
            {
                bytes += BetweenServers(graph.collectives[op.index], rank);
            }
            else if (op.kind == OpKind::Send)
            {
                bytes += (rank + op.peer) / 4 != rank / 4 ? op.bytes.Count() : 0;
            }
        }
        return bytes;
    }

    void DoRun() override
    {
        Scenario scenario = SmallJob(m_sharding, m_crossing, m_algorithm);
        scenario.network.collectiveChunk = m_chunk;
        scenario.network.channels = m_chunk > Bytes() ? 2 : 1;
        ClusterHelper cluster(scenario);
        TrainingHelper training(scenario);
        training.SetAttribute("Iterations", UintegerValue(2));
        const ApplicationContainer ranks = training.Install(cluster);
        const TaskGraph& graph = training.GetGraph();
        uint64_t expected = 0;
        for (Rank rank = 0; rank < graph.ranks; rank++)
        {
            expected +=
                2 * BetweenServers(graph, graph.classes[graph.ClassOf(rank)].program.ops, rank);
        }
        Simulator::Run();
        for (Rank rank = 0; rank < graph.ranks; rank++)
        {
            const auto application = DynamicCast<TrainingApplication>(ranks.Get(rank));
            NS_TEST_EXPECT_MSG_EQ(application->GetRank(), rank, "in the order of ranks");
            NS_TEST_EXPECT_MSG_EQ(application->DescribeWait(), "nothing", "the rank is done");
        }
        uint64_t delivered = 0;
        for (const Ptr<RdmaNic>& nic : cluster.GetFabric().Nics())
        {
            delivered += nic->GetDeliveredBytes();
        }
        NS_TEST_EXPECT_MSG_EQ(delivered, expected, "payload between servers");
        NS_TEST_EXPECT_MSG_EQ(CheckConservation(cluster.GetFabric()).inFlight, 0, "nothing left");
        NS_TEST_EXPECT_MSG_EQ(CountUndelivered(cluster.GetFabric()), 0, "all delivered");
        Simulator::Destroy();
    }

    // Not the scenario itself: suites are static objects, and presets may not exist before them.
    const Sharding m_sharding;
    const Crossing m_crossing;
    const CollectiveAlgorithm m_algorithm;
    const Bytes m_chunk;
};

/// A job by its attributes alone, whose helper is gone when it runs.
class TrainingHelperTest : public TestCase
{
  public:
    TrainingHelperTest()
        : TestCase("A job is installed by a helper, and its ranks have attributes")
    {
    }

  private:
    void Begin(Rank /* rank */, uint32_t iteration)
    {
        m_begun[iteration]++;
    }

    void Finish(Rank /* rank */)
    {
        m_finished++;
    }

    ApplicationContainer Install(const Scenario& scenario, const ClusterHelper& cluster) const
    {
        TrainingHelper training(scenario);
        training.SetAttribute("Record", BooleanValue(true));
        return training.Install(cluster);
    }

    void Refuses(const std::string& says, const std::function<void()>& action)
    {
        std::string what = "nothing";
        try
        {
            action();
        }
        catch (const ConfigError& error)
        {
            what = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(what.find(says), std::string::npos, what << " says " << says);
    }

    void DoRun() override
    {
        const Scenario scenario =
            SmallJob(Sharding("ddp"), Crossing::Data, CollectiveAlgorithm("ring"));
        Config::SetDefault("ns3::TrainingApplication::Iterations", UintegerValue(3));
        {
            ClusterHelper cluster(scenario);
            const ApplicationContainer ranks = Install(scenario, cluster);
            for (uint32_t i = 0; i < ranks.GetN(); i++)
            {
                const auto rank = DynamicCast<TrainingApplication>(ranks.Get(i));
                rank->TraceConnectWithoutContext("Iteration",
                                                 MakeCallback(&TrainingHelperTest::Begin, this));
                rank->TraceConnectWithoutContext("Finished",
                                                 MakeCallback(&TrainingHelperTest::Finish, this));
            }
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(m_finished, ranks.GetN(), "every rank ends once");
            NS_TEST_EXPECT_MSG_EQ(m_begun.size(), 3, "iterations");
            for (const auto& [iteration, count] : m_begun)
            {
                NS_TEST_EXPECT_MSG_EQ(count, ranks.GetN(), "ranks in iteration " << iteration);
            }
            for (uint32_t i = 0; i < ranks.GetN(); i++)
            {
                const auto rank = DynamicCast<TrainingApplication>(ranks.Get(i));
                NS_TEST_ASSERT_MSG_NE(rank->GetRecord(), nullptr, "it is kept");
                const RankTimes times = rank->GetTimes();
                // All of a rank's time is in its record, which ends when it has finished.
                scaleacross::Duration sum = times.compute + times.bubble;
                for (const scaleacross::Duration exposed : times.exposed)
                {
                    sum += exposed;
                }
                NS_TEST_EXPECT_MSG_EQ(sum.Ps(),
                                      rank->GetRecord()->runs.back().end.Ps(),
                                      "computing, waiting and nothing else");
            }
            Simulator::Destroy();
        }
        Config::Reset();
        {
            ClusterHelper cluster(scenario);
            Scenario larger = scenario;
            larger.cluster.buildings.back().gpus *= 2;
            larger.Job().plan.dp =
                larger.Job().plan.dp * larger.cluster.Gpus() / scenario.cluster.Gpus();
            larger.Job().workload.globalBatch *= 3;
            Refuses("TrainingHelper::Install", [&] { TrainingHelper(larger).Install(cluster); });
            Scenario full = scenario;
            for (BuildingSpec& building : full.cluster.buildings)
            {
                building.gpu.hbmCapacity = Bytes(1 << 20);
                building.gpu.hbmReserve = Bytes(0);
            }
            Refuses("it cannot run (memory)", [&] { TrainingHelper helper(full); });
            Simulator::Destroy();
        }
    }

    std::map<uint32_t, uint32_t> m_begun; //!< ranks, by iteration
    uint32_t m_finished{0};
};

class TrainingSuite : public TestSuite
{
  public:
    TrainingSuite()
        : TestSuite("scaleacross-training")
    {
        AddTestCase(new NvlinkSharingTest);
        AddTestCase(new TrainingHelperTest);
        for (const Sharding sharding : {Sharding("ddp"), Sharding("fsdp"), Sharding("hsdp")})
        {
            for (const Crossing& crossing : {Crossing::Data,
                                             Crossing::Pipeline,
                                             Crossing::Expert,
                                             Crossing::Parse("tp-pp-ep-cp-dp"),
                                             Crossing::Parse("dp-ep-cp-pp-tp")})
            {
                for (const auto algorithm : {CollectiveAlgorithm("ring"),
                                             CollectiveAlgorithm("hierarchical"),
                                             CollectiveAlgorithm("halving-doubling"),
                                             CollectiveAlgorithm("bidirectional-ring"),
                                             CollectiveAlgorithm("tree"),
                                             CollectiveAlgorithm("auto")})
                {
                    AddTestCase(new BytesTest(sharding, crossing, algorithm, Bytes(0)));
                }
                AddTestCase(new BytesTest(sharding,
                                          crossing,
                                          CollectiveAlgorithm("hierarchical"),
                                          Bytes(100000)));
            }
        }
    }
};

TrainingSuite g_trainingSuite;

} // namespace
