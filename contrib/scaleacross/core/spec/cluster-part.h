// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLUSTER_PART_H
#define SCALEACROSS_CLUSTER_PART_H

#include "core/spec/cluster-spec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The cluster of which a job has these buildings only, in this order: ranks are numbered through
 * the first of them, then the second.
 *
 * Spans are as they were. What lies between the others goes on forwarding: a building that is left
 * out is a hub, behind those that the cluster has. Hubs with a single span, and all where one
 * building is left, join nothing and go.
 *
 * Domain: indices of buildings, at least one, each once.
 *
 * Worked case: a line a - b - c, of which a and c are used: two buildings and the hub b with a span
 * to either. Of a mesh of the three, the same with a direct span, which packets then take.
 */
ClusterSpec OnlyBuildings(const ClusterSpec& cluster, const std::vector<uint32_t>& used);

/**
 * The parts of a cluster in all orders, as "a+c" says them: all buildings first, then one less, and
 * so on, each number in the order of the study. Those behind the first `most` are left out.
 *
 * Of parts that differ in names only the first stands for all: where sites by their places, with
 * their spans, are the same; and where two buildings have the same GPUs and fabric and equal spans
 * to every other site, of which the first are used, in their order. (Hubs that could change places
 * are not looked for.) All parts where `told` says that something else tells them apart, as events
 * may.
 */
std::vector<std::string> PartsOf(const ClusterSpec& cluster, bool told, size_t most);

/// Buildings by name, as in PartsOf().
std::string PartText(const ClusterSpec& cluster, const std::vector<uint32_t>& used);

} // namespace scaleacross

#endif // SCALEACROSS_CLUSTER_PART_H
