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

std::vector<FabricSwitch::HeldBytes>
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
    if (m_credits)
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
FabricSwitch::HasCredits() const
{
    return m_credits;
}

bool
FabricSwitch::HasLaneMap() const
{
    return m_laneMap != nullptr;
}

uint32_t
FabricSwitch::GetLosslessPriorities() const
{
    if (m_credits)
    {
        return m_lanes;
    }
    return m_pfc ? m_losslessMask : 0;
}

uint64_t
FabricSwitch::GetPauses() const
{
    return m_pauses;
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

bool
FabricSwitch::IsPausing(uint32_t port, uint8_t priority) const
{
    return ((m_pausingBits.at(port) >> priority) & 1U) != 0;
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
