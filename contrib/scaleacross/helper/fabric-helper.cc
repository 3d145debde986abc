// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-helper.h"

#include "core/base/errors.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/partition-check.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/receiver-admission.h"
#include "ns3/reordering.h"
#include "ns3/string.h"
#include "ns3/switch-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <unordered_map>

namespace ns3
{

using scaleacross::BitRate;
using scaleacross::ConfigError;
using scaleacross::RouteWeights;
using scaleacross::SwitchGraph;
using scaleacross::SwitchRoutes;

NS_LOG_COMPONENT_DEFINE("FabricHelper");

namespace
{

/// Throws ConfigError if there is no object.
template <typename T>
void
Need(const Ptr<T>& object, const std::string& where, const std::string& what, const char* remedy)
{
    if (!object)
    {
        throw ConfigError(where, "there is no " + what + ": the pointer is null", what, remedy);
    }
}

constexpr const char* kConnect = "FabricHelper::Connect";
constexpr const char* kMakeThem = "make NICs by AddNic and switches by AddSwitch";

/// What a type attribute may be: the types that have the same base as its default.
std::string
TypesLike(TypeId type)
{
    while (type.HasParent() && type.GetParent() != Object::GetTypeId())
    {
        type = type.GetParent();
    }
    std::string names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId candidate = TypeId::GetRegistered(i);
        if (candidate.IsChildOf(type) && candidate.HasConstructor())
        {
            names += (names.empty() ? "" : ", ") + candidate.GetName();
        }
    }
    return names;
}

/// The value in the attribute's own type. Throws ConfigError if there is no such attribute, or if
/// that is no value for it.
Ptr<AttributeValue>
Checked(TypeId type, const std::string& name, const AttributeValue& value)
{
    TypeId::AttributeInformation attribute;
    if (!type.LookupAttributeByName(name, &attribute))
    {
        throw ConfigError(type.GetName() + "::" + name,
                          "there is no such attribute",
                          "an attribute of " + type.GetName(),
                          "list them with an example's --PrintAttributes=" + type.GetName());
    }
    Ptr<AttributeValue> valid = attribute.checker->CreateValidValue(value);
    if (!valid)
    {
        const auto* standard =
            dynamic_cast<const TypeIdValue*>(PeekPointer(attribute.originalInitialValue));
        throw ConfigError(type.GetName() + "::" + name,
                          "cannot be " + value.SerializeToString(attribute.checker),
                          standard != nullptr ? TypesLike(standard->Get())
                                              : attribute.checker->GetUnderlyingTypeInformation(),
                          "");
    }
    return valid;
}

/// An attribute of a type as text: the last one set, else what it is by default.
std::string
TextOf(TypeId type,
       const std::string& name,
       const std::vector<std::pair<std::string, Ptr<AttributeValue>>>& set)
{
    TypeId::AttributeInformation attribute;
    if (!type.LookupAttributeByName(name, &attribute))
    {
        const std::string typeName = type.GetName();
        throw ConfigError(typeName.substr(typeName.rfind(':') + 1) + "::" + name,
                          "there is no such attribute",
                          "an attribute of " + typeName,
                          "");
    }
    const auto last = std::find_if(set.rbegin(), set.rend(), [&](const auto& candidate) {
        return candidate.first == name;
    });
    const AttributeValue& value = last != set.rend() ? *last->second : *attribute.initialValue;
    return value.SerializeToString(attribute.checker);
}

} // namespace

FabricHelper::FabricHelper()
{
    m_switchFactory.SetTypeId("ns3::FabricSwitch");
    m_nicFactory.SetTypeId("ns3::RdmaNic");
    m_connectionFactory.SetTypeId("ns3::RdmaConnection");
    m_admissionFactory.SetTypeId("ns3::ReceiverAdmission");
}

FabricHelper::~FabricHelper() = default;

void
FabricHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_switchFactory.Set(name, *Checked(FabricSwitch::GetTypeId(), name, value));
}

void
FabricHelper::SetNicAttribute(const std::string& name, const AttributeValue& value)
{
    const Ptr<AttributeValue> valid = Checked(RdmaNic::GetTypeId(), name, value);
    m_nicFactory.Set(name, *valid);
    m_nicAttributes.emplace_back(name, valid);
}

void
FabricHelper::SetConnectionAttribute(const std::string& name, const AttributeValue& value)
{
    const Ptr<AttributeValue> valid = Checked(RdmaConnection::GetTypeId(), name, value);
    m_connectionFactory.Set(name, *valid);
    m_connectionAttributes.emplace_back(name, valid);
}

void
FabricHelper::SetSwitchPortAttribute(const std::string& name, const AttributeValue& value)
{
    m_portAttributes.emplace_back(name, Checked(SwitchPort::GetTypeId(), name, value));
}

void
FabricHelper::SetQueuePairAttribute(const std::string& name, const AttributeValue& value)
{
    const Ptr<AttributeValue> valid = Checked(RdmaQueuePair::GetTypeId(), name, value);
    const auto known = std::find_if(m_queuePairAttributes.begin(),
                                    m_queuePairAttributes.end(),
                                    [&name](const auto& set) { return set.first == name; });
    if (known != m_queuePairAttributes.end())
    {
        m_queuePairAttributes.erase(known);
    }
    m_queuePairAttributes.emplace_back(name, valid);
}

void
FabricHelper::SetAdmissionAttribute(const std::string& name, const AttributeValue& value)
{
    m_admissionFactory.Set(name, *Checked(ReceiverAdmission::GetTypeId(), name, value));
    m_admission = true;
}

std::string
FabricHelper::GetQueuePairAttribute(const std::string& name) const
{
    return TextOf(RdmaQueuePair::GetTypeId(), name, m_queuePairAttributes);
}

std::string
FabricHelper::GetNicAttribute(const std::string& name) const
{
    return TextOf(RdmaNic::GetTypeId(), name, m_nicAttributes);
}

std::string
FabricHelper::GetConnectionAttribute(const std::string& name) const
{
    return TextOf(RdmaConnection::GetTypeId(), name, m_connectionAttributes);
}

void
FabricHelper::SetLookAhead(bool lookAhead)
{
    m_switchFactory.Set("LookAhead", BooleanValue(lookAhead));
    m_nicFactory.Set("LookAhead", BooleanValue(lookAhead));
}

void
FabricHelper::HoldAt(Time time)
{
    for (const auto& fabricSwitch : m_switches)
    {
        fabricSwitch->HoldAt(time);
    }
}

Ptr<Node>
FabricHelper::AddHost()
{
    Ptr<Node> node = CreateObject<Node>();
    scaleacross::CheckPartition(node, "FabricHelper::AddHost");
    return node;
}

Ptr<RdmaNic>
FabricHelper::AddNic(Ptr<Node> host)
{
    Need(host, "FabricHelper::AddNic", "host", "make one by AddHost, or any ns3::Node");
    scaleacross::CheckPartition(host, "FabricHelper::AddNic");
    Ptr<RdmaNic> nic = m_nicFactory.Create<RdmaNic>();
    nic->SetFabricAddress(static_cast<uint32_t>(m_nics.size()));
    host->AddDevice(nic);
    if (m_admission)
    {
        nic->AggregateObject(m_admissionFactory.Create<ReceiverAdmission>());
    }
    m_nics.push_back(nic);
    m_ownNics.insert(nic);
    if (m_routed)
    {
        m_unrouted.push_back(nic);
    }
    return nic;
}

Ptr<FabricSwitch>
FabricHelper::AddSwitch()
{
    Ptr<Node> node = CreateObject<Node>();
    scaleacross::CheckPartition(node, "FabricHelper::AddSwitch");
    Ptr<FabricSwitch> fabricSwitch = m_switchFactory.Create<FabricSwitch>();
    node->AggregateObject(fabricSwitch);
    m_switches.push_back(fabricSwitch);
    return fabricSwitch;
}

Ptr<FabricWire>
FabricHelper::ConnectPorts(Ptr<FabricPort> a,
                           Ptr<FabricPort> b,
                           DataRate rate,
                           Time delay,
                           double loss)
{
    Need(a, "FabricHelper::ConnectPorts", "first port", kMakeThem);
    Need(b, "FabricHelper::ConnectPorts", "second port", kMakeThem);
    Ptr<FabricWire> wire = CreateObject<FabricWire>();
    wire->SetAttribute("Delay", TimeValue(delay));
    if (loss != 0) // else the default of FabricWire::LossRate or LossModel
    {
        wire->SetAttribute("LossRate", DoubleValue(loss));
    }
    for (const Ptr<FabricPort>& port : {a, b})
    {
        port->SetDataRate(rate);
        if (DynamicCast<SwitchPort>(port))
        {
            for (const auto& [name, value] : m_portAttributes)
            {
                port->SetAttribute(name, *value);
            }
        }
    }
    wire->Attach(a, b);
    m_wires.push_back(wire);
    return wire;
}

Ptr<FabricWire>
FabricHelper::Connect(Ptr<RdmaNic> nic,
                      Ptr<FabricSwitch> fabricSwitch,
                      DataRate rate,
                      Time delay,
                      double loss)
{
    Need(nic, kConnect, "NIC", kMakeThem);
    Need(fabricSwitch, kConnect, "switch", kMakeThem);
    return ConnectPorts(nic, fabricSwitch->AddPort(), rate, delay, loss);
}

Ptr<FabricWire>
FabricHelper::Connect(Ptr<FabricSwitch> a,
                      Ptr<FabricSwitch> b,
                      DataRate rate,
                      Time delay,
                      double loss)
{
    Need(a, kConnect, "first switch", kMakeThem);
    Need(b, kConnect, "second switch", kMakeThem);
    return ConnectPorts(a->AddPort(), b->AddPort(), rate, delay, loss);
}

Ptr<RdmaConnection>
FabricHelper::CreateConnection(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    return CreateConnection({{from, to}});
}

void
FabricHelper::CheckEnds(const Ptr<RdmaNic>& from,
                        const Ptr<RdmaNic>& to,
                        const ConnectionAttributes& attributes) const
{
    for (const Ptr<RdmaNic>& nic : {from, to})
    {
        Need(nic, "FabricHelper::CreateConnection", "NIC", "give two of Nics()");
        if (m_ownNics.count(nic) == 0)
        {
            throw ConfigError("FabricHelper::CreateConnection",
                              nic->Describe() + " is of another fabric",
                              "NICs of this FabricHelper",
                              "give two of Nics()");
        }
        if (std::find(m_unrouted.begin(), m_unrouted.end(), nic) != m_unrouted.end())
        {
            throw ConfigError("FabricHelper::CreateConnection",
                              nic->Describe() + " was added after InstallRoutes: no switch knows "
                                                "the way to it",
                              "NICs that were there then",
                              "call InstallRoutes again, or after the last AddNic");
        }
    }
    CheckReordering(*from, attributes);
}

void
FabricHelper::CheckReordering(const RdmaNic& from, const ConnectionAttributes& attributes) const
{
    const auto text = [&attributes](const std::string& name) {
        return TextOf(RdmaQueuePair::GetTypeId(), name, attributes.queuePairs);
    };
    // By the switch next to the sender: those of a fabric are alike.
    const auto peer = DynamicCast<SwitchPort>(from.GetPeer());
    const std::string cause = peer ? peer->GetSwitch().WhyReordered() : "";
    if (cause.empty())
    {
        return;
    }
    const bool selective = text("RetransmissionMode") == "SelectiveRepeat";
    scaleacross::CheckTolerates(
        from.Describe() +
            " RdmaQueuePair::" + (selective ? "ReorderTolerance" : "RetransmissionMode"),
        cause,
        {selective, std::stoull(text("ReorderTolerance")), std::stoull(text("OutOfOrderLimit"))});
}

Ptr<RdmaConnection>
FabricHelper::CreateConnection(Ptr<RdmaNic> from,
                               Ptr<RdmaNic> to,
                               const std::vector<uint16_t>& entropies)
{
    return MakeConnection({{from, to}}, entropies, GetConnectionAttributes());
}

Ptr<RdmaConnection>
FabricHelper::CreateConnection(const std::vector<std::pair<Ptr<RdmaNic>, Ptr<RdmaNic>>>& nics)
{
    return MakeConnection(nics, {}, GetConnectionAttributes());
}

Ptr<RdmaConnection>
FabricHelper::CreateConnection(Ptr<RdmaNic> from,
                               Ptr<RdmaNic> to,
                               const ConnectionAttributes& attributes)
{
    return MakeConnection({{from, to}}, {}, attributes);
}

ConnectionAttributes
FabricHelper::GetConnectionAttributes() const
{
    return {m_connectionFactory, m_queuePairAttributes};
}

void
FabricHelper::AddConnectionSink(ConnectionSink sink)
{
    m_sinks.push_back(std::move(sink));
}

Ptr<RdmaConnection>
FabricHelper::MakeConnection(const NicPairs& nics,
                             const std::vector<uint16_t>& entropies,
                             const ConnectionAttributes& attributes)
{
    Ptr<RdmaConnection> connection = attributes.connection.Create<RdmaConnection>();
    for (const auto& [name, value] : attributes.queuePairs)
    {
        connection->SetQueuePairAttribute(name, *value);
    }
    if (!entropies.empty())
    {
        connection->SetEntropies(entropies);
    }
    for (const auto& [from, to] : nics)
    {
        CheckEnds(from, to, attributes);
    }
    connection->Connect(nics);
    m_connections.push_back(connection);
    // A sink may add others, which are for connections made after this one.
    for (size_t i = 0, sinks = m_sinks.size(); i < sinks; ++i)
    {
        const ConnectionSink sink = m_sinks[i];
        sink(connection);
    }
    return connection;
}

void
FabricHelper::SetName(const Ptr<RdmaNic>& nic, const std::string& name)
{
    m_names[PeekPointer(nic)] = name;
}

void
FabricHelper::SetName(const Ptr<FabricSwitch>& fabricSwitch, const std::string& name)
{
    m_names[PeekPointer(fabricSwitch)] = name;
}

std::string
FabricHelper::OwnerOf(const FabricPort& port) const
{
    const auto* ofSwitch = dynamic_cast<const SwitchPort*>(&port);
    const Object* owner = ofSwitch != nullptr ? static_cast<const Object*>(&ofSwitch->GetSwitch())
                                              : static_cast<const Object*>(&port);
    const auto named = m_names.find(owner);
    if (named != m_names.end())
    {
        return named->second;
    }
    return ofSwitch != nullptr ? "node " + std::to_string(port.GetNode()->GetId())
                               : port.Describe();
}

std::string
FabricHelper::NameOf(const FabricPort& port) const
{
    const Ptr<FabricPort> peer = port.GetPeer();
    return OwnerOf(port) + " to " + (peer ? OwnerOf(*peer) : "nothing");
}

int64_t
FabricHelper::AssignStreams(int64_t stream)
{
    int64_t next = stream;
    for (const auto& wire : m_wires)
    {
        next += wire->AssignStreams(next);
    }
    for (const auto& fabricSwitch : m_switches)
    {
        next += fabricSwitch->AssignStreams(next);
    }
    for (const auto& nic : m_nics)
    {
        next += nic->AssignStreams(next);
    }
    return next - stream;
}

const std::vector<Ptr<RdmaNic>>&
FabricHelper::Nics() const
{
    return m_nics;
}

const std::vector<Ptr<FabricSwitch>>&
FabricHelper::Switches() const
{
    return m_switches;
}

const std::vector<Ptr<FabricWire>>&
FabricHelper::Wires() const
{
    return m_wires;
}

const std::vector<Ptr<RdmaConnection>>&
FabricHelper::Connections() const
{
    return m_connections;
}

} // namespace ns3
