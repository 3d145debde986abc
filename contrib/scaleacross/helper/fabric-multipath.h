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
 * whether routes have weights (by capacity): FabricSwitch::PathSelector and HashFields as
 * MultipathFacts has them for each, RdmaQueuePair::EntropyOps, and marking. The page
 * doc/path-selection.md has them in a table.
 *
 * Every queue pair has a UDP source port of its own, so that hashing it tells queue pairs apart as
 * hashing the destination QP does.
 *
 * Where the choice goes by marks (reps), switches mark data so, and receivers send no CNPs unless
 * RdmaQueuePair::CongestionOps has been set, which may want them; else both are as if nobody set
 * them. The priority is RdmaQueuePair::Priority as set by then.
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
