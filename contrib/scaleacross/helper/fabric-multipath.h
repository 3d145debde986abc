// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_MULTIPATH_H
#define SCALEACROSS_FABRIC_MULTIPATH_H

#include "core/spec/network-plan.h"

namespace ns3
{

class FabricHelper;

/**
 * Sets the path selector of the switches that are created from now on, and whether routes have
 * weights (Ucmp: by capacity):
 *
 * | multipath       | FabricSwitch::PathSelector    | FabricSwitch::HashFields            |
 * |-----------------|-------------------------------|-------------------------------------|
 * | Ecmp            | ns3::EcmpSelector             | source,destination                  |
 * | EEcmp           | ns3::EcmpSelector             | source,destination,udp-source-port  |
 * | Ucmp            | ns3::WeightedSelector         | the same                            |
 * | Flowlet         | ns3::FlowletSelector          | the same                            |
 * | SprayRandom     | ns3::RandomSpraySelector      | the same, for other stacks' packets |
 * | SprayRoundRobin | ns3::RoundRobinSpraySelector  | the same                            |
 * | SprayAdaptive   | ns3::AdaptiveSpraySelector    | the same                            |
 * | EntropyRandom   | ns3::EcmpSelector             | the same                            |
 * | Reps            | ns3::EcmpSelector             | the same                            |
 *
 * Every queue pair has a UDP source port of its own, so that hashing it tells queue pairs apart as
 * hashing the destination QP does. With the last two, the queue pairs that are created from now on
 * have RdmaQueuePair::EntropyOps (ns3::RandomEntropy, ns3::RecycledEntropy). With Reps the switches
 * mark packets of priority 3, from 20 to 80 KB at 100 Gb/s with a probability up to 1 (a fifth to
 * four fifths of what 8 us carry), in proportion at other rates.
 */
void UseMultipath(FabricHelper& fabric, scaleacross::Multipath multipath);

/// Makes the connections that are created from now on use their queue pairs in this way.
void UseQueuePairs(FabricHelper& fabric, const scaleacross::QueuePairUse& use);

/**
 * Makes the queue pairs that are created from now on repair losses in this way. `reorderTolerance`
 * (RdmaQueuePair::ReorderTolerance) is for selective repeat over paths that may change the order;
 * 0 where they do not.
 */
void UseRecovery(FabricHelper& fabric, scaleacross::Recovery recovery, uint64_t reorderTolerance);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_MULTIPATH_H
