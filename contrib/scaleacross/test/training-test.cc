// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/engine.h"
#include "server-gpu.h"

#include "ns3/cluster-helper.h"
#include "ns3/fabric-balance.h"
#include "ns3/node.h"
#include "ns3/nvlink-domain.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/training-application.h"

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
        const PreparedRun run = std::get<PreparedRun>(PrepareRun(scenario));
        const TaskGraph& graph = run.graph;
        ClusterHelper cluster(scenario);
        std::vector<Ptr<TrainingApplication>> ranks;
        uint64_t expected = 0;
        for (Rank rank = 0; rank < graph.ranks; rank++)
        {
            auto application = CreateObject<TrainingApplication>();
            application->SetRank(&graph, rank, cluster.GetTransport());
            application->SetIterations(2);
            cluster.GetNode(rank)->AddApplication(application);
            ranks.push_back(application);
            expected +=
                2 * BetweenServers(graph, graph.classes[graph.ClassOf(rank)].program.ops, rank);
        }
        Simulator::Run();
        for (const auto& application : ranks)
        {
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

class TrainingSuite : public TestSuite
{
  public:
    TrainingSuite()
        : TestSuite("scaleacross-training")
    {
        AddTestCase(new NvlinkSharingTest);
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
