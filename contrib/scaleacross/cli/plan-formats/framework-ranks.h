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
 * Which GPUs a framework's ranks have to be on, so that its groups are those of a plan.
 *
 * A framework numbers ranks through the nodes that a launcher starts, as many per node as it has
 * GPUs. Node n runs on server hosts[n], and its local rank i on GPU devices[i] there. With another
 * order of nodes than that of servers every order of a plan's dimensions can be had whose inner
 * part, up to the size of a server, is the framework's.
 *
 * Worked case: tp = 8, pp = 2, dp = 2 on servers of 8 GPUs, DP-out: the plan has stage 0 and 1 of
 * the first replica on servers 0 and 1, those of the second on 2 and 3. Ranks with the pipeline
 * outermost are stage 0 of both replicas first: hosts = {0, 2, 1, 3}.
 */
struct FrameworkRanks
{
    FrameworkOrder order{FrameworkOrder::PipelineOutermost};
    std::vector<uint32_t> hosts;
    std::vector<uint32_t> devices;

    bool KeepsHosts() const;
    bool KeepsDevices() const;

    /// "0,1,2,3".
    std::string DevicesText() const;

    /// For people: which nodes of the launcher are which servers of which buildings, a line for
    /// each run of neighbours.
    std::string HostsText(const ClusterSpec& cluster) const;
};

/**
 * The ranks with the first of the orders by which all groups are the plan's, servers in their own
 * order before others: those of tp, cp, pp and dp, of routed experts, and of what is sharded, over
 * `shardMembers` neighbours of cp x dp (0: nothing is). None if there are none.
 *
 * Experts are counted as Megatron-Core and TorchTitan do: the tp x cp x dp ranks of a stage as etp
 * x ep x edp, inner to outer.
 */
std::optional<FrameworkRanks> FrameworkRanksOf(const PlannedJob& job,
                                               const std::vector<FrameworkOrder>& orders,
                                               uint32_t shardMembers);

} // namespace scaleacross

#endif // SCALEACROSS_FRAMEWORK_RANKS_H
