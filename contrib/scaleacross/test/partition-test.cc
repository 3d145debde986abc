// SPDX-License-Identifier: GPL-2.0-only

// Nodes of other processes, as a run that is partitioned over MPI has them: each way of giving one
// to the module is refused before anything is sent. No MPI is needed: without it this process is 0.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/default-simulator-impl.h"
#include "ns3/fabric-building-helper.h"
#include "ns3/foreign-source.h"
#include "ns3/node.h"
#include "ns3/rdma-traffic-application.h"
#include "ns3/training-application.h"

#include <functional>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;

namespace
{

/// Process 1 of a run, as DistributedSimulatorImpl is there.
class SecondProcess : public DefaultSimulatorImpl
{
  public:
    uint32_t GetSystemId() const override
    {
        return 1;
    }
};

class PartitionTest : public TestCase
{
  public:
    PartitionTest()
        : TestCase("Nodes of another process are refused")
    {
    }

  private:
    /// The action throws a ConfigError at that place which says so and what to do.
    void Refused(const std::string& where, const std::function<void()>& action, uint32_t own = 0)
    {
        const std::string ids = "has systemId " + std::to_string(1 - own) +
                                ", and this process simulates " + std::to_string(own);
        try
        {
            action();
        }
        catch (const ConfigError& error)
        {
            NS_TEST_EXPECT_MSG_EQ(error.Where(), where, error.what());
            NS_TEST_EXPECT_MSG_NE(error.Problem().find(ids), std::string::npos, error.what());
            NS_TEST_EXPECT_MSG_NE(error.Remedy().find("one process"), std::string::npos, where);
            return;
        }
        NS_TEST_EXPECT_MSG_EQ(true, false, where << ": accepted");
    }

    void AtOnce()
    {
        Refused("FabricHelper::AddNic", [] { FabricHelper().AddNic(CreateObject<Node>(1)); });
        Refused("ns3::RdmaNic", [] { CreateObject<Node>(1)->AddDevice(CreateObject<RdmaNic>()); });
        Refused("ns3::SwitchPort", [] {
            const auto fabricSwitch = CreateObject<FabricSwitch>();
            CreateObject<Node>(1)->AggregateObject(fabricSwitch);
            fabricSwitch->AddPort();
        });
        Refused("FabricWire::Attach", [] {
            FabricHelper fabric;
            const Ptr<RdmaNic> near = fabric.AddNic(fabric.AddHost());
            const Ptr<RdmaNic> far = fabric.AddNic(fabric.AddHost());
            far->GetNode()->SetAttribute("SystemId", UintegerValue(1));
            CreateObject<FabricWire>()->Attach(near, far);
        });
        Simulator::Destroy();
    }

    /// One of two hosts is moved to another process when all is connected: not a packet leaves.
    void Later()
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        const Ptr<RdmaNic> from = fabric.Nics()[0];
        fabric.CreateConnection(from, fabric.Nics()[1])->Send(Bytes(kMiB), 0);
        fabric.Nics()[1]->GetNode()->SetAttribute("SystemId", UintegerValue(1));
        Refused("ns3::RdmaNic", [] { Simulator::Run(); });
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), Time(0), "before the run");
        NS_TEST_EXPECT_MSG_EQ(from->GetSentBytes(), 0, "nothing has left");
        Simulator::Destroy();
    }

    template <typename App>
    void OfApplication()
    {
        const auto node = CreateObject<Node>(1);
        node->AddApplication(CreateObject<App>());
        Refused(App::GetTypeId().GetName(), [] { Simulator::Run(); });
        Simulator::Destroy();
    }

    /// The other process builds the same, and does not simulate it either.
    void InSecondProcess()
    {
        Simulator::SetImplementation(CreateObject<SecondProcess>());
        FabricHelper fabric;
        Refused(
            "FabricHelper::AddHost",
            [&fabric] { fabric.AddHost(); },
            1);
        Refused(
            "FabricHelper::AddSwitch",
            [&fabric] { fabric.AddSwitch(); },
            1);
        Refused(
            "FabricHelper::AddHost",
            [&fabric] {
                FabricBuildingHelper buildings;
                buildings.AddBuilding(2, 1, DataRate("100Gbps"));
                buildings.Install(fabric);
            },
            1);
        fabric.AddNic(CreateObject<Node>(1)); // its own
        Simulator::Destroy();
    }

    /// One that is gone before time zero is on no node, and is not asked for.
    static void Disposed()
    {
        const auto source = CreateObject<ForeignSource>();
        CreateObject<Node>()->AddApplication(source);
        source->Dispose();
        Simulator::Run();
        Simulator::Destroy();
    }

    void DoRun() override
    {
        AtOnce();
        Later();
        OfApplication<ForeignSource>();
        OfApplication<RdmaTrafficApplication>();
        OfApplication<TrainingApplication>();
        InSecondProcess();
        Disposed();
    }
};

class PartitionSuite : public TestSuite
{
  public:
    PartitionSuite()
        : TestSuite("scaleacross-partition")
    {
        AddTestCase(new PartitionTest);
    }
};

PartitionSuite g_partitionSuite;

} // namespace
