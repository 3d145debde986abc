// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SYMMETRY_H
#define SCALEACROSS_SYMMETRY_H

#include "core/engine/flow/flow-paths.h"
#include "core/program/program.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Which ranks of a job do the same at the same times, and which links carry the same for them, so
 * that one of each may stand for all.
 *
 * An equitable partition. Ranks are alike if they are of one class, in one building, have NICs of
 * the same rates, and whatever they send as the n-th of a program's ways to others (the next of a
 * ring, the k-th of an all-to-all, a peer of the pipeline) goes to ranks that are alike, as far
 * away as the other's, and comes from such. Switches with a cut (FabricShape::Cuts) are alike if
 * their links are and the ranks below them are so, each as often; their links are so in pairs of
 * the same position. Spans are alike with none but themselves.
 *
 * Then in a network that shares max-min fairly everything alike goes on alike from the beginning:
 * with m ranks that are alike, each of which takes a share s of n links that are, each of the links
 * carries s m / n of what a rank sends (Grohe, Kersting, Mladenov, Selman, *Dimension Reduction via
 * Colour Refinement*, 2014).
 *
 * Parts of a buffer that are no whole part of it differ by a byte, which is not looked at.
 *
 * Worked case: rings of 8 servers, 4 on each of two leaves. A member's next is on its own leaf, or
 * for the last one of a leaf on the other. So members have four ways to be, by their place on the
 * leaf; both leaves are alike, each of whose 4 x 8 ranks of one way there are two servers.
 */
struct Symmetry
{
    std::vector<Rank> rank;         //!< by rank: the lowest one that is alike
    std::vector<uint32_t> ranks;    //!< by rank: how many are alike
    std::vector<DirectedLink> link; //!< by directed link: the lowest one that is alike
    std::vector<uint32_t> links;    //!< by directed link: how many are alike

    /// Ranks that stand for themselves.
    uint32_t Kinds() const;
};

/// Every rank and link is alike with itself only.
Symmetry NoSymmetry(uint32_t ranks, const FlowPaths& paths);

/// By colour refinement, the coarsest of all. Cost: a few times (until nothing is told apart any
/// more) all pairs of ranks that send to each other; NoSymmetry() where these are more than 2^25.
Symmetry FindSymmetry(const Scenario& scenario, const TaskGraph& graph, const FlowPaths& paths);

} // namespace scaleacross

#endif // SCALEACROSS_SYMMETRY_H
