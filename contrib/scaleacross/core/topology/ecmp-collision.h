// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ECMP_COLLISION_H
#define SCALEACROSS_ECMP_COLLISION_H

#include "core/spec/network-plan.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Slowdown of the slowest of `flows` equal flows that a uniform hash spreads over `paths` equal
 * paths: E[flows on the fullest path] / (flows / paths), at least 1, at most `paths`.
 *
 * E[max] = sum over k >= 0 of 1 - P(max <= k): exactly for few flows and for two paths, else with
 * Levin's representation of the multinomial (Annals of Statistics 9, 1981): n independent Poisson
 * counts conditioned on their sum, P(max <= k) = P(X <= k)^paths P(sum of X truncated at k = n) /
 * P(Poisson(n) = n), both last probabilities by the normal density, with the truncated mean and
 * variance or with n and n, whose errors cancel where truncating changes little. No more than
 * P(a binomial count <= k)^paths, which it never exceeds (Mallows, Biometrika 55, 1968) and comes
 * up to in the tail. Worked values: 16 flows on 16 paths 3.08, 256 on 16 1.46, 4096 on 64 1.30.
 */
double EcmpSlowdown(uint64_t flows, uint32_t paths);

/**
 * The same for connections of `pairs` queue pairs each (on average, hence less than 1 where some
 * have none here), by how their packets choose: 1 where every
 * packet does; EcmpSlowdown(connections, paths) where the hash sees NICs only (ecmp), of
 * connections x pairs where it sees queue pairs. Flowlets count as if no gap ever came, UCMP as if
 * all paths had the capacity that their weights say. By destination modulo k, connections go to
 * destinations that follow each other, as those of the hosts of a leaf do: the fullest path has
 * ceil(connections / paths) of them.
 *
 * Worked values: 16 connections of 16 pairs on 16 paths: ecmp 3.08, e-ecmp 1.47, spraying 1,
 * d-mod-k 1; 17 connections: d-mod-k 2 x 16 / 17 = 1.88.
 */
double PathSlowdown(Multipath multipath, double connections, double pairs, uint32_t paths);

/// Flows of which a hash chooses links of several switches that are alike.
struct HashedLinks
{
    uint64_t flows{0};  //!< out of a switch
    uint32_t paths{1};  //!< links that each chooses one of
    double switches{1}; //!< each with its own choices
    double wire{0};     //!< seconds in which the links of a switch carry them, all equally full
};

/**
 * Expected seconds until the last link of all is through: E[max] over all switches of what the
 * fullest of its links takes, the choices of different ones independent of each other. What goes
 * on when all have come waits for that one, however many switches there are.
 *
 * P(all are through by t) is the product of P(max <= t / s)^switches, s the seconds of a flow on a
 * link. Domain: not empty. Worked values: one flow on two links takes 2 wire; two such switches
 * of wire 1 and 0.75: 2; two of two flows on two links each: 1 wire (1 + 1 - 1/4) = 1.75 wire,
 * where one switch has 1.5.
 */
double FullestSeconds(const std::vector<HashedLinks>& sets);

/// Flows that a hash chooses links for, of connections of `pairs` queue pairs each (PathSlowdown);
/// 0 where none does, since packets are sprayed or destinations have their links in turn.
uint64_t HashedFlows(Multipath multipath, double connections, double pairs);

} // namespace scaleacross

#endif // SCALEACROSS_ECMP_COLLISION_H
