// SPDX-License-Identifier: GPL-2.0-only

// What follows from the attributes of a switch before time zero, and what contradicts itself.

#include "core/base/errors.h"
#include "fabric-switch.h"

#include "ns3/fabric-wire.h"

#include <string>

namespace ns3
{

using scaleacross::ConfigError;
using scaleacross::kPriorities;

void
FabricSwitch::CheckFlowControl() const
{
    const bool credits = m_creditConfig.on;
    if (credits && m_watchdogConfig.detection.IsStrictlyPositive())
    {
        throw ConfigError(MessagePrefix() + "WatchdogDetection",
                          "is set, and there are no pauses with Credits",
                          "0, or Credits false",
                          "");
    }
    if (!credits && m_credits.HasMap())
    {
        throw ConfigError(MessagePrefix() + "LaneMap",
                          "is set, and without Credits there are no virtual lanes",
                          "empty, or Credits true",
                          "");
    }
    if (credits && m_trimConfig.on)
    {
        throw ConfigError(MessagePrefix() + "Trim",
                          "is set, and with Credits every packet finds room",
                          "false, or Credits false",
                          "");
    }
    for (const auto& port : m_ports)
    {
        const auto peer = DynamicCast<SwitchPort>(port->GetPeer());
        if (peer && peer->GetSwitch().HasCredits() != credits)
        {
            throw ConfigError(port->Describe(),
                              std::string("this switch ") + (credits ? "has" : "does not have") +
                                  " Credits, unlike that of " + peer->Describe(),
                              "the same at both ends of a wire",
                              "set FabricSwitch::Credits alike");
        }
        if (credits && !port->HasPfc())
        {
            throw ConfigError(port->Describe() + " SwitchPort::Pfc",
                              "is false, and with Credits nothing is lossy",
                              "true, or Credits false",
                              "");
        }
    }
}

void
FabricSwitch::CheckConfig()
{
    CheckRoutes(GetNPorts());
    if (m_checked)
    {
        return;
    }
    CheckFlowControl();
    const uint32_t lossless = HasCredits() ? 0 : GetLosslessPriorities();
    SetUpPaths();
    m_bufferConfig.lossless = static_cast<uint8_t>(lossless);
    m_buffer.Configure(m_bufferConfig, GetNPorts());
    m_watchdog.Configure(m_watchdogConfig);
    m_pauses.Configure(lossless);
    m_headroom.Configure(m_pfcConfig, lossless, m_maxPacket, GetNPorts());
    ReserveHeadroom();
    m_credits.Configure(m_creditConfig, m_maxPacket, m_bufferConfig.size, MessagePrefix());
    m_ecnConfig.Check(MessagePrefix());
    m_trimmer.Configure(m_trimConfig, lossless, m_maxPacket, MessagePrefix());
    for (const auto& port : m_ports)
    {
        port->SetUp(m_ecnConfig, m_trimmer, HasCredits(), m_stream);
    }
    m_checked = true;
}

void
FabricSwitch::ReserveHeadroom()
{
    const uint32_t priorities = m_headroom.Priorities();
    for (uint32_t i = 0; i < GetNPorts() && priorities > 0; ++i)
    {
        if (!m_ports[i]->GetPeer())
        {
            continue; // FabricPort itself complains
        }
        if (!m_ports[i]->HasPfc())
        {
            m_buffer.SetLossy(i);
            continue;
        }
        const uint64_t bytes = m_headroom.Reserve(*m_ports[i]);
        for (uint8_t priority = 0; priority < kPriorities; ++priority)
        {
            m_buffer.Reserve(i, priority, m_buffer.IsLossless(i, priority) ? bytes : 0);
        }
    }
    if (m_buffer.Reserved() + m_maxPacket > m_bufferConfig.size)
    {
        throw ConfigError(
            MessagePrefix() + "BufferSize",
            std::to_string(m_bufferConfig.size) + " bytes cannot hold the PFC headroom of " +
                std::to_string(m_buffer.Reserved()) + " bytes (" + std::to_string(GetNPorts()) +
                " ports, " + std::to_string(priorities) + " lossless priorities, the largest " +
                std::to_string(m_headroom.Largest()) + " bytes for one port)",
            "at least " + std::to_string(m_buffer.Reserved() + m_maxPacket) + " bytes",
            "a larger BufferSize, shorter wires, fewer LosslessPriorities, or Pfc false");
    }
}

int64_t
FabricSwitch::AssignStreams(int64_t stream)
{
    m_stream = stream;
    for (const auto& port : m_ports)
    {
        port->AssignStream(stream);
    }
    return GetNPorts() + AssignSelectorStreams(stream + GetNPorts());
}

uint32_t
FabricSwitch::GetMaxPacketSize() const
{
    return m_maxPacket;
}

uint64_t
FabricSwitch::GetHeadroom(uint32_t port) const
{
    return m_headroom.Reserved(port);
}

std::string
FabricSwitch::GetLaneMap() const
{
    return m_credits.Map();
}

void
FabricSwitch::SetLaneMap(std::string rules)
{
    CheckNotRunning("LaneMap");
    m_credits.SetMap(rules);
    m_checked = false;
}

} // namespace ns3
