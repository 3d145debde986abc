// SPDX-License-Identifier: GPL-2.0-only

#include "adaptive-spray-selector.h"

#include "ns3/attribute-guard.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(AdaptiveSpraySelector);

TypeId
AdaptiveSpraySelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::AdaptiveSpraySelector")
            .SetParent<PathSelector>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<AdaptiveSpraySelector>()
            .AddAttribute(
                "Choices",
                "Ports that are drawn at random and looked at for each packet; 0: all. "
                "2 is the power of two choices.",
                UintegerValue(0),
                scaleacross::Fixed(MakeUintegerAccessor(&AdaptiveSpraySelector::m_choices)),
                MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute(
                "Granularity",
                "Waits are compared in whole multiples of this, and equal ones are "
                "chosen from at random; 0: exactly.",
                TimeValue(Time(0)),
                scaleacross::Fixed(MakeTimeAccessor(&AdaptiveSpraySelector::SetGranularity,
                                                    &AdaptiveSpraySelector::GetGranularity)),
                MakeTimeChecker(Time(0)));
    return tid;
}

AdaptiveSpraySelector::AdaptiveSpraySelector()
{
    UseRandomness();
}

AdaptiveSpraySelector::~AdaptiveSpraySelector() = default;

std::string
AdaptiveSpraySelector::GetName() const
{
    return "adaptive spray";
}

bool
AdaptiveSpraySelector::Reorders() const
{
    return true;
}

void
AdaptiveSpraySelector::SetGranularity(Time granularity)
{
    m_granularity = std::max<int64_t>(1, granularity.GetPicoSeconds());
}

Time
AdaptiveSpraySelector::GetGranularity() const
{
    return PicoSeconds(m_granularity == 1 ? 0 : m_granularity);
}

void
AdaptiveSpraySelector::Sample(const std::vector<uint16_t>& ports)
{
    // Floyd's: for each j of the last m_choices indices, one of 0 to j, or j if that is taken.
    m_sample.clear();
    const auto n = static_cast<uint32_t>(ports.size());
    for (uint32_t j = n - m_choices; j < n; ++j)
    {
        const uint16_t port = ports[Draw(j + 1)];
        const bool taken = std::find(m_sample.begin(), m_sample.end(), port) != m_sample.end();
        m_sample.push_back(taken ? ports[j] : port);
    }
}

uint16_t
AdaptiveSpraySelector::Select(const scaleacross::PortGroup& group,
                              const scaleacross::FabricPacket& packet,
                              int64_t now)
{
    const bool all = m_choices == 0 || m_choices >= group.ports.size();
    if (!all)
    {
        Sample(group.ports);
    }
    m_best.clear();
    int64_t least = INT64_MAX;
    for (const uint16_t port : all ? group.ports : m_sample)
    {
        const int64_t wait = Queues().WaitAt(port, packet.priority, now) / m_granularity;
        if (wait < least)
        {
            least = wait;
            m_best.clear();
        }
        if (wait == least)
        {
            m_best.push_back(port);
        }
    }
    const auto equal = static_cast<uint32_t>(m_best.size());
    return m_best[equal == 1 ? 0 : Draw(equal)];
}

} // namespace ns3
