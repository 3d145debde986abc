// SPDX-License-Identifier: GPL-2.0-only

#include "study-attributes.h"

#include "core/base/errors.h"
#include "helper/attribute-setter.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <regex>

namespace ns3
{

namespace
{

using scaleacross::NetworkPlan;
using scaleacross::StagedCopy;

Ptr<AttributeValue>
Whole(uint64_t value)
{
    return Create<UintegerValue>(value);
}

Ptr<AttributeValue>
Truth(bool value)
{
    return Create<BooleanValue>(value);
}

Ptr<AttributeValue>
Span(scaleacross::Duration value)
{
    return Create<TimeValue>(PicoSeconds(value.Ps()));
}

std::vector<StudyAttribute>
Rows()
{
    using N = NetworkPlan;
    std::vector<StudyAttribute> rows = {
        {"ns3::FabricEvents::ConvergenceDelay",
         "network.convergence",
         [](const N& network) { return Span(network.convergence); }},
        {"ns3::FabricEvents::DetectionDelay",
         "network.detection",
         [](const N& network) { return Span(network.detection); }},
        {"ns3::FabricPort::DataRate", "cluster", {}},
        {"ns3::FabricSwitch::BufferSize", "network.leaf_buffer and network.spine_buffer", {}},
        {"ns3::FabricSwitch::Credits", "network.transport", {}},
        {"ns3::FabricSwitch::HashFields", "network.multipath", {}},
        {"ns3::FabricSwitch::KeepAtDownPort",
         "network.keep_at_down_port",
         [](const N& network) { return Truth(network.keepAtDownPort); }},
        {"ns3::FabricSwitch::MaxCreditBlocks",
         "network.lane_credits",
         [](const N& network) { return Whole(network.laneCredits.Count() / 64); }},
        {"ns3::FabricSwitch::MaxPacketSize", "network.mtu and network.headers", {}},
        {"ns3::FabricSwitch::PathSelector", "network.multipath", {}},
        {"ns3::FabricSwitch::Pfc",
         "network.pfc",
         [](const N& network) { return Truth(network.UsesPfc()); }},
        {"ns3::FabricSwitch::Trim", "network.transport", {}},
        {"ns3::FabricWire::Delay", "cluster", {}},
        {"ns3::ForeignSource::PacketSize", "network.mtu", {}},
        {"ns3::ForeignSource::Rate", "events", {}},
        {"ns3::RdmaConnection::ClearToSend", "network.admission", {}},
        {"ns3::RdmaConnection::MaxOutstanding", "network.outstanding", {}},
        {"ns3::RdmaConnection::Notification", "network.balance", {}},
        {"ns3::RdmaConnection::QueuePairs", "network.qps", {}},
        {"ns3::RdmaConnection::SegmentSize", "network.segment", {}},
        {"ns3::RdmaNic::AckSize", "network.ack_size", {}},
        {"ns3::RdmaNic::FabricAddress", "cluster", {}},
        {"ns3::RdmaNic::FixedOverhead", "network.headers", {}},
        {"ns3::RdmaNic::FrameSize", "network.headers", {}},
        {"ns3::RdmaNic::HeaderSize", "network.headers", {}},
        {"ns3::RdmaNic::ImmediateSize", "network.headers", {}},
        {"ns3::RdmaNic::MinWireSize", "network.headers", {}},
        {"ns3::RdmaNic::PathMtu",
         "network.mtu",
         [](const N& network) { return Whole(network.mtu.Count()); }},
        {"ns3::RdmaNic::QueuePairBurst",
         "network.qp_burst",
         [](const N& network) { return Whole(network.qpBurst.Count()); }},
        {"ns3::RdmaNic::QueuePairTurn",
         "network.qp_scheduler",
         [](const N& network) -> Ptr<AttributeValue> {
             return Create<StringValue>(network.qpScheduler->turn);
         }},
        {"ns3::RdmaNic::RethSize", "network.headers", {}},
        {"ns3::RdmaQueuePair::AckInterval",
         "network.ack_every",
         [](const N& network) { return Whole(network.ackEvery); }},
        {"ns3::RdmaQueuePair::EntropyOps", "network.multipath", {}},
        {"ns3::RdmaQueuePair::ReorderTolerance", "network.reorder_tolerance", {}},
        {"ns3::RdmaQueuePair::RetransmissionMode", "network.recovery", {}},
        {"ns3::RdmaQueuePair::RetryCount",
         "network.retries",
         [](const N& network) { return Whole(network.retries); }},
        {"ns3::RdmaQueuePair::Timeout",
         "network.timeout_exponent",
         [](const N& network) { return Whole(network.timeoutExponent); }},
        {"ns3::RdmaQueuePair::Window", "network.window", {}},
        {"ns3::ReceiverAdmission::GrantSize", "network.admission", {}},
        {"ns3::ReceiverAdmission::GrantedBytes", "network.admission", {}},
        {"ns3::StagedLink::Handover",
         "network.copy",
         [](const N& /* network */) { return Span(StagedCopy::kHandover); }},
        {"ns3::StagedLink::ReceiverMemoryRate", "cluster", {}},
        {"ns3::StagedLink::SenderMemoryRate", "cluster", {}},
        {"ns3::StagedLink::SlotSize",
         "network.copy",
         [](const N& /* network */) { return Whole(StagedCopy::kSlot.Count()); }},
        {"ns3::StagedLink::Slots",
         "network.channels",
         [](const N& network) { return Whole(StagedCopy::kSlots * network.channels); }},
        {"ns3::TrainingApplication::Iterations", "--iterations", {}},
        {"ns3::TrainingApplication::Record", "--trace", {}},
    };
    for (const scaleacross::MultipathFacts* word : scaleacross::Multipath::Rows())
    {
        if (word->stageAttribute != nullptr)
        {
            rows.push_back(
                {std::string(word->selector) + "::" + word->stageAttribute, "cluster", {}});
        }
    }
    return rows;
}

} // namespace

const std::vector<StudyAttribute>&
StudyAttributes()
{
    static const std::vector<StudyAttribute> kRows = Rows();
    return kRows;
}

std::map<std::string, Ptr<AttributeValue>>
StudyAttributesOf(const TypeId& type, const NetworkPlan& network)
{
    std::map<std::string, Ptr<AttributeValue>> values;
    const std::string prefix = type.GetName() + "::";
    for (const StudyAttribute& row : StudyAttributes())
    {
        if (row.value && row.name.rfind(prefix, 0) == 0)
        {
            values[row.name.substr(prefix.size())] = row.value(network);
        }
    }
    return values;
}

namespace
{

/// Whether there is an attribute of that name which takes the value. ns-3 aborts on numbers and
/// times that it cannot read, and takes a time without unit for seconds.
bool
Takes(const std::string& name, const std::string& value)
{
    static const std::string kNumber = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?";
    static const std::map<std::string, std::regex> kForms = {
        {"ns3::DoubleValue", std::regex(kNumber)},
        {"ns3::IntegerValue", std::regex("[+-]?[0-9]+")},
        {"ns3::UintegerValue", std::regex("[0-9]+")},
        {"ns3::TimeValue", std::regex(kNumber + "(fs|ps|ns|us|ms|s|min|h|d|y)")},
    };
    const size_t last = name.rfind("::");
    TypeId type;
    TypeId::AttributeInformation attribute;
    if (last == std::string::npos || !TypeId::LookupByNameFailSafe(name.substr(0, last), &type) ||
        !type.LookupAttributeByName(name.substr(last + 2), &attribute))
    {
        return false;
    }
    const auto form = kForms.find(attribute.checker->GetValueTypeName());
    return (form == kForms.end() || std::regex_match(value, form->second)) &&
           attribute.checker->CreateValidValue(StringValue(value));
}

/// ns-3 sets a default only by the type that declares the attribute, and aborts for any other. The
/// right name for such another one; empty if there is none.
std::string
DeclaredName(const std::string& name)
{
    const size_t last = name.rfind("::");
    TypeId type;
    if (last == std::string::npos || !TypeId::LookupByNameFailSafe(name.substr(0, last), &type))
    {
        return "";
    }
    return AttributeName(type, name.substr(last + 2));
}

void
ExpectAttribute(const std::string& prefix, const std::string& name, const std::string& value)
{
    const std::string declared = DeclaredName(name);
    if (!declared.empty() && declared != name)
    {
        throw scaleacross::ConfigError(prefix + name,
                                       "this type has the attribute of another one, for which "
                                       "defaults are set",
                                       "attributes of the type that declares them",
                                       "write " + declared);
    }
    if (declared.empty() || !Takes(name, value))
    {
        throw scaleacross::ConfigError(
            prefix + name,
            "ns-3 has no attribute of that name which takes '" + value + "'",
            "ns3::TypeId::Attribute with a value of its type, a time with its unit",
            "list the attributes with an example's --PrintAttributes=ns3::TypeId");
    }
}

} // namespace

void
CheckAttributes(const NetworkPlan& network)
{
    for (const auto& [name, value] : network.ns3Attributes)
    {
        const std::string declared = DeclaredName(name);
        for (const StudyAttribute& row : StudyAttributes())
        {
            if (row.name == declared)
            {
                throw scaleacross::ConfigError("network.ns3." + name,
                                               "is set by " + row.key,
                                               "attributes that no other key of the study sets",
                                               "set " + row.key + " instead");
            }
        }
        ExpectAttribute("network.ns3.", name, value);
    }
}

std::set<std::string>
ChosenAttributes(const NetworkPlan& network)
{
    std::set<std::string> names;
    for (const auto& [name, value] : network.ns3Attributes)
    {
        names.insert(name);
    }
    return names;
}

void
SetAttributeDefaults(const std::map<std::string, std::string>& attributes,
                     const std::string& prefix)
{
    for (const auto& [name, value] : attributes)
    {
        ExpectAttribute(prefix, name, value);
        Config::SetDefault(name, StringValue(value));
    }
}

} // namespace ns3
