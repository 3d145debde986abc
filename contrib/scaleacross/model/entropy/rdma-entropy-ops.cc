// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-entropy-ops.h"

#include "ns3/integer.h"
#include "ns3/object-factory.h"
#include "ns3/random-variable-stream.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaEntropyOps);

TypeId
RdmaEntropyOps::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaEntropyOps").SetParent<Object>().SetGroupName("ScaleAcross");
    return tid;
}

RdmaEntropyOps::RdmaEntropyOps() = default;

RdmaEntropyOps::~RdmaEntropyOps() = default;

void
RdmaEntropyOps::DoDispose()
{
    m_random = nullptr;
    Object::DoDispose();
}

bool
RdmaEntropyOps::HeedsMarks() const
{
    return false;
}

void
RdmaEntropyOps::OnAck(uint16_t, bool, int64_t)
{
}

void
RdmaEntropyOps::OnLoss(int64_t)
{
}

void
RdmaEntropyOps::OnTimeout(int64_t)
{
}

int64_t
RdmaEntropyOps::WaitsUntil() const
{
    return 0;
}

void
RdmaEntropyOps::SetStream(int64_t stream)
{
    if (m_random)
    {
        m_random->SetStream(stream);
        return;
    }
    // Made without this attribute, it would take one of the Simulator's first.
    m_random = CreateObjectWithAttributes<UniformRandomVariable>("Stream", IntegerValue(stream));
}

void
RdmaEntropyOps::TakeStream()
{
    if (!m_random)
    {
        SetStream(-1);
    }
}

uint16_t
RdmaEntropyOps::Draw()
{
    TakeStream(); // of a queue pair's it is done
    // GetValue is below 1, and kCount far below the 2^32 steps of the generator.
    return static_cast<uint16_t>(kFirst + static_cast<uint32_t>(m_random->GetValue() * kCount));
}

} // namespace ns3
