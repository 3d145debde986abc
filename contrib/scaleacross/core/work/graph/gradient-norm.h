// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GRADIENT_NORM_H
#define SCALEACROSS_GRADIENT_NORM_H

#include "core/program/program.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/collective-table.h"

#include <cstdint>

namespace scaleacross
{

/**
 * The norm of all gradients, which an optimizer that clips by it waits for: the sum of squares of
 * every rank, added up over all ranks and sent back to them. A number of 4 bytes, so what it costs
 * is latencies and the wait for the last rank: a barrier.
 *
 * Where no optimizer state is sharded (DDP), replicas have the same gradients after these have been
 * all-reduced, and what differs is only added up over tensor and expert parallelism and the stages,
 * each replica by itself: Megatron Core's groups of the model, dense and of experts, without its
 * distributed optimizer, and what PyTorch's clip_grad_norm_ does under DDP.
 *
 * Over the ranks of a stage it is an all-reduce by halving and doubling, inside servers, then
 * inside buildings, then between them (NCCL, too, takes a pattern of logarithmic depth for 4 bytes,
 * whatever it takes for gradients); over the stages of a pipeline a binomial tree to stage 0 and
 * back. So each level is passed once on the way to the sum and once on the way back: between two
 * buildings, a round trip.
 *
 * Worked case, 4 stages: 3 sends to 2 and 1 to 0; 2 sends to 0; and the same way back.
 */
class GradientNorm
{
  public:
    /// Messages numbered from `message`, whose receives are posted in a rendezvous
    /// (TaskGraph::rendezvous), collectives under `handle`. Collectives are added to `table`.
    GradientNorm(const RankLayout& layout,
                 uint32_t message,
                 uint32_t handle,
                 bool rendezvous,
                 CollectiveTable& table);

    /// Of a pipeline of so many stages.
    static uint32_t Messages(uint32_t stages)
    {
        return 2 * (stages - 1);
    }

    /// Appends a rank's part in it.
    void Append(Rank rank, Program& program) const;

  private:
    void AppendMessage(OpKind kind,
                       Rank rank,
                       uint32_t peer,
                       uint32_t message,
                       Program& program) const;

    RankGroup m_pipeline;
    bool m_rendezvous;
    uint32_t m_message;
    uint32_t m_handle;
    std::vector<uint32_t> m_collectives; //!< CollectiveTable::kNone: of one member
};

} // namespace scaleacross

#endif // SCALEACROSS_GRADIENT_NORM_H
