// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_UNEVEN_CUTS_H
#define SCALEACROSS_UNEVEN_CUTS_H

#include "core/spec/cluster-spec.h"
#include "core/spec/multipath.h"
#include "core/topology/cut-share.h"
#include "core/topology/fabric-graph.h"
#include "core/topology/parts-left.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * What events leave of cuts where the switches' tables say how unequal links are used
 * (MultipathFacts::TellsLinksApart).
 *
 * All NICs send as much to each other one, by the weights of the tables (FabricTables). Of a cut on
 * which a link has f of the traffic and p of its rate free, there is
 *
 *     share = min over its links (p / f) / all links
 *
 * of what was built: the link that is full first limits it. Leaves, zones and planes have cuts of
 * their own, each by the traffic of one building with itself or with another one, and the one with
 * the least counts. Of a span, whose traffic other spans may have taken over, it is the share of
 * what passes it without events.
 *
 * Worked case: two links with a half and all of their rate, of each of which others have a quarter.
 * By weights of 1 : 2 they have a third and two thirds, so min(0.25 / (1/3), 0.75 / (2/3)) / 2 =
 * 0.375; what is free would be (0.25 + 0.75) / 2 = 0.5.
 *
 * `otherwise`: what holds where links are used alike, of cuts that nothing passes and of those with
 * detours (ShapeCut). `events`: what messages call them. Throws ConfigError (where = `events`) if
 * there is no way from one leaf to another.
 *
 * Leaves below the same switches, by links that have the same left, are found once for all.
 */
CutShares SharesByTables(const ClusterSpec& cluster,
                         const FabricGraph& graph,
                         const std::vector<LinkParts>& parts,
                         Multipath multipath,
                         const CutShares& otherwise,
                         const std::string& events);

} // namespace scaleacross

#endif // SCALEACROSS_UNEVEN_CUTS_H
