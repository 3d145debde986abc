// SPDX-License-Identifier: GPL-2.0-only

#include "destination-mod-k-selector.h"

#include "ns3/attribute-guard.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DestinationModKSelector);

TypeId
DestinationModKSelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DestinationModKSelector")
            .SetParent<PathSelector>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<DestinationModKSelector>()
            .AddAttribute(
                "Divisor",
                "What addresses are divided by before the remainder is taken: k^i for a "
                "switch of stage i (0: leaves) with k ports up. 0: FabricHelper finds it "
                "when it installs routes. Set before time zero.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&DestinationModKSelector::m_divisor)),
                MakeUintegerChecker<uint32_t>());
    return tid;
}

DestinationModKSelector::DestinationModKSelector() = default;

DestinationModKSelector::~DestinationModKSelector() = default;

std::string
DestinationModKSelector::GetName() const
{
    return "destination mod k";
}

bool
DestinationModKSelector::Reorders() const
{
    return false;
}

uint16_t
DestinationModKSelector::Select(const scaleacross::PortGroup& group,
                                const scaleacross::FabricPacket& packet,
                                int64_t)
{
    return group.ports[packet.destination / GetEffectiveDivisor() % group.ports.size()];
}

void
DestinationModKSelector::SetStageDivisor(uint32_t divisor)
{
    m_stageDivisor = divisor;
}

uint32_t
DestinationModKSelector::GetEffectiveDivisor() const
{
    return m_divisor != 0 ? m_divisor : m_stageDivisor;
}

std::optional<uint16_t>
DestinationModKSelector::PortOfFlow(const scaleacross::PortGroup& group,
                                    const scaleacross::FabricPacket& packet) const
{
    return group.ports[packet.destination / GetEffectiveDivisor() % group.ports.size()];
}

} // namespace ns3
