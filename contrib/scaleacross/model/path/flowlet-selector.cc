// SPDX-License-Identifier: GPL-2.0-only

#include "flowlet-selector.h"

#include "ns3/attribute-guard.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FlowletSelector);

TypeId
FlowletSelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FlowletSelector")
            .SetParent<PathSelector>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<FlowletSelector>()
            .AddAttribute("Gap",
                          "Time without a packet of a flow after which it may take another path. "
                          "At least the largest difference in delay between two paths, queues "
                          "included, if packets are to keep their order.",
                          TimeValue(MicroSeconds(50)),
                          scaleacross::Fixed(
                              MakeTimeAccessor(&FlowletSelector::SetGap, &FlowletSelector::GetGap)),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TableSize",
                          "Entries of the table of flows, 16 bytes each. With about as many flows "
                          "as entries, flows share paths by chance. Set before time zero.",
                          UintegerValue(4096),
                          scaleacross::Fixed(MakeUintegerAccessor(&FlowletSelector::m_tableSize)),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24));
    return tid;
}

FlowletSelector::FlowletSelector()
{
    UseRandomness();
}

FlowletSelector::~FlowletSelector() = default;

std::string
FlowletSelector::GetName() const
{
    return "flowlet";
}

bool
FlowletSelector::Reorders() const
{
    return false; // if the gap is long enough
}

bool
FlowletSelector::GoesByTime() const
{
    return true;
}

void
FlowletSelector::SetGap(Time gap)
{
    m_gap = gap.GetPicoSeconds();
}

Time
FlowletSelector::GetGap() const
{
    return PicoSeconds(m_gap);
}

uint64_t
FlowletSelector::GetFlowlets() const
{
    return m_flowlets;
}

uint16_t
FlowletSelector::Select(const scaleacross::PortGroup& group,
                        const scaleacross::FabricPacket& packet,
                        int64_t now)
{
    m_table.resize(m_tableSize);
    const uint32_t hash = Hash()(packet);
    Entry& entry = m_table[scaleacross::ScaleHash(hash, m_tableSize)];
    const auto& ports = group.ports;
    const bool late = entry.last < now - m_gap;
    entry.last = now;
    if (late)
    {
        entry.port = ports[Draw(static_cast<uint32_t>(ports.size()))];
        ++m_flowlets;
        return entry.port;
    }
    const bool member = std::find(ports.begin(), ports.end(), entry.port) != ports.end();
    return member ? entry.port : PortOfHash(group, hash);
}

} // namespace ns3
