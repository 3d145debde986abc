// SPDX-License-Identifier: GPL-2.0-only

#include "random-spray-selector.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomSpraySelector);

TypeId
RandomSpraySelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomSpraySelector")
                            .SetParent<PathSelector>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<RandomSpraySelector>();
    return tid;
}

RandomSpraySelector::RandomSpraySelector()
{
    UseRandomness();
}

RandomSpraySelector::~RandomSpraySelector() = default;

std::string
RandomSpraySelector::GetName() const
{
    return "random spray";
}

bool
RandomSpraySelector::Reorders() const
{
    return true;
}

uint16_t
RandomSpraySelector::Select(const scaleacross::PortGroup& group,
                            const scaleacross::FabricPacket&,
                            int64_t)
{
    return group.ports[Draw(static_cast<uint32_t>(group.ports.size()))];
}

} // namespace ns3
