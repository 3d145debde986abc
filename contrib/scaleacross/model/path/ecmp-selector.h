// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ECMP_SELECTOR_H
#define SCALEACROSS_ECMP_SELECTOR_H

#include "path-selector.h"

namespace ns3
{

/**
 * ECMP: equal-cost multipath per flow (RFC 2992's hash-threshold).
 *
 * Model: of n ports a packet takes number floor(h n / 2^32), where h is the switch's 32-bit hash of
 * FabricSwitch::HashFields and its seed. Packets of one flow take one path. What a flow is, the
 * fields say: with the UDP source port or the destination QP each queue pair is one (E-ECMP),
 * with source and destination only all queue pairs between two NICs are one.
 *
 * n flows on m paths meet: the fullest path has on average EcmpSlowdown(n, m) times its share, as
 * balls thrown into bins (`core/topology/ecmp-collision.h`).
 *
 * Left out: resilient hashing. When a port goes down or comes back, flows of other ports move too.
 *
 * Worked case: 16 flows on 16 paths: all on paths of their own once in 16^16 / 16! = 881,658 times;
 * on average three meet on the fullest path and the slowest takes 3.08 times as long.
 */
class EcmpSelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    EcmpSelector();
    ~EcmpSelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;
    std::optional<uint16_t> PortOfFlow(const scaleacross::PortGroup& group,
                                       const scaleacross::FabricPacket& packet) const override;

    bool GoesByHash() const override
    {
        return true;
    }
};

} // namespace ns3

#endif // SCALEACROSS_ECMP_SELECTOR_H
