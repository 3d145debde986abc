// SPDX-License-Identifier: GPL-2.0-only

#include "study-attributes.h"

#include "core/base/errors.h"

#include "ns3/config.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <regex>

namespace ns3
{

const std::map<std::string, std::string>&
StudyAttributes()
{
    static const std::map<std::string, std::string> kKeys = {
        {"ns3::FabricEvents::ConvergenceDelay", "network.convergence"},
        {"ns3::FabricEvents::DetectionDelay", "network.detection"},
        {"ns3::FabricSwitch::BufferSize", "network.leaf_buffer and network.spine_buffer"},
        {"ns3::FabricSwitch::Credits", "network.transport"},
        {"ns3::FabricSwitch::HashFields", "network.multipath"},
        {"ns3::FabricSwitch::KeepAtDownPort", "network.keep_at_down_port"},
        {"ns3::FabricSwitch::MaxCreditBlocks", "network.lane_credits"},
        {"ns3::FabricSwitch::MaxPacketSize", "network.mtu and network.headers"},
        {"ns3::FabricSwitch::PathSelector", "network.multipath"},
        {"ns3::FabricSwitch::Pfc", "network.pfc"},
        {"ns3::FabricSwitch::Trim", "network.transport"},
        {"ns3::FabricWire::Delay", "cluster"},
        {"ns3::ReceiverAdmission::GrantSize", "network.admission"},
        {"ns3::ReceiverAdmission::GrantedBytes", "network.admission"},
        {"ns3::RdmaConnection::ClearToSend", "network.admission"},
        {"ns3::RdmaConnection::MaxOutstanding", "network.outstanding"},
        {"ns3::RdmaConnection::Notification", "network.balance"},
        {"ns3::RdmaConnection::QueuePairs", "network.qps"},
        {"ns3::RdmaConnection::SegmentSize", "network.segment"},
        {"ns3::RdmaNic::AckSize", "network.ack_size"},
        {"ns3::RdmaNic::FixedOverhead", "network.headers"},
        {"ns3::RdmaNic::FrameSize", "network.headers"},
        {"ns3::RdmaNic::HeaderSize", "network.headers"},
        {"ns3::RdmaNic::ImmediateSize", "network.headers"},
        {"ns3::RdmaNic::MinWireSize", "network.headers"},
        {"ns3::RdmaNic::PathMtu", "network.mtu"},
        {"ns3::RdmaNic::RethSize", "network.headers"},
        {"ns3::RdmaQueuePair::AckInterval", "network.ack_every"},
        {"ns3::RdmaQueuePair::EntropyOps", "network.multipath"},
        {"ns3::RdmaQueuePair::ReorderTolerance", "network.reorder_tolerance"},
        {"ns3::RdmaQueuePair::RetransmissionMode", "network.recovery"},
        {"ns3::RdmaQueuePair::RetryCount", "network.retries"},
        {"ns3::RdmaQueuePair::Timeout", "network.timeout_exponent"},
        {"ns3::RdmaQueuePair::Window", "network.window"},
    };
    return kKeys;
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

void
ExpectAttribute(const std::string& prefix, const std::string& name, const std::string& value)
{
    if (!Takes(name, value))
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
CheckAttributes(const scaleacross::NetworkPlan& network)
{
    for (const auto& [name, value] : network.ns3Attributes)
    {
        const auto found = StudyAttributes().find(name);
        if (found != StudyAttributes().end())
        {
            throw scaleacross::ConfigError("network.ns3." + name,
                                           "is set by " + found->second,
                                           "attributes that no other key of the study sets",
                                           "set " + found->second + " instead");
        }
        ExpectAttribute("network.ns3.", name, value);
    }
}

std::set<std::string>
ChosenAttributes(const scaleacross::NetworkPlan& network)
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
