// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANDOM_SPRAY_SELECTOR_H
#define SCALEACROSS_RANDOM_SPRAY_SELECTOR_H

#include "path-selector.h"

namespace ns3
{

/**
 * Random packet spraying: every packet takes a port drawn at random (Dixit et al., INFOCOM 2013).
 *
 * Model: each of the n ports with probability 1/n, independently. No flow is hashed, so no two
 * collide for long; loads still differ by chance: of N packets a port gets N/n with a standard
 * deviation of sqrt(N (n - 1)) / n, and at a load close to 1 the queues grow like sqrt(N).
 *
 * Worked case: N = 134,224 packets (8 hosts, 16 MiB each) on 8 ports: 16,778 +- 121 each: the
 * fullest of eight has about 1.4 standard deviations, 1 %, more than its share, the last of whose
 * packets leaves 1 % later.
 */
class RandomSpraySelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    RandomSpraySelector();
    ~RandomSpraySelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;
};

} // namespace ns3

#endif // SCALEACROSS_RANDOM_SPRAY_SELECTOR_H
