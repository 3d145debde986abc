// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYER_PROGRAM_H
#define SCALEACROSS_LAYER_PROGRAM_H

#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/collective-table.h"
#include "core/work/cost/compute-cost.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Time that one pass computes in one half of a layer, cut where communication can stand beside it.
 *
 * `column` and `row` are GEMMs whose weights are split by columns (after the half's gather) and by
 * rows (before its scatter), `rest` is everything between. `columnWeights` is the weight gradient
 * of the first, which nothing waits for.
 */
struct HalfTime
{
    Duration column;
    Duration rest;
    Duration row;
    Duration columnWeights;
};

/// Of a forward.
HalfTime ForwardTime(const ComputeCost& cost, double columnShare);

/// Of a backward with its weight gradients, or of an input gradient alone, without what is forward
/// again.
HalfTime BackwardTime(const ComputeCost& cost, double columnShare, bool weights);

/**
 * Writes the halves of a layer: computing with the collectives of tensor, context and expert
 * parallelism around it. Each class has its stream and its handle; all are awaited before the half
 * ends.
 *
 * S = 2 s b h / cp bytes is the activation of a microbatch in BF16.
 *
 * **Tensor parallel**, with sequence parallel: all-gather of S before and reduce-scatter of S after
 * each half, and the same backward, since the gradient of either is the other; backward also
 * all-gathers the half's input once more, for the weight gradient of its first GEMM. As in
 * Megatron, that gather stands beside the input gradients, and the reduce-scatter of backward
 * beside that weight gradient (which then has to be in the same pass). Everything else blocks.
 * Other software may gather once and keep all, or block there as well (SoftwareStack).
 *
 * **Asynchronous tensor parallel** (ParallelPlan::asyncTensor) cuts the gather before a GEMM and
 * the reduce-scatter after it into tp - 1 steps to the next rank of S/tp each. The GEMM is done in
 * tp parts: the one for the rank's own shard first, each other once its step has arrived; in a
 * scatter each part goes on its way while the next is computed. Forward both, backward the gather
 * of the output's gradient.
 *
 * **Repeated KV heads** (tp > g, SoftwareStack::repeatsKvHeads): behind the GEMM of Q, K and V all
 * ranks gather all of its columns, 2 s b (a + 2g) d / cp bytes, and backward reduce-scatter their
 * gradient before that GEMM's own. Both block. A group gathers all of them although a rank needs
 * those of one KV head: so does Megatron Core 0.16 (get_query_key_value_tensors in attention.py).
 *
 * **Context parallel**: all-gather of K and V, 2 s b g (d + d_v) / tp bytes, before attention, or
 * 2 s b (d + d_v) where KV heads are repeated;
 * backward gathers them again (unless the layer was just recomputed) and reduce-scatters their
 * gradients.
 *
 * **Expert parallel**: tokens are sequence-sharded, so a rank dispatches 2 b s k h / (cp tp) bytes
 * by all-to-all and receives as much, or workload.expert_imbalance times that, as the fullest rank
 * does; half of it with FP8, in which tokens (and, backward, their gradients) are dispatched. The
 * etp ranks that an expert is split over all-gather k S etp / tp, compute and reduce-scatter as
 * much in BF16 (k S where etp = tp, nothing with whole experts); a second all-to-all combines in
 * BF16. Shared experts are a dense MLP with the gathers and scatters of one, done beside the two
 * all-to-alls: up to its second GEMM beside the first, the rest beside the second. With ep = 1
 * nothing is dispatched, and where etp = tp, too, routed experts use the all-gather of S as a dense
 * MLP does. The router's time counts with the experts'.
 *
 * **Embedding and head** are split over the vocabulary: reduce-scatter of S after the embedding,
 * all-gather before the head, and the mirror image backward. The loss's reductions (a few bytes per
 * token) are left out.
 */
class LayerProgram
{
  public:
    /// Handles 0 .. kHandles-1: those of Stream::Tensor, Context, Expert.
    static constexpr uint32_t kHandles = 3;

    LayerProgram(const JobSpec& job,
                 const RankLayout& layout,
                 const LoweringRules& rules,
                 CollectiveTable& table);

    /// @param gatherColumns whether Q, K and V are made, and not kept from a forward before.
    void AttentionForward(const HalfTime& time, bool gatherColumns, Program& program) const;
    /// @param gatherKeys whether the keys are not still there from a recomputed forward.
    void AttentionBackward(const HalfTime& time, bool gatherKeys, Program& program) const;

    /// A dense MLP, or all experts of a layer where nothing is dispatched.
    void MlpForward(const HalfTime& time, Program& program) const;
    void MlpBackward(const HalfTime& time, Program& program) const;

    /// Whether copies of tokens of a MoE layer are sent to their experts, on other ranks or here.
    bool Dispatches() const
    {
        return m_apart;
    }

    /// A MoE layer that dispatches. `shared` is of the shared experts and zero without any.
    void MoeForward(const HalfTime& shared, Duration routed, Program& program) const;
    void MoeBackward(const HalfTime& shared, Duration routed, Program& program) const;

    void EmbeddingForward(Duration compute, Program& program) const;
    void EmbeddingBackward(Duration compute, Program& program) const;
    void HeadForward(Duration compute, Program& program) const;
    /// @param weights zero where weight gradients are another pass's.
    void HeadBackward(Duration input, Duration weights, Program& program) const;

  private:
    void Post(uint32_t collective, Stream stream, Program& program) const;
    void Await(uint32_t collective, Stream stream, Program& program) const;
    void PostInput(Program& program) const;
    void AwaitInput(Program& program) const;
    void Block(uint32_t collective, Stream stream, Program& program) const;
    void GatherThenCompute(Duration compute, bool inSteps, Program& program) const;
    void ComputeThenScatter(Duration compute, bool inSteps, Program& program) const;
    void ScatterBeside(Duration weights, Program& program) const;

    bool m_apart;  //!< Dispatches()
    bool m_shared; //!< shared experts beside dispatched ones
    bool m_inSteps;
    uint32_t m_tensor;    //!< tp
    bool m_besideScatter; //!< SoftwareStack::overlapsTensorReduction
    bool m_gathersInput;  //!< for the weight gradient of a half's first GEMM
    bool m_gathersBeside; //!< SoftwareStack::gathersForWeights, or in steps
    uint32_t m_step;      //!< of a gather or scatter in steps
    uint32_t m_gather;
    uint32_t m_scatter;
    uint32_t m_columnGather; //!< of Q, K and V, where KV heads are repeated
    uint32_t m_columnScatter;
    uint32_t m_keyGather;
    uint32_t m_keyScatter;
    uint32_t m_dispatch;
    uint32_t m_combine;
    uint32_t m_expertGather;
    uint32_t m_expertScatter;
};

} // namespace scaleacross

#endif // SCALEACROSS_LAYER_PROGRAM_H
