// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOWERING_H
#define SCALEACROSS_LOWERING_H

#include "core/program/collective.h"
#include "core/spec/collective-spec.h"
#include "core/spec/network-plan.h"
#include "core/topology/rank-layout.h"

namespace scaleacross
{

/**
 * Writes a collective as phases.
 *
 * The part of a group inside one server always comes first (reduce-scatter) or last (all-gather)
 * over NVLink, so that across servers every rank talks through its own NIC: what NCCL reaches
 * with one ring per NIC. `Hierarchical` cuts once more at the building boundary: reduce-scatter
 * inside, all-reduce across, all-gather inside. `Ring` runs one ring through all servers.
 * All-to-all is direct, or under Hierarchical by two hops (inside, then across). "Inside a
 * building" means inside a block of RankLayout::buildingSpan ranks. Send-receive is one step.
 *
 * A level that works on the 1/n part of the level before rounds it up to whole bytes. A group that
 * a boundary would cut unevenly is not cut there; with one member there are no phases.
 *
 * Worked case: all-reduce of S over 16 ranks, 4 per node, 8 per building. Hierarchical:
 * reduce-scatter of S over 4, of S/4 over 2, of S/8 over the 2 buildings, all-gather of S/8, S/4,
 * S. Ring: reduce-scatter of S over 4, of S/4 over 4, and the two all-gathers.
 *
 * @param bytes S, the group's whole buffer (all-to-all, send-receive: what each member
 * holds).
 */
Collective Lower(CollectiveOp op,
                 CommClass comm,
                 Bytes bytes,
                 const RankGroup& group,
                 const RankLayout& layout,
                 CollectiveAlgorithm algorithm);

} // namespace scaleacross

#endif // SCALEACROSS_LOWERING_H
