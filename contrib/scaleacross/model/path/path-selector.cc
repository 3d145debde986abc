// SPDX-License-Identifier: GPL-2.0-only

#include "path-selector.h"

#include "ns3/random-variable-stream.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PathSelector);

TypeId
PathSelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::PathSelector").SetParent<Object>().SetGroupName("ScaleAcross");
    return tid;
}

PathSelector::PathSelector() = default;

PathSelector::~PathSelector() = default;

void
PathSelector::DoDispose()
{
    m_queues = nullptr;
    m_random = nullptr;
    Object::DoDispose();
}

std::optional<uint16_t>
PathSelector::PortOfFlow(const scaleacross::PortGroup&, const scaleacross::FabricPacket&) const
{
    return std::nullopt;
}

void
PathSelector::Attach(const scaleacross::FlowHash& hash, scaleacross::EgressQueues& queues)
{
    m_hash = hash;
    m_queues = &queues;
}

void
PathSelector::UseRandomness()
{
    m_random = CreateObject<UniformRandomVariable>();
}

int64_t
PathSelector::AssignStreams(int64_t stream)
{
    if (!m_random)
    {
        return 0;
    }
    m_random->SetStream(stream);
    return 1;
}

uint32_t
PathSelector::Draw(uint32_t n)
{
    // GetValue is below 1, and n far below the 2^32 steps of the generator.
    return static_cast<uint32_t>(m_random->GetValue() * n);
}

} // namespace ns3
