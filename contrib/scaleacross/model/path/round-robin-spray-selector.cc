// SPDX-License-Identifier: GPL-2.0-only

#include "round-robin-spray-selector.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoundRobinSpraySelector);

TypeId
RoundRobinSpraySelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoundRobinSpraySelector")
                            .SetParent<PathSelector>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<RoundRobinSpraySelector>();
    return tid;
}

RoundRobinSpraySelector::RoundRobinSpraySelector() = default;

RoundRobinSpraySelector::~RoundRobinSpraySelector() = default;

std::string
RoundRobinSpraySelector::GetName() const
{
    return "round-robin spray";
}

bool
RoundRobinSpraySelector::Reorders() const
{
    return true;
}

uint16_t
RoundRobinSpraySelector::Select(const scaleacross::PortGroup& group,
                                const scaleacross::FabricPacket& packet,
                                int64_t)
{
    const size_t index = 2 * size_t{group.ports.front()} + (packet.payload > 0 ? 0 : 1);
    while (m_cursors.size() <= index)
    {
        const auto place = static_cast<uint32_t>(m_cursors.size());
        m_cursors.push_back(scaleacross::HashOf(place, 0, 0, Hash().Seed()) >> 8);
    }
    const auto n = static_cast<uint32_t>(group.ports.size());
    uint32_t& cursor = m_cursors[index];
    cursor = cursor + 1 < n ? cursor + 1 : (cursor + 1) % n;
    return group.ports[cursor];
}

} // namespace ns3
