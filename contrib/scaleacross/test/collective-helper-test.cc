// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/collective-application.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-building-helper.h"
#include "ns3/fabric-control.h"
#include "ns3/fabric-multipath.h"
#include "ns3/node.h"
#include "ns3/rdma-traffic-application.h"
#include "ns3/rdma-traffic-helper.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::ConfigError;

namespace
{

/**
 * Rings of four NICs on a switch, 100 Gb/s and 1 us to each. A part of S / 4 = 100,000 bytes is 100
 * packets of 1,048 bytes, 83.84 ns each, over two wires: 2 us + 101 x 83.84 ns = 10.46784 us; the
 * whole of S is 400 packets: 35.61984 us. No two messages meet, and each leaves as the one before
 * has come in, behind its one ACK of 60 bytes, 4.8 ns: an all-reduce is 2 x 3 messages and 5 ACKs
 * in a row, a reduce-scatter or all-gather 3 and 2. A second repetition follows without a gap,
 * behind the ACK of the last message of the first.
 */
class RingTimesTest : public TestCase
{
  public:
    RingTimesTest()
        : TestCase("A ring on a switch takes its steps one after the other")
    {
    }

  private:
    void Done(uint32_t repetition, Time took)
    {
        m_repetitions.push_back(repetition);
        m_took.push_back(took.GetPicoSeconds());
    }

    void Check(const std::string& operation, int64_t steps, int64_t message)
    {
        m_repetitions.clear();
        m_took.clear();
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(1'000));
        BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        CollectiveHelper helper(operation, 400'000);
        helper.SetRepetitions(2);
        helper.SetCompletionCallback(MakeCallback(&RingTimesTest::Done, this));
        ApplicationContainer members = helper.Install(fabric, fabric.Nics());
        members.Start(MicroSeconds(5));
        NS_TEST_ASSERT_MSG_EQ(members.GetN(), 4, "a member for every NIC");
        NS_TEST_ASSERT_MSG_EQ(CollectiveHelper::AssignStreams(members, 7), 0, "nothing random");
        Simulator::Run();
        CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_EQ(m_took.size(), 2, "two repetitions of " << operation);
        for (uint32_t i = 0; i < m_took.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(m_repetitions[i], i, "in their order");
            NS_TEST_ASSERT_MSG_EQ_TOL(m_took[i],
                                      steps * message + (steps - 1 + i) * 4'800,
                                      Rounding(2 * steps),
                                      operation << " takes its steps");
        }
        const auto member = DynamicCast<CollectiveApplication>(members.Get(0));
        NS_TEST_ASSERT_MSG_EQ(member->GetGroup()->GetCompleted(), 2, "the group has counted");
        NS_TEST_ASSERT_MSG_EQ(fabric.Connections().size(), 4, "one for every edge of the ring");
        NS_TEST_ASSERT_MSG_EQ(fabric.Connections()[0]->GetLabel(), operation, "which is labelled");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Check("all_reduce", 6, 10'467'840);
        Check("reduce_scatter", 3, 10'467'840);
        Check("all_gather", 3, 10'467'840);
        Check("sendrecv", 1, 35'619'840);
    }

    std::vector<uint32_t> m_repetitions;
    std::vector<int64_t> m_took;
};

/// Each of four members sends a quarter of what it holds to each of three others: 12 x 100,000
/// bytes arrive, 300,000 at each NIC.
class AllToAllTest : public TestCase
{
  public:
    AllToAllTest()
        : TestCase("An all-to-all brings every part to its member")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        CollectiveHelper helper("all_to_all", 400'000);
        helper.Install(fabric, fabric.Nics());
        Simulator::Run();
        for (const auto& nic : fabric.Nics())
        {
            NS_TEST_ASSERT_MSG_EQ(nic->GetDeliveredBytes(), 300'000, "three parts");
        }
        Simulator::Destroy();
    }
};

/// Attributes are those of the time of Install, and members that begin late hold up all others.
class InstallTest : public TestCase
{
  public:
    InstallTest()
        : TestCase("Connections are made as the fabric said at Install")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 3, "100Gbps", MicroSeconds(1));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        CollectiveHelper helper("all_reduce", 30'000);
        ApplicationContainer members = helper.Install(fabric, fabric.Nics());
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(5));
        members.Get(2)->SetStartTime(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(fabric.Connections()[0]->GetNQueuePairs(), 2, "not what came later");
        NS_TEST_ASSERT_MSG_GT(Simulator::Now(), MilliSeconds(1), "all wait for the last one");
        Simulator::Destroy();
    }
};

/**
 * Two buildings of two servers with two NICs: eight NICs, with rails two leaves and a spine in each
 * building, and a span. Two hierarchical members of different buildings exchange what is left
 * inside: of S = 800,000, the span carries S / 4 each way and pair of equals, (n - 1) / n = 1/2 of
 * it twice: 4 x 2 x 100,000 bytes each way. A ring of all eight crosses once each way with 2 x 7 x
 * 100,000 bytes.
 */
class BuildingsTest : public TestCase
{
  public:
    BuildingsTest()
        : TestCase("Two buildings in a few lines, and what crosses between them")
    {
    }

  private:
    uint64_t Crossed(const std::string& algorithm)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        FabricBuildingHelper buildings;
        buildings.AddBuilding(2, 2, DataRate("100Gbps"));
        buildings.AddBuilding(2, 2, DataRate("100Gbps"));
        buildings.AddSpan(0, 1, DataRate("100Gbps"), MicroSeconds(50));
        const std::vector<RdmaNicContainer> nics = buildings.Install(fabric);
        NS_TEST_EXPECT_MSG_EQ(nics.size(), 2, "buildings");
        NS_TEST_EXPECT_MSG_EQ(nics[1].GetN(), 4, "NICs of a building");
        NS_TEST_EXPECT_MSG_EQ(nics[1].GetNodes().GetN(), 2, "servers of a building");
        NS_TEST_EXPECT_MSG_EQ(fabric.Switches().size(), 6, "two leaves and a spine each");
        const auto& wires = buildings.GetSpanWires(1, 0);
        NS_TEST_EXPECT_MSG_EQ(wires.size(), 1, "one lane");
        CollectiveHelper helper("all_reduce", 800'000);
        helper.SetAlgorithm(algorithm);
        helper.Install(fabric, nics);
        Simulator::Run();
        CheckConservation(fabric);
        uint64_t crossed = 0;
        for (const auto& connection : fabric.Connections())
        {
            const auto isIn = [&](const RdmaNicContainer& some, const Ptr<RdmaNic>& nic) {
                return std::find(some.begin(), some.end(), nic) != some.end();
            };
            if (isIn(nics[0], connection->GetSender()) != isIn(nics[0], connection->GetReceiver()))
            {
                crossed += connection->GetRemoteQueuePair(0)->GetCounters().deliveredBytes;
            }
        }
        Simulator::Destroy();
        return crossed;
    }

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Crossed("hierarchical"), 2 * 4 * 2 * 100'000, "in levels");
        NS_TEST_ASSERT_MSG_EQ(Crossed("ring"), 2 * 14 * 100'000, "by one ring");
    }
};

/// The others wait for a member that is disposed of before it began, and the run ends.
class LostMemberTest : public TestCase
{
  public:
    LostMemberTest()
        : TestCase("A member that is gone leaves the others waiting")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 3, "100Gbps", MicroSeconds(1));
        const ApplicationContainer members =
            CollectiveHelper("all_reduce", 3000).Install(fabric, RdmaNicContainer(fabric.Nics()));
        members.Get(0)->Dispose();
        Simulator::Run();
        const auto waiting = DynamicCast<CollectiveApplication>(members.Get(1));
        NS_TEST_ASSERT_MSG_EQ(waiting->GetGroup()->GetCompleted(), 0, "not complete");
        NS_TEST_ASSERT_MSG_NE(waiting->DescribeWait(), "nothing", "it waits");
        Simulator::Destroy();
    }
};

/// What helpers refuse, by the place that the message names.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Mistakes are refused by their names")
    {
    }

  private:
    template <class Action>
    void Refuses(const std::string& where, Action action)
    {
        std::string found = "nothing";
        try
        {
            action();
        }
        catch (const ConfigError& error)
        {
            found = error.Where();
        }
        NS_TEST_ASSERT_MSG_EQ(found, where, "refused");
    }

    void DoRun() override
    {
        Refuses("CollectiveHelper", [] { CollectiveHelper("allreduce", 1); });
        Refuses("CollectiveHelper", [] { CollectiveHelper("all_reduce", 0); });
        Refuses("CollectiveHelper::SetAlgorithm",
                [] { CollectiveHelper("all_reduce", 1).SetAlgorithm("nccl"); });
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        const RdmaNicContainer one(fabric.Nics()[0]);
        Refuses("CollectiveHelper::Install",
                [&] { CollectiveHelper("all_reduce", 1).Install(fabric, one); });
        Refuses("CollectiveHelper::Install", [&] {
            CollectiveHelper("all_reduce", 1).Install(fabric, RdmaNicContainer(one, one));
        });
        Refuses("RdmaNicContainer::Get", [&] { one.Get(1); });
        Refuses("RdmaNicContainer::Add", [] { RdmaNicContainer().Add(Ptr<RdmaNic>()); });
        Refuses("RdmaNicContainer::Add", [] { RdmaNicContainer{Ptr<RdmaNic>()}; });
        FabricBuildingHelper buildings;
        Refuses("FabricBuildingHelper::AddBuilding",
                [&] { buildings.AddBuilding(65'537, 65'537, DataRate("1Gbps")); });
        FabricBuildingHelper spans;
        spans.AddBuilding(1, 1, DataRate("1Gbps"));
        spans.AddBuilding(1, 1, DataRate("1Gbps"));
        spans.AddSpan(0, 1, DataRate("1Gbps"), MilliSeconds(200), 0.5);
        Refuses("FabricBuildingHelper::AddSpan",
                [&] { spans.AddSpan(0, 1, DataRate("1Gbps"), MilliSeconds(201)); });
        Refuses("FabricBuildingHelper::AddSpan",
                [&] { spans.AddSpan(0, 1, DataRate("1Gbps"), MilliSeconds(-1)); });
        Refuses("FabricBuildingHelper::AddSpan",
                [&] { spans.AddSpan(0, 1, DataRate("0bps"), MilliSeconds(1)); });
        Refuses("FabricBuildingHelper::AddSpan",
                [&] { spans.AddSpan(0, 1, DataRate("1Gbps"), MilliSeconds(1), 0.6); });
        Refuses("FabricBuildingHelper::AddBuilding",
                [&] { buildings.AddBuilding(0, 1, DataRate("1Gbps")); });
        Refuses("FabricBuildingHelper::AddSpan",
                [&] { buildings.AddSpan(0, 1, DataRate("1Gbps"), MicroSeconds(1)); });
        Refuses("FabricBuildingHelper::Install", [&] { buildings.Install(fabric); });
        FabricHelper other;
        BuildStar(other, 3, "100Gbps", MicroSeconds(1));
        Refuses("FabricHelper::CreateConnection",
                [&] { fabric.CreateConnection(other.Nics()[0], other.Nics()[1]); });
        Refuses("UseMultipath", [&] { UseMultipath(fabric, scaleacross::Multipath("ecmp")); });
        Refuses("UseControl", [&] { UseControl(fabric, scaleacross::CongestionControl("dcqcn")); });
        const Ptr<Node> host = CreateObject<Node>();
        const Ptr<CollectiveApplication> noRank = CreateObject<CollectiveApplication>();
        host->AddApplication(noRank);
        Refuses("TrainingApplication", [&] { noRank->GetTimes(); });
        Refuses("TrainingApplication", [&] { noRank->DescribeWait(); });
        Refuses("TrainingApplication", [] { Simulator::Run(); });
        Simulator::Destroy();
        const Ptr<Node> second = CreateObject<Node>();
        second->AddApplication(CreateObject<RdmaTrafficApplication>());
        Refuses("RdmaTrafficApplication", [] { Simulator::Run(); });
        Simulator::Destroy();
        // The fabric's nodes are gone.
        Refuses("RdmaNicContainer::GetNode", [&] { RdmaNicContainer(fabric.Nics()).GetNodes(); });
        Refuses("RdmaNicContainer::GetNode", [&] {
            CollectiveHelper("all_reduce", 1).Install(fabric, RdmaNicContainer(fabric.Nics()));
        });
        Refuses("RdmaNicContainer::GetNode", [&] {
            RdmaTrafficHelper("hadoop", 0.5).Install(fabric, RdmaNicContainer(fabric.Nics()));
        });
    }
};

class CollectiveHelperSuite : public TestSuite
{
  public:
    CollectiveHelperSuite()
        : TestSuite("scaleacross-collective-helper")
    {
        AddTestCase(new RingTimesTest);
        AddTestCase(new AllToAllTest);
        AddTestCase(new InstallTest);
        AddTestCase(new BuildingsTest);
        AddTestCase(new LostMemberTest);
        AddTestCase(new RefusalTest);
    }
};

CollectiveHelperSuite g_collectiveHelperSuite;

} // namespace
