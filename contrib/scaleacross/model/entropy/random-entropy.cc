// SPDX-License-Identifier: GPL-2.0-only

#include "random-entropy.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomEntropy);

TypeId
RandomEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomEntropy")
                            .SetParent<RdmaEntropyOps>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<RandomEntropy>();
    return tid;
}

RandomEntropy::RandomEntropy() = default;

RandomEntropy::~RandomEntropy() = default;

std::string
RandomEntropy::GetName() const
{
    return "random";
}

uint16_t
RandomEntropy::Next(int64_t)
{
    return Draw();
}

} // namespace ns3
