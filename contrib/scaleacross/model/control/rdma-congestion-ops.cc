// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-congestion-ops.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaCongestionOps);

TypeId
RdmaCongestionOps::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaCongestionOps").SetParent<Object>().SetGroupName("ScaleAcross");
    return tid;
}

RdmaCongestionOps::RdmaCongestionOps() = default;

RdmaCongestionOps::~RdmaCongestionOps() = default;

bool
RdmaCongestionOps::WantsRoundTrips() const
{
    return false;
}

bool
RdmaCongestionOps::WantsTelemetry() const
{
    return false;
}

bool
RdmaCongestionOps::WantsPulls() const
{
    return false;
}

void
RdmaCongestionOps::Init(RdmaCongestionState&)
{
}

void
RdmaCongestionOps::OnSent(RdmaCongestionState&, uint32_t, int64_t)
{
}

void
RdmaCongestionOps::OnAck(RdmaCongestionState&, const RdmaAck&, int64_t)
{
}

void
RdmaCongestionOps::OnCnp(RdmaCongestionState&, int64_t)
{
}

void
RdmaCongestionOps::OnPull(RdmaCongestionState&, uint64_t, int64_t)
{
}

void
RdmaCongestionOps::OnLoss(RdmaCongestionState&, int64_t)
{
}

void
RdmaCongestionOps::OnTimeout(RdmaCongestionState&, int64_t)
{
}

void
RdmaCongestionOps::Advance(RdmaCongestionState&, int64_t)
{
}

} // namespace ns3
