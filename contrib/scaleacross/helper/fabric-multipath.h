// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_MULTIPATH_H
#define SCALEACROSS_FABRIC_MULTIPATH_H

#include "core/spec/network-plan.h"

#include <set>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Sets how the switches, connections and queue pairs that are created from now on choose paths, and
 * whether routes have weights (Ucmp: by capacity):
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
 * | DModK           | ns3::DestinationModKSelector  | the same, for other stacks' packets |
 *
 * Every queue pair has a UDP source port of its own, so that hashing it tells queue pairs apart as
 * hashing the destination QP does.
 *
 * | attribute                      | EntropyRandom      | Reps                 | others  |
 * |--------------------------------|--------------------|----------------------|---------|
 * | RdmaQueuePair::EntropyOps      | ns3::RandomEntropy | ns3::RecycledEntropy | none    |
 * | RdmaQueuePair::SendCnps        | default            | false *              | default |
 * | FabricSwitch::EcnPriorities    | default            | that of data         | default |
 * | FabricSwitch::EcnReferenceRate | default            | 100 Gb/s             | default |
 * | FabricSwitch::EcnKmin, EcnKmax | default            | 20 KB, 80 KB         | default |
 * | FabricSwitch::EcnPmax          | default            | 1                    | default |
 *
 * So with Reps switches mark in proportion to the rate of a port from a fifth to four fifths of
 * what 8 us carry. (* unless RdmaQueuePair::CongestionOps has been set, which may want CNPs.) The
 * priority is RdmaQueuePair::Priority as set by then.
 *
 * All of these are set whatever they were before; `chosen` names those ("ns3::Type::Attribute")
 * that are to be left alone.
 */
void UseMultipath(FabricHelper& fabric,
                  scaleacross::Multipath multipath,
                  const std::set<std::string>& chosen = {});

/// Makes the connections that are created from now on use their queue pairs in this way.
void UseQueuePairs(FabricHelper& fabric, const scaleacross::QueuePairUse& use);

/// Makes the connections that are created from now on ask their receivers, which have `granted`
/// bytes under way to them in grants of `grant` bytes; 0: they do not ask.
void UseAdmission(FabricHelper& fabric, scaleacross::Bytes granted, scaleacross::Bytes grant);

/**
 * Makes the queue pairs that are created from now on repair losses in this way. `reorderTolerance`
 * (RdmaQueuePair::ReorderTolerance) is for selective repeat over paths that may change the order;
 * 0 where they do not.
 */
void UseRecovery(FabricHelper& fabric, scaleacross::Recovery recovery, uint64_t reorderTolerance);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_MULTIPATH_H
