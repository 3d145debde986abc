// SPDX-License-Identifier: GPL-2.0-only

// When attributes may be set. The registry of types is the list: whatever attribute is added to the
// module is tested here.

#include "attribute-lottery.h"
#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/attribute-guard.h"
#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/dcqcn.h"
#include "ns3/double.h"
#include "ns3/fabric-events.h"
#include "ns3/foreign-source.h"
#include "ns3/nstime.h"
#include "ns3/path-selector.h"
#include "ns3/random-spray-selector.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/receiver-admission.h"
#include "ns3/staged-link.h"
#include "ns3/string.h"
#include "ns3/training-application.h"
#include "ns3/type-id.h"

#include <map>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;

namespace
{

/// All attributes of the module that can be set, by the type that declares them.
std::vector<std::pair<TypeId, TypeId::AttributeInformation>>
Attributes()
{
    std::vector<std::pair<TypeId, TypeId::AttributeInformation>> all;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        for (std::size_t k = 0; type.GetGroupName() == "ScaleAcross" && k < type.GetAttributeN();
             ++k)
        {
            if (type.GetAttribute(k).accessor->HasSetter())
            {
                all.emplace_back(type, type.GetAttribute(k));
            }
        }
    }
    return all;
}

/// Values worth trying for an attribute, in the order of preference.
std::vector<Ptr<AttributeValue>>
Candidates(const TypeId::AttributeInformation& attribute, const AttributeValue& now)
{
    std::vector<std::string> texts;
    if (const auto* number = dynamic_cast<const UintegerValue*>(&now))
    {
        const uint64_t n = number->Get();
        for (const uint64_t other : {n / 2, n + 1, n - 1})
        {
            texts.push_back(std::to_string(other));
        }
    }
    else if (const auto* real = dynamic_cast<const DoubleValue*>(&now))
    {
        for (const double other : {real->Get() / 2, real->Get() + 0.25, real->Get() - 0.25})
        {
            texts.push_back(std::to_string(other));
        }
    }
    else if (const auto* time = dynamic_cast<const TimeValue*>(&now))
    {
        texts = {std::to_string(time->Get().GetPicoSeconds() / 2) + "ps", "3us"};
    }
    else if (const auto* rate = dynamic_cast<const DataRateValue*>(&now))
    {
        texts = {std::to_string(rate->Get().GetBitRate() / 2) + "bps", "50Gbps"};
    }
    else if (const auto* flag = dynamic_cast<const BooleanValue*>(&now))
    {
        texts = {flag->Get() ? "false" : "true"};
    }
    else if (const auto words = AttributeLottery::WordsOf(attribute); !words.empty())
    {
        texts = words;
    }
    else
    {
        // Types and texts, each attribute with a language of its own.
        static const std::map<std::string, std::string> kOthers = {
            {"Quanta", "0,0,0,10000,30000,0,0,0"},
            {"LaneArbitration", "low 0:1,3:200,4:100"},
            {"LaneMap", "in any out any 0:0"},
            {"HashFields", "source,destination"},
            {"Label", "a-word"},
            {"LossModel", "ns3::IidLossModel[LossRate=0.01]"},
            {"Table", "0:0,2:4"},
            {"PathSelector", "ns3::RandomSpraySelector"},
            {"CongestionOps", "ns3::DctcpLike"},
            {"EntropyOps", "ns3::RandomEntropy"},
        };
        const auto other = kOthers.find(attribute.name);
        if (other != kOthers.end())
        {
            texts = {other->second};
        }
    }
    std::vector<Ptr<AttributeValue>> values;
    for (const std::string& text : texts)
    {
        if (Ptr<AttributeValue> value = attribute.checker->CreateValidValue(StringValue(text)))
        {
            values.push_back(value);
        }
    }
    return values;
}

std::string
TextOf(const TypeId::AttributeInformation& attribute, const ObjectBase& object)
{
    Ptr<AttributeValue> value = attribute.checker->Create();
    attribute.accessor->Get(&object, *value);
    return value->SerializeToString(attribute.checker);
}

/// Another legal value; null if none is known.
Ptr<AttributeValue>
AnotherValue(const TypeId::AttributeInformation& attribute, const ObjectBase& object)
{
    Ptr<AttributeValue> now = attribute.checker->Create();
    attribute.accessor->Get(&object, *now);
    const std::string text = now->SerializeToString(attribute.checker);
    for (const auto& value : Candidates(attribute, *now))
    {
        if (value->SerializeToString(attribute.checker) != text)
        {
            return value;
        }
    }
    return nullptr;
}

/// Two leaves with two hosts each and two spines, and traffic that uses a type of the module.
class Scene
{
  public:
    explicit Scene(TypeId type)
        : m_type(type)
    {
        m_fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(9000)); // for telemetry
        UseType();
        for (uint32_t i = 0; i < 2; ++i)
        {
            m_fabric.AddSwitch();
        }
        for (uint32_t i = 0; i < 4; ++i)
        {
            const Ptr<RdmaNic> nic = m_fabric.AddNic(m_fabric.AddHost());
            m_fabric.Connect(nic, m_fabric.Switches()[i / 2], kRate, kDelay);
        }
        for (uint32_t i = 0; i < 2; ++i)
        {
            const Ptr<FabricSwitch> spine = m_fabric.AddSwitch();
            m_fabric.Connect(m_fabric.Switches()[0], spine, kRate, kDelay);
            m_fabric.Connect(m_fabric.Switches()[1], spine, kRate, kDelay);
        }
        if (type.IsChildOf(FabricLossModel::GetTypeId()) && type.HasConstructor())
        {
            m_fabric.Wires()[0]->SetLossModels(type.GetName());
        }
        m_fabric.InstallRoutes();
        m_fabric.AssignStreams(1);
    }

    /// Messages from all hosts of a leaf to one of the other, and back.
    void Connect()
    {
        for (const auto& [from, to] : {std::pair(0, 2), {1, 2}, {3, 0}})
        {
            const auto connection =
                m_fabric.CreateConnection(m_fabric.Nics()[from], m_fabric.Nics()[to]);
            m_log.Watch(connection);
            for (uint64_t tag = 0; tag < 4; ++tag)
            {
                connection->Send(Bytes(100'000), tag);
            }
        }
        if (m_type == StagedLink::GetTypeId())
        {
            m_staged = CreateObject<StagedLink>();
            m_staged->Connect([](Bytes, uint64_t) {}, []() {}, [](uint64_t) {});
            m_staged->Send(Bytes(10 << 20), 1);
        }
        if (m_type == ForeignSource::GetTypeId())
        {
            auto source = CreateObject<ForeignSource>();
            source->SetEnds(m_fabric.Nics()[1], m_fabric.Nics()[3]);
            source->SetStopTime(MicroSeconds(40));
            source->AssignStreams(1000);
            m_fabric.Nics()[1]->GetNode()->AddApplication(source);
            m_application = source;
        }
        if (m_type == TrainingApplication::GetTypeId())
        {
            CollectiveHelper helper("all_reduce", 100'000);
            helper.SetRepetitions(4);
            m_application = helper.Install(m_fabric, m_fabric.Nics()).Get(0);
        }
        if (m_type == FabricEvents::GetTypeId())
        {
            m_events = CreateObject<FabricEvents>();
            m_events->SetFabric(m_fabric);
            m_events->Fail(FabricEvents::LinkTarget(m_fabric.Wires()[4]),
                           MicroSeconds(10),
                           MicroSeconds(40));
        }
    }

    /// An object of the type, or of one derived from it, that is in use; null if there is none.
    Ptr<Object> Find()
    {
        const Ptr<RdmaConnection> connection = m_fabric.Connections().front();
        const Ptr<RdmaQueuePair> sender = connection->GetQueuePair(0);
        const std::vector<Ptr<Object>> all = {m_fabric.Nics()[0],
                                              m_fabric.Switches()[0],
                                              m_fabric.Switches()[0]->GetPort(2),
                                              m_fabric.Wires()[0],
                                              connection,
                                              sender,
                                              m_fabric.Switches()[0]->GetPathSelector(),
                                              sender->GetCongestionOps(),
                                              sender->GetEntropyOps(),
                                              m_fabric.Wires()[0]->GetLossModel(0),
                                              m_fabric.Nics()[2]->GetObject<ReceiverAdmission>(),
                                              m_staged,
                                              m_application,
                                              m_events};
        for (const auto& object : all)
        {
            if (object && (object->GetInstanceTypeId() == m_type ||
                           object->GetInstanceTypeId().IsChildOf(m_type)))
            {
                return object;
            }
        }
        return nullptr;
    }

    FabricHelper& Fabric()
    {
        return m_fabric;
    }

    /// What the run came to, to be compared.
    std::vector<Event> Outcome() const
    {
        std::vector<Event> all = m_log.delivered;
        all.insert(all.end(), m_log.completed.begin(), m_log.completed.end());
        for (const auto& fabricSwitch : m_fabric.Switches())
        {
            all.push_back({fabricSwitch->GetPauses(),
                           fabricSwitch->GetEcnMarked(),
                           static_cast<int64_t>(fabricSwitch->GetDrops())});
        }
        return all;
    }

    /// Everything was delivered, or failed by name.
    bool Ended() const
    {
        return m_log.delivered.size() == 12 || !m_log.failures.empty();
    }

  private:
    static inline const DataRate kRate{"100Gbps"};
    static inline const Time kDelay{MicroSeconds(1)};

    void UseType()
    {
        if (m_type.IsChildOf(RdmaCongestionOps::GetTypeId()) && m_type.HasConstructor())
        {
            m_fabric.SetQueuePairAttribute("CongestionOps", TypeIdValue(m_type));
        }
        if (m_type.IsChildOf(PathSelector::GetTypeId()) && m_type.HasConstructor())
        {
            m_fabric.SetSwitchAttribute("PathSelector", TypeIdValue(m_type));
        }
        if (m_type.IsChildOf(RdmaEntropyOps::GetTypeId()) && m_type.HasConstructor())
        {
            m_fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(m_type));
        }
        if (m_type == ReceiverAdmission::GetTypeId())
        {
            m_fabric.SetConnectionAttribute("ClearToSend", BooleanValue(true));
        }
        m_fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
        m_fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(64));
        m_fabric.SetQueuePairAttribute("WindowCountsFlight", BooleanValue(true));
    }

    TypeId m_type;
    FabricHelper m_fabric;
    Log m_log;
    Ptr<StagedLink> m_staged;
    Ptr<Application> m_application;
    Ptr<FabricEvents> m_events;
};

/// Nobody can forget to say which kind an attribute is.
class DeclaredTest : public TestCase
{
  public:
    DeclaredTest()
        : TestCase("Every attribute of the module is declared as fixed or live")
    {
    }

  private:
    void DoRun() override
    {
        const auto all = Attributes();
        NS_TEST_ASSERT_MSG_GT(all.size(), 170, "the registry knows the module");
        for (const auto& [type, attribute] : all)
        {
            const bool fixed = scaleacross::IsFixed(*attribute.accessor);
            const bool live = scaleacross::IsLive(*attribute.accessor);
            NS_TEST_EXPECT_MSG_EQ((fixed != live), true, type.GetName() << "::" << attribute.name);
        }
    }
};

/**
 * Every attribute is set to another legal value in the middle of a run. A fixed one is refused by a
 * ConfigError that names it, and the run is the same to the picosecond as one in which nobody
 * tried. A live one is another one from then on; the run goes on, conserves its packets and ends.
 */
class DuringRunTest : public TestCase
{
  public:
    DuringRunTest()
        : TestCase("Every attribute, set in the middle of a run, takes effect or is refused")
    {
    }

  private:
    struct Attempt
    {
        bool found{false};
        bool tried{false};
        std::string error;
        std::string before;
        std::string after;
        std::string wanted;
        bool ended{false};
        std::vector<Event> outcome;
    };

    static Attempt Run(TypeId type, const TypeId::AttributeInformation* attribute)
    {
        Attempt attempt;
        {
            Scene scene(type);
            scene.Connect();
            const Ptr<Object> object = scene.Find();
            attempt.found = static_cast<bool>(object);
            if (attribute != nullptr && object)
            {
                Simulator::Schedule(MicroSeconds(20), [&attempt, attribute, object]() {
                    const Ptr<AttributeValue> value = AnotherValue(*attribute, *object);
                    if (!value)
                    {
                        return;
                    }
                    attempt.tried = true;
                    attempt.wanted = value->SerializeToString(attribute->checker);
                    attempt.before = TextOf(*attribute, *object);
                    try
                    {
                        object->SetAttribute(attribute->name, *value);
                    }
                    catch (const ConfigError& error)
                    {
                        attempt.error = error.what();
                    }
                    attempt.after = TextOf(*attribute, *object);
                });
            }
            Simulator::Run();
            CheckConservation(scene.Fabric());
            attempt.ended = scene.Ended();
            attempt.outcome = scene.Outcome();
        }
        Simulator::Destroy();
        return attempt;
    }

    void Check(TypeId type, const TypeId::AttributeInformation& attribute)
    {
        const std::string name = type.GetName() + "::" + attribute.name;
        const Attempt attempt = Run(type, &attribute);
        NS_TEST_EXPECT_MSG_EQ(attempt.found, true, name << ": the scene has no such object in use");
        NS_TEST_EXPECT_MSG_EQ(attempt.tried, true, name << ": no other value is known");
        NS_TEST_EXPECT_MSG_EQ(attempt.ended, true, name << ": the run goes on to its end");
        if (scaleacross::IsLive(*attribute.accessor))
        {
            NS_TEST_EXPECT_MSG_EQ(attempt.error, "", name);
            NS_TEST_EXPECT_MSG_EQ(attempt.after, attempt.wanted, name);
            ++m_live;
            return;
        }
        NS_TEST_EXPECT_MSG_EQ(attempt.error.substr(0, name.size()), name, attempt.error);
        NS_TEST_EXPECT_MSG_EQ(attempt.after, attempt.before, name);
        NS_TEST_EXPECT_MSG_EQ((attempt.outcome == m_untouched), true, name << " changes nothing");
        ++m_fixed;
    }

    void DoRun() override
    {
        TypeId last;
        for (const auto& [type, attribute] : Attributes())
        {
            if (type != last)
            {
                m_untouched = Run(type, nullptr).outcome;
                last = type;
            }
            Check(type, attribute);
        }
        NS_TEST_EXPECT_MSG_EQ(m_live, 5, "DataRate, Delay, LossRate, LossModel, StalledLanes");
        NS_TEST_EXPECT_MSG_GT(m_fixed, 165, "all others");
    }

    std::vector<Event> m_untouched;
    uint32_t m_live{0};
    uint32_t m_fixed{0};
};

/**
 * An attribute of a switch or of its ports, set on the objects after InstallRoutes has checked
 * them, does what it does when they are made with it: the same run to the picosecond, or the same
 * refusal.
 */
class BeforeRunTest : public TestCase
{
  public:
    BeforeRunTest()
        : TestCase("What is set after InstallRoutes counts as if it had been there before")
    {
    }

  private:
    struct Result
    {
        std::string error;
        std::vector<Event> outcome;
    };

    static Result Run(TypeId type,
                      const TypeId::AttributeInformation& attribute,
                      const AttributeValue& value,
                      bool late)
    {
        Result result;
        try
        {
            if (!late)
            {
                Config::SetDefault(type.GetName() + "::" + attribute.name, value);
            }
            Scene scene(type);
            for (uint32_t i = 0; late && i < scene.Fabric().Switches().size(); ++i)
            {
                const Ptr<FabricSwitch> place = scene.Fabric().Switches()[i];
                if (type == FabricSwitch::GetTypeId())
                {
                    place->SetAttribute(attribute.name, value);
                }
                for (uint32_t p = 0; type != FabricSwitch::GetTypeId() && p < place->GetNPorts();
                     ++p)
                {
                    place->GetPort(p)->SetAttribute(attribute.name, value);
                }
            }
            for (uint32_t i = 0; late && type == FabricPort::GetTypeId() && i < 4; ++i)
            {
                scene.Fabric().Nics()[i]->SetAttribute(attribute.name, value);
            }
            scene.Fabric().AssignStreams(1);
            scene.Connect();
            Simulator::Run();
            result.outcome = scene.Outcome();
        }
        catch (const ConfigError& error)
        {
            result.error = error.what();
        }
        Simulator::Destroy();
        Config::Reset();
        return result;
    }

    void DoRun() override
    {
        uint32_t compared = 0;
        for (const auto& [type, attribute] : Attributes())
        {
            const bool ours = type == FabricSwitch::GetTypeId() ||
                              type == FabricPort::GetTypeId() || type == SwitchPort::GetTypeId();
            // The helper's own: Connect gives the rate, and the scene the size.
            if (!ours || attribute.name == "DataRate" || attribute.name == "MaxPacketSize")
            {
                continue;
            }
            for (const auto& value : Candidates(attribute, *attribute.initialValue))
            {
                const std::string name = type.GetName() + "::" + attribute.name + " " +
                                         value->SerializeToString(attribute.checker);
                const Result early = Run(type, attribute, *value, false);
                const Result late = Run(type, attribute, *value, true);
                NS_TEST_EXPECT_MSG_EQ(late.error.empty(), early.error.empty(), name << late.error);
                NS_TEST_EXPECT_MSG_EQ((late.outcome == early.outcome), true, name);
                ++compared;
            }
        }
        NS_TEST_EXPECT_MSG_GT(compared, 60, "values of 42 attributes");
    }
};

class AttributesSuite : public TestSuite
{
  public:
    AttributesSuite()
        : TestSuite("scaleacross-attributes")
    {
        AddTestCase(new DeclaredTest);
        AddTestCase(new DuringRunTest);
        AddTestCase(new BeforeRunTest);
    }
};

AttributesSuite g_attributesSuite;

} // namespace
