// SPDX-License-Identifier: GPL-2.0-only

// What the keys of a study set in ns-3, and what they leave to network.ns3.

#include "attribute-lottery.h"
#include "core/base/errors.h"
#include "server-gpu.h"

#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/dcqcn.h"
#include "ns3/double.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-multipath.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/loss-model.h"
#include "ns3/path-selector.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-entropy-ops.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/receiver-admission.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/study-attributes.h"
#include "ns3/switch-port.h"
#include "ns3/test.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace ns3;
using namespace scaleacross;

namespace
{

/// A line of buildings with one server of one GPU each, a leaf and a spine.
Scenario
LineOf(uint32_t buildings)
{
    Scenario scenario;
    for (uint32_t i = 0; i < buildings; ++i)
    {
        BuildingSpec building;
        building.name = "b" + std::to_string(i);
        building.gpus = 1;
        building.gpusPerNode = 1;
        building.gpu = ServerGpu();
        building.fabric.spines = 1;
        scenario.cluster.buildings.push_back(building);
        if (i > 0)
        {
            CrossLinkSpec span;
            span.a = i - 1;
            span.b = i;
            span.distance = Distance(1);
            span.latency = FibreDelay(span.distance);
            span.capacity = GigabitsPerSecond(400);
            scenario.cluster.crossLinks.push_back(span);
        }
    }
    scenario.cluster.Validate();
    return scenario;
}

/// What a key of the study stands for is not taken from network.ns3, where it would be overridden.
class OwnedAttributesTest : public TestCase
{
  public:
    OwnedAttributesTest()
        : TestCase("Attributes that a key of the study sets are refused under network.ns3")
    {
    }

  private:
    void DoRun() override
    {
        Scenario scenario = LineOf(2);
        for (const auto& [name, key, valueOf] : StudyAttributes())
        {
            const size_t colons = name.rfind("::");
            TypeId type;
            TypeId::AttributeInformation attribute;
            const bool found = TypeId::LookupByNameFailSafe(name.substr(0, colons), &type) &&
                               type.LookupAttributeByName(name.substr(colons + 2), &attribute);
            NS_TEST_ASSERT_MSG_EQ(found, true, name << " is an attribute");
            scenario.network.ns3Attributes = {{name, "1"}};
            std::string where;
            std::string problem;
            try
            {
                ClusterHelper cluster(scenario);
            }
            catch (const ConfigError& error)
            {
                where = error.Where();
                problem = error.Problem();
            }
            NS_TEST_EXPECT_MSG_EQ(where, "network.ns3." + name, problem);
            NS_TEST_EXPECT_MSG_EQ(problem, "is set by " + key, name);
            Simulator::Destroy();
        }
        // By a derived type's name ns-3 would abort.
        NS_TEST_EXPECT_MSG_EQ(RemedyFor("ns3::RdmaNic::IpMtu", "1000", scenario),
                              "write ns3::FabricDevice::IpMtu",
                              "inherited");
        NS_TEST_EXPECT_MSG_EQ(RemedyFor("ns3::SwitchPort::DataRate", "1Gbps", scenario),
                              "set cluster instead",
                              "inherited, and a key's");
        NS_TEST_EXPECT_MSG_EQ(RemedyFor("ns3::Dcqcn::AlphaTimer", "0s", scenario).empty(),
                              false,
                              "a timer that never gets on");
        scenario.network.ns3Attributes = {{"ns3::FabricSwitch::EcnKmin", "7000"}};
        ClusterHelper cluster(scenario); // is not refused
        Simulator::Destroy();
    }

    static std::string RemedyFor(const std::string& name,
                                 const std::string& value,
                                 Scenario scenario)
    {
        scenario.network.ns3Attributes = {{name, value}};
        try
        {
            CheckAttributes(scenario.network);
        }
        catch (const ConfigError& error)
        {
            return error.Remedy();
        }
        return "";
    }
};

/**
 * Whatever attribute network.ns3 sets: either it is refused, or everything of its type that the
 * study's fabric has, has its value. Nothing is overridden silently.
 *
 * Attributes and values are those that AttributeLottery draws, and those that it has an excuse for;
 * the networks around them are of words drawn from the registries.
 */
class NothingIsOverriddenTest : public TestCase
{
  public:
    NothingIsOverriddenTest()
        : TestCase("An attribute under network.ns3 is refused or holds")
    {
    }

  private:
    using Attributes = std::map<std::string, std::string>;

    void DoRun() override
    {
        std::mt19937 random(20261123);
        for (uint32_t round = 0; round < 3; ++round)
        {
            for (const auto& attribute : DrawnAttributes(random))
            {
                Check(attribute, random);
            }
        }
    }

    /// Whether only scripts make such objects in a fabric, or in one with FabricWire::LossModel.
    static bool IsMadeByScripts(const std::string& name)
    {
        const TypeId type = TypeId::LookupByName(name.substr(0, name.rfind("::")));
        return type.IsChildOf(FabricLossModel::GetTypeId());
    }

    /// Another value than usual for each attribute that one is drawn for.
    static Attributes DrawnAttributes(std::mt19937& random)
    {
        Attributes attributes{
            // What the lottery leaves alone, since something else of a fabric sets it.
            {"ns3::DestinationModKSelector::Divisor", "3"},
            {"ns3::FabricPort::DataRate", "77Gbps"},
            {"ns3::FabricPort::Eager", "true"},
            {"ns3::FabricSwitch::Credits", "true"},
            {"ns3::FabricSwitch::LaneMap", "in any out 1 3:3"},
            {"ns3::FabricSwitch::LookAhead", "true"},
            {"ns3::FabricWire::Delay", "7us"},
            {"ns3::FabricWire::LossModel", "ns3::GilbertElliottLossModel[GoodToBad=0.25]"},
            {"ns3::FabricWire::LossRate", "0.25"},
            {"ns3::RdmaNic::FabricAddress", "7"},
            {"ns3::RdmaNic::LookAhead", "true"},
            {"ns3::RdmaNic::StalledLanes", "2"},
            {"ns3::StagedLink::Handover", "7us"},
            {"ns3::StagedLink::ReceiverMemoryRate", "7Gbps"},
            {"ns3::StagedLink::SenderMemoryRate", "7Gbps"},
            {"ns3::StagedLink::SlotSize", "7"},
            {"ns3::StagedLink::Slots", "7"},
        };
        // Half of them are drawn at a time.
        for (uint32_t i = 0; i < 6; ++i)
        {
            fabrictest::AttributeLottery lottery(random);
            for (const TypeId& type : fabrictest::AttributeLottery::Types())
            {
                lottery.Draw(type);
            }
            attributes.insert(lottery.Drawn().begin(), lottery.Drawn().end());
            Config::Reset();
        }
        return attributes;
    }

    template <class Vocabulary>
    static void DrawWord(Vocabulary& word, std::mt19937& random)
    {
        const auto& rows = Vocabulary::Rows();
        word = Vocabulary(*rows[random() % rows.size()]);
    }

    /// A study whose fabric can be built, whatever words it has.
    static Scenario DrawScenario(std::mt19937& random)
    {
        Scenario scenario = LineOf(2);
        while (true)
        {
            NetworkPlan& network = scenario.network;
            DrawWord(network.transport, random);
            DrawWord(network.multipath, random);
            DrawWord(network.control, random);
            DrawWord(network.recovery, random);
            DrawWord(network.balance, random);
            network.admission = Bytes(random() % 2 * 1'000'000);
            try
            {
                network.Validate();
                const ClusterHelper cluster(scenario);
                return scenario;
            }
            catch (const ConfigError&)
            {
                Simulator::Destroy();
            }
        }
    }

    /// Draws studies until one refuses the attribute as its own or has something of its type.
    void Check(const Attributes::value_type& attribute, std::mt19937& random)
    {
        bool told = IsMadeByScripts(attribute.first);
        for (uint32_t draw = 0; !told && draw < 300; ++draw)
        {
            told = IsTold(attribute, DrawScenario(random));
            Simulator::Destroy();
            Config::Reset();
        }
        NS_TEST_EXPECT_MSG_EQ(told, true, attribute.first << " was met nowhere");
    }

    bool IsTold(const Attributes::value_type& attribute, Scenario scenario)
    {
        const auto& [name, value] = attribute;
        scenario.network.ns3Attributes = {attribute};
        if (name == "ns3::InfinibandCc::Table")
        {
            const auto entries = std::count(value.begin(), value.end(), ',') + 1;
            scenario.network.ns3Attributes["ns3::InfinibandCc::Limit"] =
                std::to_string(entries - 1); // the one that goes with it
        }
        bool told = false;
        try
        {
            CheckAttributes(scenario.network);
            SetAttributeDefaults(scenario.network.ns3Attributes, "network.ns3.");
            ClusterHelper cluster(scenario);
            cluster.GetTransport()->Send(0, 1, Bytes(1000), 1);
            for (const Ptr<Object>& object : ObjectsOf(cluster))
            {
                told = Expect(*object, name, value, scenario) || told;
            }
        }
        catch (const ConfigError&)
        {
            // Not a row of the table: some word or size of this study does not go with it.
            told = told || IsOwned(name);
        }
        return told;
    }

    static bool IsOwned(const std::string& name)
    {
        const auto& rows = StudyAttributes();
        return std::any_of(rows.begin(), rows.end(), [&](const StudyAttribute& row) {
            return row.name == name;
        });
    }

    /// What a study's fabric consists of, and the connection of its one message.
    static std::vector<Ptr<Object>> ObjectsOf(const ClusterHelper& cluster)
    {
        std::vector<Ptr<Object>> objects;
        const FabricHelper& fabric = cluster.GetFabric();
        for (const auto& fabricSwitch : fabric.Switches())
        {
            objects.push_back(fabricSwitch);
            objects.push_back(fabricSwitch->GetPathSelector());
            for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
            {
                objects.push_back(fabricSwitch->GetPort(i));
            }
        }
        objects.insert(objects.end(), fabric.Wires().begin(), fabric.Wires().end());
        objects.insert(objects.end(), fabric.Nics().begin(), fabric.Nics().end());
        for (const auto& connection : fabric.Connections())
        {
            objects.push_back(connection);
            for (uint32_t i = 0; i < connection->GetNQueuePairs(); ++i)
            {
                const auto queuePair = connection->GetQueuePair(i);
                objects.push_back(queuePair);
                objects.push_back(queuePair->GetCongestionOps());
                objects.push_back(queuePair->GetEntropyOps());
            }
        }
        objects.push_back(ReceiverAdmission::Of(fabric.Nics().back()));
        objects.erase(std::remove(objects.begin(), objects.end(), nullptr), objects.end());
        return objects;
    }

    /// False for an object of another type.
    bool Expect(const Object& object,
                const std::string& name,
                const std::string& value,
                const Scenario& scenario)
    {
        const size_t colons = name.rfind("::");
        const TypeId type = TypeId::LookupByName(name.substr(0, colons));
        if (object.GetInstanceTypeId() != type && !object.GetInstanceTypeId().IsChildOf(type))
        {
            return false;
        }
        TypeId::AttributeInformation attribute;
        type.LookupAttributeByName(name.substr(colons + 2), &attribute);
        const auto expected = attribute.checker->CreateValidValue(StringValue(value));
        StringValue held;
        object.GetAttribute(attribute.name, held);
        NS_TEST_EXPECT_MSG_EQ(held.Get(),
                              expected->SerializeToString(attribute.checker),
                              name << " of " << object.GetInstanceTypeId().GetName() << " with "
                                   << scenario.network.transport.Name() << ", "
                                   << scenario.network.multipath.Name() << ", "
                                   << scenario.network.control.Name() << ", "
                                   << scenario.network.recovery.Name());
        return true;
    }
};

/// UseMultipath sets what it says it sets, leaves what was chosen, and nothing of it stays when
/// another one is used.
class MultipathAttributesTest : public TestCase
{
  public:
    MultipathAttributesTest()
        : TestCase("UseMultipath sets its attributes, but those that were chosen")
    {
    }

  private:
    struct Marks
    {
        uint64_t priorities;
        uint64_t reference; //!< bit/s
        uint64_t kmin;
        uint64_t kmax;
        double pmax;
    };

    static Marks MarksOf(FabricHelper& fabric)
    {
        Ptr<FabricSwitch> made = fabric.AddSwitch();
        UintegerValue priorities;
        UintegerValue kmin;
        UintegerValue kmax;
        DataRateValue reference;
        DoubleValue pmax;
        made->GetAttribute("EcnPriorities", priorities);
        made->GetAttribute("EcnReferenceRate", reference);
        made->GetAttribute("EcnKmin", kmin);
        made->GetAttribute("EcnKmax", kmax);
        made->GetAttribute("EcnPmax", pmax);
        return {priorities.Get(), reference.Get().GetBitRate(), kmin.Get(), kmax.Get(), pmax.Get()};
    }

    void Expect(FabricHelper& fabric, const Marks& expected, const std::string& what)
    {
        const Marks marks = MarksOf(fabric);
        NS_TEST_EXPECT_MSG_EQ(marks.priorities, expected.priorities, what);
        NS_TEST_EXPECT_MSG_EQ(marks.reference, expected.reference, what);
        NS_TEST_EXPECT_MSG_EQ(marks.kmin, expected.kmin, what);
        NS_TEST_EXPECT_MSG_EQ(marks.kmax, expected.kmax, what);
        NS_TEST_EXPECT_MSG_EQ(marks.pmax, expected.pmax, what);
    }

    void DoRun() override
    {
        const uint64_t reference = 100'000'000'000;
        const Marks byDefault{0, 0, 5000, 200'000, 0.01}; // FabricSwitch's attributes
        FabricHelper fabric;
        UseMultipath(fabric, Multipath("reps"));
        Expect(fabric, {1U << 3, reference, 20'000, 80'000, 1.0}, "REPS");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetQueuePairAttribute("EntropyOps"),
                              "ns3::RecycledEntropy",
                              "REPS");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetQueuePairAttribute("SendCnps"), "false", "nobody wants it");
        UseMultipath(fabric, Multipath("ecmp"));
        Expect(fabric, byDefault, "ECMP after REPS");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetQueuePairAttribute("EntropyOps"),
                              "ns3::RdmaEntropyOps",
                              "none after REPS");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetQueuePairAttribute("SendCnps"), "true", "as by default");

        // Another priority, and a congestion control that goes by CNPs.
        fabric.SetQueuePairAttribute("Priority", UintegerValue(5));
        fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(Dcqcn::GetTypeId()));
        UseMultipath(fabric, Multipath("reps"));
        Expect(fabric, {1U << 5, reference, 20'000, 80'000, 1.0}, "priority 5");
        NS_TEST_EXPECT_MSG_EQ(fabric.GetQueuePairAttribute("SendCnps"), "true", "for DCQCN");

        // What was chosen, as by network.ns3; 0 is a choice too.
        Config::SetDefault("ns3::FabricSwitch::EcnPriorities", UintegerValue(0));
        Config::SetDefault("ns3::FabricSwitch::EcnKmin", UintegerValue(7000));
        Config::SetDefault("ns3::RdmaQueuePair::SendCnps", BooleanValue(true));
        FabricHelper chosen;
        UseMultipath(chosen,
                     Multipath("reps"),
                     {"ns3::FabricSwitch::EcnPriorities",
                      "ns3::FabricSwitch::EcnKmin",
                      "ns3::RdmaQueuePair::SendCnps"});
        Expect(chosen, {0, reference, 7000, 80'000, 1.0}, "chosen");
        NS_TEST_EXPECT_MSG_EQ(chosen.GetQueuePairAttribute("SendCnps"), "true", "chosen");
        Config::Reset();
        Simulator::Destroy();
    }
};

/**
 * A line of 64 buildings: from the first to the last a packet passes a leaf, 64 spines and a leaf,
 * 66 switches. ClusterHelper's limit allows that; the NIC's own 64, if chosen, does not.
 */
class HopLimitTest : public TestCase
{
  public:
    HopLimitTest()
        : TestCase("Packets get through the longest line of buildings")
    {
    }

  private:
    void Arrived(const RankMessage&)
    {
        ++m_arrived;
    }

    void DoRun() override
    {
        for (const bool chosen : {false, true})
        {
            Scenario scenario = LineOf(64);
            if (chosen)
            {
                scenario.network.ns3Attributes = {{"ns3::RdmaNic::HopLimit", "64"}};
            }
            ClusterHelper cluster(scenario);
            m_arrived = 0;
            cluster.GetTransport()->SetDelivery(63, MakeCallback(&HopLimitTest::Arrived, this));
            cluster.GetTransport()->Send(0, 63, Bytes(1000), 1);
            Simulator::Stop(MilliSeconds(10)); // before the first timeout, 67 ms
            Simulator::Run();
            uint64_t dropped = 0;
            for (const auto& fabricSwitch : cluster.GetFabric().Switches())
            {
                dropped += fabricSwitch->GetDrops(DropReason::HopLimit);
            }
            NS_TEST_EXPECT_MSG_EQ(m_arrived, (chosen ? 0 : 1), "the message");
            NS_TEST_EXPECT_MSG_EQ(dropped, (chosen ? 1 : 0), "dropped by the limit");
            Simulator::Destroy();
        }
    }

    uint32_t m_arrived{0};
};

/**
 * network.headers is what a data packet adds on the wire, and 0B is nothing: 10,000 bytes with an
 * MTU of 4,096 are three packets, which take 10,000 + 3 * headers bytes; by default, 82 each. No
 * size of the NIC is left for network.ns3 to set in vain.
 */
class HeadersTest : public TestCase
{
  public:
    HeadersTest()
        : TestCase("Headers of a study, none included")
    {
    }

  private:
    void Arrived(const RankMessage&)
    {
        ++m_arrived;
    }

    void DoRun() override
    {
        for (const std::optional<uint64_t> headers : {std::optional<uint64_t>(), {0}, {1}, {90}})
        {
            Scenario scenario = LineOf(2);
            if (headers)
            {
                scenario.network.headers = Bytes(*headers);
            }
            ClusterHelper cluster(scenario);
            m_arrived = 0;
            cluster.GetTransport()->SetDelivery(1, MakeCallback(&HeadersTest::Arrived, this));
            cluster.GetTransport()->Send(0, 1, Bytes(10'000), 1);
            cluster.GetTransport()->Send(0, 1, Bytes(0), 2);
            Simulator::Stop(MilliSeconds(10)); // before the first timeout, 67 ms
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(m_arrived, 2, "headers " << headers.value_or(82));
            // And an empty packet, which takes at least a byte.
            const uint64_t empty = std::max<uint64_t>(1, headers.value_or(82));
            NS_TEST_EXPECT_MSG_EQ(cluster.GetFabric().Nics()[0]->GetSentBytes(),
                                  10'000 + 3 * headers.value_or(82) + empty,
                                  "headers " << headers.value_or(82));
            CheckConservation(cluster.GetFabric());
            Simulator::Destroy();
        }
        for (const char* size :
             {"HeaderSize", "FrameSize", "RethSize", "ImmediateSize", "MinWireSize"})
        {
            Scenario scenario = LineOf(2);
            const std::string name = std::string("ns3::RdmaNic::") + size;
            scenario.network.ns3Attributes = {{name, "78"}};
            std::string remedy;
            try
            {
                ClusterHelper cluster(scenario);
            }
            catch (const ConfigError& error)
            {
                remedy = error.Remedy();
            }
            NS_TEST_EXPECT_MSG_EQ(remedy, "set network.headers instead", name);
            Simulator::Destroy();
        }
    }

    uint32_t m_arrived{0};
};

class StudyAttributesSuite : public TestSuite
{
  public:
    StudyAttributesSuite()
        : TestSuite("scaleacross-study-attributes")
    {
        AddTestCase(new OwnedAttributesTest);
        AddTestCase(new NothingIsOverriddenTest);
        AddTestCase(new MultipathAttributesTest);
        AddTestCase(new HopLimitTest);
        AddTestCase(new HeadersTest);
    }
};

StudyAttributesSuite g_studyAttributesSuite;

} // namespace
