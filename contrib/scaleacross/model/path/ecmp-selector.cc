// SPDX-License-Identifier: GPL-2.0-only

#include "ecmp-selector.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(EcmpSelector);

TypeId
EcmpSelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EcmpSelector")
                            .SetParent<PathSelector>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<EcmpSelector>();
    return tid;
}

EcmpSelector::EcmpSelector() = default;

EcmpSelector::~EcmpSelector() = default;

std::string
EcmpSelector::GetName() const
{
    return "ECMP";
}

bool
EcmpSelector::Reorders() const
{
    return false;
}

uint16_t
EcmpSelector::Select(const scaleacross::PortGroup& group,
                     const scaleacross::FabricPacket& packet,
                     int64_t)
{
    return scaleacross::PortOfHash(group, Hash()(packet));
}

std::optional<uint16_t>
EcmpSelector::PortOfFlow(const scaleacross::PortGroup& group,
                         const scaleacross::FabricPacket& packet) const
{
    return scaleacross::PortOfHash(group, Hash()(packet));
}

} // namespace ns3
