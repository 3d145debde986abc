// SPDX-License-Identifier: GPL-2.0-only

#include "weighted-selector.h"

#include <numeric>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(WeightedSelector);

TypeId
WeightedSelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WeightedSelector")
                            .SetParent<PathSelector>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<WeightedSelector>();
    return tid;
}

WeightedSelector::WeightedSelector() = default;

WeightedSelector::~WeightedSelector() = default;

std::string
WeightedSelector::GetName() const
{
    return "UCMP";
}

bool
WeightedSelector::Reorders() const
{
    return false;
}

uint16_t
WeightedSelector::Select(const scaleacross::PortGroup& group,
                         const scaleacross::FabricPacket& packet,
                         int64_t)
{
    return PortOf(group, packet);
}

std::optional<uint16_t>
WeightedSelector::PortOfFlow(const scaleacross::PortGroup& group,
                             const scaleacross::FabricPacket& packet) const
{
    return PortOf(group, packet);
}

uint16_t
WeightedSelector::PortOf(const scaleacross::PortGroup& group,
                         const scaleacross::FabricPacket& packet) const
{
    const uint32_t hash = Hash()(packet);
    if (group.weights.empty())
    {
        return scaleacross::PortOfHash(group, hash);
    }
    const auto& weights = group.weights;
    size_t rest =
        scaleacross::ScaleHash(hash, std::accumulate(weights.begin(), weights.end(), size_t{0}));
    size_t i = 0;
    while (rest >= weights[i])
    {
        rest -= weights[i++];
    }
    return group.ports[i];
}

} // namespace ns3
