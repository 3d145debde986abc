// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOWERING_H
#define SCALEACROSS_LOWERING_H

#include "core/program/collective.h"
#include "core/spec/collective-spec.h"
#include "core/spec/network-plan.h"
#include "core/topology/rank-layout.h"
#include "core/work/nccl/nccl-lowering.h"

#include <functional>
#include <optional>
#include <vector>

namespace scaleacross
{

/// Time of a collective that has the network to itself, in seconds.
using CollectiveTimer = std::function<double(const Collective&)>;

/// How collectives are written as phases.
struct LoweringRules
{
    /// That algorithm, and nothing else said. Implicit, so that it may stand for the rules.
    LoweringRules(CollectiveAlgorithm algorithm);
    /// Those of a scenario.
    explicit LoweringRules(const Scenario& scenario, CollectiveTimer seconds = {});

    CollectiveAlgorithm algorithm;
    AllToAllAlgorithm allToAll;
    Bytes chunk;          //!< 0: whole, or with channels by NCCLX's rule
    uint32_t channels{1}; //!< see Collective
    /// What an algorithm that chooses goes by; domain: given if it is one.
    CollectiveTimer seconds;
    std::optional<NcclRules> nccl; //!< domain: given if the algorithm is a library's
    Duration tokenStart;           //!< of kernels that send tokens, over several servers
    Duration tokenMessage;         //!< of such for low latency
};

/**
 * Writes a collective as phases.
 *
 * The part of a group inside one server always comes first (reduce-scatter) or last (all-gather)
 * over NVLink, so that across servers every rank talks through its own NIC: what NCCL reaches
 * with one ring per NIC. `Hierarchical` cuts once more at the building boundary: reduce-scatter
 * inside, all-reduce across, all-gather inside. `Ring` runs one ring through all servers.
 * `HalvingDoubling` has the levels of Hierarchical and cuts each into its factors of two, the near
 * ones first, of which each is an exchange of halves; what is left of a level, an odd number of
 * members, goes by dissemination. `BidirectionalRing` has the levels of Ring, each both ways round.
 * `Nccl` is LowerByNccl()'s. `Tree` all-reduces between servers by two binary trees. `Auto` is what
 * the timer finds fastest; of equal ones the first of ring, hierarchical, halving-doubling,
 * bidirectional-ring, tree, and of direct, rail, building. "Inside a building" means inside a block
 * of RankLayout::buildingSpan ranks. Send-receive is one step.
 *
 * All-to-all is direct or by two hops, first inside a server or building, then between them.
 *
 * Chunks: S over the chunk size, rounded up; by NCCLX's rule S / n over the chunk size
 * clamp(S / (channels n), 1 B, 16 MiB), of which as many are in a phase at a time as channels, and
 * as 32 MiB hold. Never more than 4,096.
 *
 * A level that works on the 1/n part of the level before rounds it up to whole bytes. A group that
 * a boundary would cut unevenly is not cut there; with one member there are no phases.
 *
 * Worked case: all-reduce of S over 16 ranks, 4 per node, 8 per building. Hierarchical:
 * reduce-scatter of S over 4, of S/4 over 2, of S/8 over the 2 buildings, all-gather of S/8, S/4,
 * S. Ring: reduce-scatter of S over 4, of S/4 over 4, and the two all-gathers. Halving-doubling:
 * reduce-scatters of S, S/2, S/4 and S/8, and all-gathers back, all over 2.
 *
 * @param bytes S, the group's whole buffer (all-to-all, send-receive: what each member
 * holds).
 */
Collective Lower(CollectiveOp op,
                 CommClass comm,
                 Bytes bytes,
                 const RankGroup& group,
                 const RankLayout& layout,
                 const LoweringRules& rules);

/// Tokens that go to experts, or come back from them, by expert parallelism.
struct RoutedTokens
{
    Bytes bytes;         //!< S with a copy of a token for each of its experts
    uint32_t experts{0}; //!< E, evenly over the group
    uint32_t topK{0};    //!< k, of which a token goes to any k with equal probability
    bool back{false};    //!< what comes back and is added up
    Bytes token{};       //!< of one copy of a token; kernels' chunks and messages follow from it
    /// Group-limited routing, as DeepSeek-V3 has it: of so many equal groups of the experts, in
    /// their order, a token goes to `maxGroups`, those of its best experts; 0: to any.
    uint32_t groups{0};
    uint32_t maxGroups{0};
};

/**
 * Of `parts` equal parts of the experts, in their order (those of a member, or of a server), how
 * many a token with k of E experts reaches in the mean. Its experts come in the order of their
 * scores, in which all orders are as probable. Without groups that is n (1 - C(E - E/n, k) / C(E,
 * k)) of n parts.
 *
 * With G groups, of which it goes to M at most, after i experts in d groups any of the E - i that
 * are left may be next, or with d = M any of the d E / G - i that these groups have left. A part
 * has all experts of some groups and some of one or two at its ends; the probability that it gets
 * none is summed up over how many other groups have been visited and how many experts of the rest
 * of those at its ends are taken.
 *
 * Worked case: 2 parts, 4 experts, k = 2: the second is in the other part in 2 of 3 cases, so
 * 1.667; with these parts for groups and a limit of 1 it is 1.
 *
 * Domain: experts that lie evenly over parts and over groups.
 */
double PartsReached(const RoutedTokens& tokens, uint32_t parts);

/**
 * The all-to-all of routed tokens. With an algorithm that sends a token to each server once, as
 * DeepEP does: between the servers' members in equal positions one copy for each server that has
 * any of a token's experts, inside servers one for each member, PartsReached(); what comes back is
 * added up inside the server first. Otherwise Lower()'s, with a copy for each expert.
 *
 * By DeepEP's kernels for throughput the same goes on in chunks of 192 tokens (16 of each of 12
 * channels), so that tokens are forwarded inside servers while others arrive. As many chunks as
 * `channels` are on the way between servers, 8 at most (the 128 tokens of a channel's buffer). By
 * those for low latency every copy goes straight to its expert's member, over the scale-up network
 * where that reaches. What a kernel adds:
 *
 * - At its start 60 us for throughput and 35 us for low latency; over several servers token_start.
 * - For throughput, forwarding inside servers reaches 0.82 of the rate of collectives.
 * - For low latency, token_message for each message to another server, all of one member in turn.
 *
 * Worked case: E = 128, k = 8, two servers of 8: 2 (1 - C(64, 8) / C(128, 8)) = 1.994 copies go to
 * servers in place of 8.
 */
Collective LowerRouted(const RoutedTokens& tokens,
                       const RankGroup& group,
                       const RankLayout& layout,
                       const LoweringRules& rules);

/// What DeepEP divides by the time for a bandwidth: with a copy for each server once per server, in
/// one server a copy for each member, else a copy for each expert; those that stay included.
Bytes CountedBytes(const RoutedTokens& tokens,
                   const RankGroup& group,
                   const RankLayout& layout,
                   const LoweringRules& rules);

/// A family of groups, and those of all phases that Lower() may write for its collectives.
std::vector<RankGroup> PhaseFamilies(const RankGroup& group,
                                     const RankLayout& layout,
                                     CollectiveAlgorithm algorithm);

} // namespace scaleacross

#endif // SCALEACROSS_LOWERING_H
