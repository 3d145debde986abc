// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FRAMEWORK_RANKS_H
#define SCALEACROSS_FRAMEWORK_RANKS_H

#include "cli/plan-formats/planned-job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Orders in which a training framework numbers its ranks, inner to outer.
enum class FrameworkOrder : uint8_t
{
    PipelineOutermost, //!< tp-cp-dp-pp
    DataOutermost      //!< tp-cp-pp-dp
};

/**
 * Which GPU each of a framework's ranks has to be on, so that its groups are those of a plan.
 *
 * A launcher such as torchrun numbers ranks through the nodes that it starts, node by node. With
 * another order of nodes than that of servers it gives what a plan asks for where the ranks of a
 * node are all on one server, in the order of its GPUs. Else each process is told its rank.
 *
 * Worked case: tp = 8, pp = 2, dp = 2 on servers of 8 GPUs, DP-out: the plan has stages 0 and 1 of
 * the first replica on servers 0 and 1, those of the second on 2 and 3. Ranks with the pipeline
 * outermost are stage 0 of both replicas first: nodes are servers 0, 2, 1 and 3. With tp = 4 a
 * server has both stages of a replica, and ranks 0 to 3 and 8 to 11 are on server 0.
 */
struct FrameworkRanks
{
    FrameworkOrder order{FrameworkOrder::PipelineOutermost};
    std::vector<uint32_t> gpus; //!< by rank, numbered as a plan's ranks
    uint32_t perNode{1};

    /// Whether ranks are on GPUs in their order.
    bool KeepsOrder() const;

    /// Whether every node of a launcher is one server, in its order.
    bool GoesByNodes() const;

    /// For people: how to start `command` on each GPU.
    std::string LaunchText(const std::string& command) const;

    /// For people: which nodes of a launcher are which servers of which buildings, or which ranks
    /// each server has; a line for each run of neighbours.
    std::string PlacesText(const ClusterSpec& cluster) const;
};

/**
 * The ranks with that of the orders which needs least, by which all groups are the plan's: those of
 * tp, cp, pp and dp, of routed experts, and of what is sharded, over `shardMembers` neighbours of
 * cp x dp (0: nothing is). None if there are none.
 *
 * Experts are counted as Megatron-Core and TorchTitan do: the tp x cp x dp ranks of a stage as etp
 * x ep x edp, inner to outer.
 */
std::optional<FrameworkRanks> FrameworkRanksOf(const PlannedJob& job,
                                               const std::vector<FrameworkOrder>& orders,
                                               uint32_t shardMembers);

} // namespace scaleacross

#endif // SCALEACROSS_FRAMEWORK_RANKS_H
