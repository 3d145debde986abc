// SPDX-License-Identifier: GPL-2.0-only

#include "attribute-lottery.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace fabrictest
{

using namespace ns3;

namespace
{

const std::string kGroup = "ScaleAcross";

/// Where half to twice what is set by default would show too little, or be refused mostly.
const std::map<std::string, std::vector<std::string>>&
Choices()
{
    static const std::map<std::string, std::vector<std::string>> choices{
        {"ns3::FabricPort::Quanta", {"", "", "0,0,0,10480,0,0,1048,0", "0,500,0,500,0,0,0,0"}},
        {"ns3::FabricPort::LaneArbitration",
         {"", "", "", "high 6:64; low 0:1,3:200,4:100; limit 10"}},
        {"ns3::FabricSwitch::BufferSize", {"2000000", "4000000", "16000000", "67108864"}},
        {"ns3::FabricSwitch::VlBuffer", {"0", "13000", "20000", "40000"}},
        {"ns3::FabricSwitch::VirtualLanes", {"255"}},
        {"ns3::FabricSwitch::Credits", {"0"}}, // by the transport
        {"ns3::FabricSwitch::LaneMap", {""}},  // by the transport
        {"ns3::FabricSwitch::LosslessPriorities", {"8", "8", "10", "0"}},
        {"ns3::FabricSwitch::HashFields",
         {"source,destination,udp-source-port", "source", "destination-qp"}},
        {"ns3::FabricSwitch::HashSeed", {"0", "1", "77"}},
        {"ns3::FabricSwitch::WatchdogDetection", {"0ps", "0ps", "0ps", "20us"}},
        {"ns3::FabricSwitch::WatchdogRestoration", {"30us"}},
        {"ns3::FabricSwitch::HeadroomScale", {"1", "1", "1", "0.3", "2"}},
        {"ns3::FabricSwitch::MaxPacketSize", {"4200", "4200", "9000"}},
        {"ns3::FabricSwitch::PauseResponse", {"0ps", "0ps", "1us"}},
        {"ns3::FabricSwitch::EcnPriorities", {"0", "255", "255", "8"}},
        {"ns3::FabricSwitch::EcnKmin", {"2000", "5000", "20000"}},
        {"ns3::FabricSwitch::EcnKmax", {"20000", "50000", "200000"}},
        {"ns3::FabricSwitch::EcnPmax", {"0.1", "0.5", "1"}},
        {"ns3::FabricSwitch::EcnReferenceRate", {"0bps", "40Gbps"}},
        {"ns3::FabricSwitch::TrimThreshold", {"0", "5000", "30000"}},
        {"ns3::FabricSwitch::TrimReferenceRate", {"0bps", "100Gbps"}},
        {"ns3::RdmaNic::PathMtu", {"256", "1000", "1024", "4096", "4096"}},
        {"ns3::RdmaNic::FixedOverhead", {"0", "0", "0", "48"}},
        {"ns3::RdmaNic::HopLimit", {"64", "64", "64", "3"}},
        {"ns3::RdmaNic::QueuePairBurst", {"16384", "1", "5000"}},
        {"ns3::RdmaNic::ForeignPriority", {"0", "3", "7"}},
        {"ns3::RdmaNic::PullPriority", {"6", "6", "3"}},
        {"ns3::RdmaNic::ForeignQueueSize", {"1048576", "3000"}},
        {"ns3::RdmaConnection::QueuePairs", {"1", "1", "2", "4"}},
        {"ns3::RdmaConnection::SegmentSize", {"0", "4096", "10000", "524288"}},
        {"ns3::RdmaConnection::MaxOutstanding", {"0", "0", "1", "3"}},
        {"ns3::RdmaConnection::ClearToSend", {"0", "0", "1"}},
        {"ns3::RdmaConnection::ControlPriority", {"6", "3", "0"}},
        {"ns3::RdmaQueuePair::Window", {"0", "0", "1000", "9000", "60000"}},
        {"ns3::RdmaQueuePair::AckInterval", {"1", "1", "2", "7", "64"}},
        {"ns3::RdmaQueuePair::Timeout", {"5", "6", "6", "8"}},
        {"ns3::RdmaQueuePair::RetryCount", {"100", "100", "7", "1"}},
        {"ns3::RdmaQueuePair::OutOfOrderLimit", {"8388608", "512", "100"}},
        {"ns3::RdmaQueuePair::ReorderTolerance", {"0", "1", "16", "80"}},
        {"ns3::RdmaQueuePair::StartingPsn", {"0", "0", "16777211", "4711"}},
        {"ns3::RdmaQueuePair::ReceiveQueueDepth", {"0", "0", "1", "4"}},
        {"ns3::RdmaQueuePair::RnrTimer", {"1", "3", "6"}},
        {"ns3::RdmaQueuePair::RnrRetryCount", {"7", "7", "2"}},
        {"ns3::RdmaQueuePair::Priority", {"3", "3", "3", "1", "7"}},
        {"ns3::RdmaQueuePair::AckPriority", {"6", "6", "3", "0"}},
        {"ns3::RdmaQueuePair::CnpPriority", {"7", "6", "3"}},
        {"ns3::RdmaQueuePair::Entropy", {"0", "0", "0", "50000"}},
        {"ns3::RdmaQueuePair::RateLimit",
         {"0bps", "0bps", "800Mbps", "7000000001bps", "30Gbps", "99Gbps"}},
        {"ns3::RdmaQueuePair::CnpInterval", {"0ps", "3us", "50us"}},
        {"ns3::ReceiverAdmission::GrantedBytes", {"1000", "20000", "1048576"}},
        {"ns3::ReceiverAdmission::GrantSize", {"0", "3000", "131072"}},
        {"ns3::InfinibandCc::Limit", {"127", "4"}},
        {"ns3::InfinibandCc::Table", {"", "", "0:0,2:1,2:2,2:3,0:1"}},
        {"ns3::IidLossModel::LossRate", {"0.001", "0.02"}},
        {"ns3::GilbertElliottLossModel::GoodToBad", {"0.002", "0.02"}},
        {"ns3::GilbertElliottLossModel::BadToGood", {"0.1", "0.5"}},
        {"ns3::GilbertElliottLossModel::LossInBad", {"0.5", "1"}},
        {"ns3::FlowletSelector::Gap", {"500ns", "2us", "50us"}},
        {"ns3::FabricEvents::DetectionDelay", {"0ps", "4us", "9us"}},
        {"ns3::FabricEvents::ConvergenceDelay", {"0ps", "10us", "60us"}},
    };
    return choices;
}

/// What is drawn in another way, or is not of the fabric.
const std::map<std::string, std::string>&
Excuses()
{
    static const std::map<std::string, std::string> excuses{
        {"ns3::FabricPort::DataRate", "drawn with the wires"},
        {"ns3::FabricPort::Eager", "the engine"},
        {"ns3::FabricSwitch::LookAhead", "the engine"},
        {"ns3::RdmaNic::LookAhead", "the engine"},
        {"ns3::RdmaNic::FabricAddress", "given by InstallRoutes"},
        {"ns3::RdmaNic::StalledLanes", "drawn as a script"},
        {"ns3::RdmaNic::QueuePairList", "cannot be set"},
        {"ns3::RdmaConnection::Label", "a name, which changes nothing"},
        {"ns3::FabricWire::Delay", "drawn with the wires"},
        {"ns3::FabricWire::LossRate", "drawn with the wires, as LossModel"},
        {"ns3::FabricWire::LossModel", "drawn with the wires"},
        {"ns3::DestinationModKSelector::Divisor", "set by InstallRoutes"},
    };
    return excuses;
}

/// Types whose attributes are of hosts and applications, before anything is posted.
bool
IsOfFabric(const TypeId& type)
{
    const std::string name = type.GetName();
    return name != "ns3::StagedLink" && name.compare(0, 5, "ns3::") == 0;
}

/// The type below ns-3's own from which one is derived.
TypeId
RootOf(TypeId type)
{
    while (type.GetParent().GetGroupName() == kGroup)
    {
        type = type.GetParent();
    }
    return type;
}

std::string
NameOf(const TypeId& type, size_t attribute)
{
    return type.GetName() + "::" + type.GetAttribute(attribute).name;
}

std::string
TextOf(const TypeId::AttributeInformation& attribute)
{
    return attribute.initialValue->SerializeToString(attribute.checker);
}

} // namespace

std::vector<TypeId>
AttributeLottery::Types()
{
    std::vector<TypeId> types;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.GetGroupName() == kGroup && IsOfFabric(type))
        {
            types.push_back(type);
        }
    }
    // Registration has the order in which the linker found the files.
    std::sort(types.begin(), types.end(), [](const TypeId& a, const TypeId& b) {
        return a.GetName() < b.GetName();
    });
    return types;
}

std::vector<TypeId>
AttributeLottery::ChildrenOf(const TypeId& base)
{
    std::vector<TypeId> children = Types();
    children.erase(std::remove_if(children.begin(),
                                  children.end(),
                                  [&base](const TypeId& type) {
                                      return !type.IsChildOf(base) || !type.HasConstructor();
                                  }),
                   children.end());
    return children;
}

std::vector<std::string>
AttributeLottery::WordsOf(const TypeId::AttributeInformation& attribute)
{
    std::vector<std::string> words;
    // By name: the class is a template in newer releases of ns-3.
    if (attribute.checker->GetValueTypeName().rfind("ns3::EnumValue", 0) == 0)
    {
        std::istringstream all(attribute.checker->GetUnderlyingTypeInformation());
        for (std::string word; std::getline(all, word, '|');)
        {
            words.push_back(word);
        }
    }
    return words;
}

std::string
AttributeLottery::Excuse(const std::string& name)
{
    const auto excuse = Excuses().find(name);
    return excuse == Excuses().end() ? "" : excuse->second;
}

std::vector<std::string>
AttributeLottery::Unknown()
{
    std::vector<std::string> unknown;
    std::map<std::string, bool> named;
    for (const auto& [name, values] : Choices())
    {
        named[name] = false;
    }
    for (const auto& [name, why] : Excuses())
    {
        named[name] = false;
    }
    std::mt19937 random;
    AttributeLottery lottery(random);
    for (const TypeId& type : Types())
    {
        for (size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            const std::string name = NameOf(type, i);
            const bool known = named.count(name) > 0;
            if (known)
            {
                named[name] = true;
            }
            else if (lottery.DrawValue(type.GetAttribute(i)).empty())
            {
                unknown.push_back(name + ": choices or an excuse are missing");
            }
        }
    }
    for (const auto& [name, found] : named)
    {
        if (!found)
        {
            unknown.push_back(name + ": there is no such attribute");
        }
    }
    return unknown;
}

std::string
AttributeLottery::Scale(const std::string& text)
{
    const double factor = 0.5 + 1.5 * static_cast<double>(m_random()) / 4294967296.0;
    std::ostringstream scaled;
    scaled.precision(9);
    scaled << std::stod(text) * factor;
    return scaled.str();
}

std::string
AttributeLottery::DrawValue(const TypeId::AttributeInformation& attribute)
{
    const AttributeValue* value = PeekPointer(attribute.initialValue);
    if (dynamic_cast<const BooleanValue*>(value) != nullptr)
    {
        return m_random() % 2 == 0 ? "true" : "false";
    }
    if (const auto* number = dynamic_cast<const UintegerValue*>(value))
    {
        return std::to_string(
            static_cast<uint64_t>(std::stod(Scale(std::to_string(number->Get())))));
    }
    if (const auto* number = dynamic_cast<const DoubleValue*>(value))
    {
        std::ostringstream text;
        text.precision(17);
        text << number->Get();
        return Scale(text.str());
    }
    if (const auto* time = dynamic_cast<const TimeValue*>(value))
    {
        const double ps = std::stod(Scale(std::to_string(time->Get().GetPicoSeconds())));
        return std::to_string(static_cast<int64_t>(ps)) + "ps";
    }
    if (const auto* rate = dynamic_cast<const DataRateValue*>(value))
    {
        const double bps = std::stod(Scale(std::to_string(rate->Get().GetBitRate())));
        return std::to_string(static_cast<uint64_t>(bps)) + "bps";
    }
    if (const std::vector<std::string> words = WordsOf(attribute); !words.empty())
    {
        return words[m_random() % words.size()];
    }
    if (const auto* type = dynamic_cast<const TypeIdValue*>(value))
    {
        const TypeId root = RootOf(type->Get());
        std::vector<TypeId> types = ChildrenOf(root);
        if (!root.HasConstructor())
        {
            types.push_back(type->Get()); // itself: none, or again the one by default
        }
        return types[m_random() % types.size()].GetName();
    }
    return "";
}

void
AttributeLottery::Draw(const TypeId& type)
{
    if (type.GetGroupName() != kGroup)
    {
        return;
    }
    Draw(type.GetParent());
    for (size_t i = 0; i < type.GetAttributeN(); ++i)
    {
        const TypeId::AttributeInformation attribute = type.GetAttribute(i);
        const std::string name = NameOf(type, i);
        if (!Excuse(name).empty())
        {
            continue;
        }
        const auto choice = Choices().find(name);
        std::string value = attribute.originalInitialValue->SerializeToString(attribute.checker);
        Config::SetDefault(name, *attribute.originalInitialValue);
        if (choice != Choices().end())
        {
            value = choice->second[m_random() % choice->second.size()];
        }
        else if (m_random() % 2 == 0)
        {
            value = DrawValue(type.GetAttribute(i));
        }
        if (Config::SetDefaultFailSafe(name, StringValue(value)) &&
            TextOf(type.GetAttribute(i)) !=
                attribute.originalInitialValue->SerializeToString(attribute.checker))
        {
            m_drawn[name] = value;
        }
        else
        {
            m_drawn.erase(name);
        }
    }
}

void
AttributeLottery::DrawChildren(const TypeId& base)
{
    for (const TypeId& type : ChildrenOf(base))
    {
        Draw(type);
    }
}

std::string
AttributeLottery::Text() const
{
    std::string text;
    for (const auto& [name, value] : m_drawn)
    {
        text += (text.empty() ? "" : " ") + name + "=" + value;
    }
    return text;
}

} // namespace fabrictest
