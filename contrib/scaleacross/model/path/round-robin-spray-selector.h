// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROUND_ROBIN_SPRAY_SELECTOR_H
#define SCALEACROSS_ROUND_ROBIN_SPRAY_SELECTOR_H

#include "path-selector.h"

#include <vector>

namespace ns3
{

/**
 * Round-robin packet spraying: packet after packet takes the next port.
 *
 * Model: a group has a cursor of its own for packets with payload and one for those without
 * (ACKs, notifications), which begins at a place that follows from the switch's seed. Data and ACKs
 * have cursors of their own because they are of unlike size: sharing one, where they take turns,
 * data would only ever see every other port. Groups with the same first port share their cursors.
 *
 * Of N packets of equal size every port gets floor or ceil of N/n. Nothing is random, so that
 * switches whose arrivals are in step send in step: two that begin at the same place may collide at
 * every packet.
 *
 * Worked case: 8 ports, packets of one size at the line rate of 8 hosts: each port gets a packet in
 * every packet time, and none waits for another.
 */
class RoundRobinSpraySelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    RoundRobinSpraySelector();
    ~RoundRobinSpraySelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;

  private:
    std::vector<uint32_t> m_cursors; //!< two per first port of a group
};

} // namespace ns3

#endif // SCALEACROSS_ROUND_ROBIN_SPRAY_SELECTOR_H
