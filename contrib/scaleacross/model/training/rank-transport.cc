// SPDX-License-Identifier: GPL-2.0-only

#include "rank-transport.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RankTransport);

TypeId
RankTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RankTransport").SetParent<Object>().SetGroupName("ScaleAcross");
    return tid;
}

} // namespace ns3
