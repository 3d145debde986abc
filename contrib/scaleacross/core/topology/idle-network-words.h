// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_IDLE_NETWORK_WORDS_H
#define SCALEACROSS_IDLE_NETWORK_WORDS_H

#include "core/spec/cluster-spec.h"
#include "core/spec/network-plan.h"
#include "core/spec/tier.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Whether a cluster has GPUs that are so far apart.
bool HasTier(const ClusterSpec& cluster, Tier tier);

/**
 * Returns what a network says and this cluster has no use for, a line each: words of a tier that no
 * two GPUs are apart, words for all tiers where every tier there is has its own, and a multipath
 * where there is one path between any two NICs.
 */
std::vector<std::string> WarningsOfIdleNetworkWords(const ClusterSpec& cluster,
                                                    const NetworkPlan& network);

} // namespace scaleacross

#endif // SCALEACROSS_IDLE_NETWORK_WORDS_H
