// SPDX-License-Identifier: GPL-2.0-only

// What can be asked of a switch while it runs.

#include "fabric-switch.h"

#include <algorithm>
#include <numeric>

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
    std::vector<uint64_t> bytes(m_ports.size());
    for (uint32_t egress = 0; egress < GetNPorts(); ++egress)
    {
        for (uint8_t priority = 0; priority < kPriorities; ++priority)
        {
            const FabricPacket* packet = m_ports[egress]->QueueOf(priority).Front();
            if (packet == nullptr)
            {
                continue;
            }
            std::fill(bytes.begin(), bytes.end(), 0);
            for (; packet != nullptr; packet = packet->next)
            {
                bytes[packet->ingress] += packet->size;
            }
            for (uint32_t ingress = 0; ingress < GetNPorts(); ++ingress)
            {
                if (bytes[ingress] > 0)
                {
                    held.push_back({ingress, egress, priority, bytes[ingress]});
                }
            }
        }
    }
    return held;
}

bool
FabricSwitch::CouldResume(uint32_t port, uint8_t priority, const std::vector<HeldBytes>& left) const
{
    std::vector<uint64_t> bytes(m_ports.size() * kPriorities);
    for (const HeldBytes& part : left)
    {
        bytes[part.ingress * kPriorities + part.priority] += part.bytes;
    }
    return m_buffer.CouldResume(port, priority, bytes);
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
