// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCALE_DOWN_H
#define SCALEACROSS_SCALE_DOWN_H

#include "core/base/errors.h"
#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// A setting that a smaller scenario has another value of.
struct ScaledSetting
{
    std::string key;  //!< "plan.dp"; of what follows from others, words: "rate of leaf uplinks"
    std::string from; //!< value in the whole
    std::string to;   //!< value in the part
};

/**
 * The factors by which a cluster can be divided so that `most` GPUs or fewer are left, from the
 * smallest on; one at least. What a plan says to them is for ScaleDown().
 *
 * Throws ConfigError where there is none, with what is in the way of the smallest; where there are
 * events, which name parts that a smaller cluster may not have; and for a shape whose links are not
 * in proportion to its switches. Domain: a valid scenario of more than `most` GPUs; `most` >= 1.
 */
std::vector<uint32_t> ScaleFactors(const Scenario& scenario, uint32_t most);

/**
 * The scenario with a `factor`-th of its data-parallel replicas and of all that is in proportion to
 * them, or why there is none (reason "scale").
 *
 * Divided by the factor are plan.dp, workload.global_batch, the GPUs of every building and the
 * capacity of every span. So a replica has the same microbatches, and oversubscriptions stay. Pods
 * are taken away first, and with them zones; the rest comes out of the servers of a pod. Two pods,
 * zones, spines and aggregation switches stay where there are so many, so that there is something
 * between them. Spines, aggregation switches and lanes of spans are then divided such that the
 * rates of links change least: the sum of |log2| of what the uplinks of each building and the links
 * of each span change by. No link is slower than it was, or than a NIC's port: what a port fills
 * it still does. Memory is no limit any more, for weights that are sharded over fewer replicas take
 * more of it.
 *
 * A plan has no part where the factor does not divide its degrees; where the part does not fit its
 * cluster; and where a group that has several members in a server, in a building or in several
 * buildings has not any more.
 *
 * Worked case: two buildings of 128 servers with 8 GPUs at 400 Gb/s, 32 to a pod, under 16 spines,
 * with a span of 12.8 Tb/s, and dp 64 over both. A quarter has two pods of 16 servers, for two
 * stay. Their leaves have half the ports, to which 8 spines give uplinks of the same rate; links of
 * the span have 3.2 Tb/s / 8 = 400 Gb/s, half of before and as much as a port.
 */
std::variant<Scenario, Infeasible> ScaleDown(const Scenario& scenario, uint32_t factor);

/// What is different in it, in the order of a study.
std::vector<ScaledSetting> ScaledSettings(const Scenario& whole, const Scenario& part);

/// "plan.dp 64 to 16, cluster.buildings.gpus 1024 to 256".
std::string ToString(const std::vector<ScaledSetting>& settings);

/**
 * One factor for all of several plans: of those that ScaleFactors() gives, one by which the most of
 * them have a part, and of these the smallest. So plans can be put in order, and none is compared
 * with one of another batch. Domain: ScaleFactors() gives one at least.
 */
uint32_t ScaleFactorFor(const Scenario& scenario, const std::vector<Plan>& plans, uint32_t most);

} // namespace scaleacross

#endif // SCALEACROSS_SCALE_DOWN_H
