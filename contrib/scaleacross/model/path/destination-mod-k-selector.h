// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DESTINATION_MOD_K_SELECTOR_H
#define SCALEACROSS_DESTINATION_MOD_K_SELECTOR_H

#include "path-selector.h"

namespace ns3
{

/**
 * Destination modulo k: what InfiniBand's linear forwarding tables hold in a fat tree (d-mod-k).
 *
 * Model: of n ports a packet to fabric address d takes number
 *
 *   floor(d / Divisor) mod n,
 *
 * whatever its source and queue pair: one port per destination, as a table that is indexed by LIDs
 * has it. In a fat tree of switches with k ports up, those of stage i (0: leaves) have Divisor k^i
 * (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat
 * trees", 2010), which is what FabricHelper gives them: every wire down then carries the traffic of
 * one destination, and all hosts that send to the one a fixed distance further on never meet.
 *
 * Addresses are those of FabricHelper::InstallRoutes, which follow each other on a switch.
 *
 * Left out: tables for LMC, that is, several LIDs for a port.
 *
 * Worked case: 8 ports up, Divisor 1: address 35 takes the fourth (35 mod 8 = 3).
 */
class DestinationModKSelector : public PathSelector
{
  public:
    static TypeId GetTypeId();
    DestinationModKSelector();
    ~DestinationModKSelector() override;

    std::string GetName() const override;
    bool Reorders() const override;
    uint16_t Select(const scaleacross::PortGroup& group,
                    const scaleacross::FabricPacket& packet,
                    int64_t now) override;

    bool UsesStageDivisor() const override
    {
        return true;
    }

    /// It counts if the attribute is 0.
    void SetStageDivisor(uint32_t divisor) override;
    /// What addresses are divided by.
    uint32_t GetEffectiveDivisor() const;

    std::optional<uint16_t> PortOfFlow(const scaleacross::PortGroup& group,
                                       const scaleacross::FabricPacket& packet) const override;

  private:
    uint32_t m_divisor{0};
    uint32_t m_stageDivisor{1};
};

} // namespace ns3

#endif // SCALEACROSS_DESTINATION_MOD_K_SELECTOR_H
