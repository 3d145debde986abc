// SPDX-License-Identifier: GPL-2.0-only

// What can be asked of a switch while it runs.

#include "core/base/packet-format.h"
#include "fabric-switch.h"

#include <map>
#include <numeric>
#include <utility>

namespace ns3
{

using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::HeldBytes;
using scaleacross::kPriorities;
using scaleacross::SimulatorPicoseconds;

uint64_t
FabricSwitch::GetDrops(DropReason reason) const
{
    return m_drops.at(static_cast<size_t>(reason));
}

uint64_t
FabricSwitch::GetDrops() const
{
    return std::accumulate(m_drops.begin(), m_drops.end(), uint64_t{0});
}

uint64_t
FabricSwitch::GetOccupancy()
{
    CatchUp(SimulatorPicoseconds());
    return m_buffer.Occupancy();
}

uint64_t
FabricSwitch::GetPeakOccupancy() const
{
    return m_peak;
}

double
FabricSwitch::GetPeakHeadroomShare() const
{
    return m_buffer.PeakHeadroomShare();
}

uint64_t
FabricSwitch::GetHeld(uint32_t port, uint8_t priority)
{
    CatchUp(SimulatorPicoseconds());
    return m_buffer.Held(port, priority);
}

std::vector<HeldBytes>
FabricSwitch::GetHeldBytes()
{
    CatchUp(SimulatorPicoseconds());
    std::vector<HeldBytes> held;
    for (uint32_t egress = 0; egress < GetNPorts(); ++egress)
    {
        for (uint8_t priority = 0; priority < kPriorities; ++priority)
        {
            std::map<std::pair<uint32_t, uint8_t>, HeldBytes> parts; // by ingress and lane
            for (const FabricPacket* packet = m_ports[egress]->Queues().Packets(priority).Front();
                 packet != nullptr;
                 packet = packet->next)
            {
                const uint8_t lane = packet->ingressLane;
                HeldBytes& part =
                    parts
                        .try_emplace({packet->ingress, lane},
                                     HeldBytes{packet->ingress, lane, egress, priority, 0, 0})
                        .first->second;
                part.bytes += packet->size;
                part.blocks += scaleacross::CreditBlocks(packet->size);
            }
            for (const auto& entry : parts)
            {
                held.push_back(entry.second);
            }
        }
    }
    return held;
}

bool
FabricSwitch::CouldResume(uint32_t port, uint8_t priority, const std::vector<HeldBytes>& left) const
{
    if (HasCredits())
    {
        uint64_t blocks = 0;
        for (const HeldBytes& part : left)
        {
            blocks += part.ingress == port && part.lane == priority ? part.blocks : 0;
        }
        return m_ports[port]->CouldGrant(priority, blocks);
    }
    std::vector<uint64_t> bytes(m_ports.size() * kPriorities);
    for (const HeldBytes& part : left)
    {
        bytes[part.ingress * kPriorities + part.lane] += part.bytes;
    }
    return m_buffer.CouldResume(port, priority, bytes);
}

bool
FabricSwitch::IsEntry(uint16_t port) const
{
    return m_ports[port]->m_isEntry;
}

bool
FabricSwitch::HasLaneMap() const
{
    return m_credits.HasMap();
}

uint8_t
FabricSwitch::LaneOf(uint32_t in, uint32_t out, uint8_t level) const
{
    return m_credits.LaneOf(in, out, level);
}

uint32_t
FabricSwitch::GetLosslessPriorities() const
{
    if (HasCredits())
    {
        return m_creditConfig.lanes;
    }
    return m_pfcConfig.on ? m_pfcConfig.priorities : 0;
}

uint64_t
FabricSwitch::GetPauses() const
{
    return m_pauses.Sent();
}

uint64_t
FabricSwitch::GetEcnMarked() const
{
    uint64_t sum = 0;
    for (const auto& port : m_ports)
    {
        sum += port->GetEcnMarked();
    }
    return sum;
}

uint64_t
FabricSwitch::GetTrimmed() const
{
    return m_trimmer.Trimmed();
}

uint64_t
FabricSwitch::GetRerouted() const
{
    return m_rerouted;
}

bool
FabricSwitch::IsStorm(uint32_t port, uint8_t priority) const
{
    return m_watchdog.IsStorm(port, priority);
}

uint64_t
FabricSwitch::GetStorms() const
{
    return m_watchdog.Storms();
}

bool
FabricSwitch::IsPausing(uint32_t port, uint8_t priority) const
{
    return m_pauses.Has(port, priority);
}

uint64_t
FabricSwitch::GetQueuedPackets() const
{
    uint64_t count = 0;
    for (const auto& port : m_ports)
    {
        count += port->GetQueuedPackets();
    }
    return count;
}

} // namespace ns3
