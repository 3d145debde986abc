// SPDX-License-Identifier: GPL-2.0-only

#include "switch-paths.h"

#include "core/base/errors.h"

#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"

#include <optional>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;
using scaleacross::PortGroup;

SwitchPaths::SwitchPaths() = default;
SwitchPaths::~SwitchPaths() = default;

void
SwitchPaths::DoDispose()
{
    m_asked = nullptr;
    m_selector = nullptr;
    Object::DoDispose();
}

scaleacross::RouteTable&
SwitchPaths::Routes()
{
    return m_routes;
}

const scaleacross::RouteTable&
SwitchPaths::Routes() const
{
    return m_routes;
}

Ptr<PathSelector>
SwitchPaths::GetPathSelector() const
{
    return m_selector;
}

void
SwitchPaths::SetPathSelector(Ptr<PathSelector> selector)
{
    CheckNotRunning("PathSelector");
    if (!selector)
    {
        throw ConfigError("FabricSwitch::SetPathSelector",
                          "there is no object",
                          "a PathSelector",
                          "leave the default, which goes by a hash");
    }
    m_selector = selector;
    if (m_stream >= 0)
    {
        m_selector->AssignStreams(m_stream);
    }
    // What is done for every packet is done without a call.
    m_asked = selector->GoesByHash() ? nullptr : PeekPointer(selector);
    m_checked = false;
}

void
SwitchPaths::SetPathSelectorType(TypeId type)
{
    if (!type.IsChildOf(PathSelector::GetTypeId()) || !type.HasConstructor())
    {
        throw ConfigError("FabricSwitch::PathSelector",
                          type.GetName() + " is not a path selector",
                          "a type derived from ns3::PathSelector",
                          "");
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    SetPathSelector(factory.Create<PathSelector>());
}

TypeId
SwitchPaths::GetPathSelectorType() const
{
    return m_selector->GetInstanceTypeId();
}

std::string
SwitchPaths::WhyReordered() const
{
    return m_selector->Reorders() ? m_selector->GetName() + " lets packets overtake each other"
                                  : "";
}

bool
SwitchPaths::IsEntering(const FabricPacket& packet) const
{
    const PortGroup* group = m_routes.Lookup(packet.source);
    return group != nullptr && IsEntry(group->ports.front());
}

uint32_t
SwitchPaths::PredictPort(const FabricPacket& packet) const
{
    const PortGroup* group =
        RouteOf(packet, m_checked && m_routes.HasEntries() && IsEntering(packet));
    if (group == nullptr || !m_checked)
    {
        throw ConfigError("FabricSwitch::PredictPort",
                          group == nullptr
                              ? "no route to address " + std::to_string(packet.destination)
                              : "something has been set since CheckConfig, and may change the hash",
                          "a destination with a route, and a configuration that is checked",
                          "call it after InstallRoutes, and CheckConfig if something was set then");
    }
    if (group->ports.size() == 1 || m_asked == nullptr || packet.kind == PacketKind::Foreign)
    {
        return scaleacross::PortOfHash(*group, m_flowHash(packet));
    }
    const std::optional<uint16_t> port = m_asked->PortOfFlow(*group, packet);
    if (!port)
    {
        throw ConfigError("FabricSwitch::PredictPort",
                          m_selector->GetName() + " does not go by the hash of a flow alone",
                          "a selector with a port for every flow (PortOfFlow)",
                          "set another PathSelector");
    }
    return *port;
}

void
SwitchPaths::SetHashFields(std::string names)
{
    CheckNotRunning("HashFields");
    m_hashFields = scaleacross::ParseHashFields(names);
    m_checked = false;
}

std::string
SwitchPaths::GetHashFields() const
{
    return scaleacross::NamesOfHashFields(m_hashFields);
}

void
SwitchPaths::SetHashSeed(uint64_t seed)
{
    CheckNotRunning("HashSeed");
    m_hashSeed = seed;
    m_checked = false;
}

uint64_t
SwitchPaths::GetHashSeed() const
{
    return m_hashSeed;
}

void
SwitchPaths::SetHashPerSwitch(bool perSwitch)
{
    CheckNotRunning("HashPerSwitch");
    m_hashPerSwitch = perSwitch;
    m_checked = false;
}

bool
SwitchPaths::GetHashPerSwitch() const
{
    return m_hashPerSwitch;
}

const char*
SwitchPaths::WhyFixed() const
{
    return IsInitialized() ? "the run has begun" : nullptr;
}

void
SwitchPaths::AttributeSet()
{
    m_checked = false;
}

std::string
SwitchPaths::MessagePrefix() const
{
    return "node " + std::to_string(GetObject<Node>()->GetId()) + " FabricSwitch::";
}

void
SwitchPaths::CheckNotRunning(const char* attribute) const
{
    if (IsInitialized())
    {
        throw ConfigError(MessagePrefix() + attribute,
                          "comes during the run",
                          "before time zero",
                          "do it before Simulator::Run");
    }
}

void
SwitchPaths::CheckRoutes(uint32_t ports) const
{
    if (m_routes.EndOfPorts() > ports)
    {
        throw ConfigError(MessagePrefix() + "Routes",
                          "port " + std::to_string(m_routes.EndOfPorts() - 1) +
                              " of a route is not there",
                          "ports below " + std::to_string(ports),
                          "add ports first, or mend the route");
    }
}

void
SwitchPaths::SetUpPaths()
{
    // ns-3 counts runs from 1.
    const auto run = static_cast<uint32_t>(RngSeedManager::GetRun() - 1);
    const uint32_t id = m_hashPerSwitch ? GetObject<Node>()->GetId() : 0;
    m_flowHash =
        scaleacross::FlowHash(m_hashFields, scaleacross::SwitchHashSeed(id, run, m_hashSeed));
    m_selector->Attach(m_flowHash, *this);
}

void
SwitchPaths::BeginPaths()
{
    m_selector->FixAttributes("the run has begun");
}

int64_t
SwitchPaths::AssignSelectorStreams(int64_t stream)
{
    m_stream = stream;
    return m_selector->AssignStreams(stream);
}

} // namespace ns3
