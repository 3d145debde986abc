// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WEIGHTED_SELECTOR_H
#define SCALEACROSS_WEIGHTED_SELECTOR_H

#include "path-selector.h"

namespace ns3
{

/**
 * UCMP: ECMP that gives each port flows in proportion to its weight.
 *
 * Model: with weights w_1 ... w_n of sum W, a flow of hash h takes the port i for which
 * w_1 + ... + w_(i-1) <= floor(h W / 2^32) < w_1 + ... + w_i. Without weights it is ECMP. Weights
 * are those of the route (PortGroup); FabricHelper::SetRouteWeights sets them by
 * capacity, that of the whole way to the destination and not only of the next wire.
 *
 * Domain: W < 2^32.
 *
 * Worked case: wires of 400 and 100 Gb/s between two switches: weights 4 and 1, and of 1,000 flows
 * the second gets 200 +- 13. With ECMP it would get 500, two and a half times what it can carry.
 */
class WeightedSelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    WeightedSelector();
    ~WeightedSelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;
    std::optional<uint16_t> PortOfFlow(const scaleacross::PortGroup& group,
                                       const scaleacross::FabricPacket& packet) const override;

  private:
    uint16_t PortOf(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet) const;
};

} // namespace ns3

#endif // SCALEACROSS_WEIGHTED_SELECTOR_H
