// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYER_PROGRAM_H
#define SCALEACROSS_LAYER_PROGRAM_H

#include "core/schedule/collective-table.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <cstdint>

namespace scaleacross
{

/**
 * Writes the halves of a layer: computing with the collectives of tensor, context and expert
 * parallelism around it. All of these block: posted on Stream::Inline, then awaited.
 *
 * S = 2 s b h / cp bytes is the activation of a microbatch in BF16.
 *
 * **Tensor parallel**, with sequence parallel: all-gather of S before and reduce-scatter of S after
 * each half, and the same backward, since the gradient of either is the other. The second gather of
 * the input that a weight gradient needs is left out: it runs beside the input gradient.
 *
 * **Context parallel**: all-gather of K and V, 2 s b g (d + d_v) / tp bytes, before attention;
 * backward gathers them again (unless the layer was just recomputed) and reduce-scatters their
 * gradients.
 *
 * **Expert parallel**: tokens are sequence-sharded, so a rank dispatches 2 b s k h / (cp tp) bytes
 * by all-to-all and receives as much, or workload.expert_imbalance times that, as the fullest rank
 * does; half of it with FP8, in which tokens (and, backward, their gradients) are dispatched. The
 * expert's tp group all-gathers k S, computes and reduce-scatters k S in BF16; a second all-to-all
 * combines in BF16. Shared experts
 * are a dense MLP with its own all-gather and reduce-scatter of S. With ep = 1 nothing is
 * dispatched, and routed experts use the all-gather of S as a dense MLP does. The router's time
 * counts with the experts'.
 *
 * **Embedding and head** are split over the vocabulary: reduce-scatter of S after the embedding,
 * all-gather before the head, and the mirror image backward. The loss's reductions (a few bytes per
 * token) are left out.
 */
class LayerProgram
{
  public:
    /// Handle of all inline collectives: each is awaited before the next is posted.
    static constexpr uint32_t kHandle = 0;

    LayerProgram(const JobSpec& job,
                 const RankLayout& layout,
                 CollectiveAlgorithm algorithm,
                 CollectiveTable& table);

    /// Attention of one pass. Forward gathers keys; a recomputed backward only scatters.
    void Attention(Duration compute, bool gatherKeys, bool scatterKeys, Program& program) const;

    /// MLP or MoE of one pass: forward and backward have the same collectives.
    void Mlp(bool moe, Duration compute, Program& program) const;

    void EmbeddingForward(Duration compute, Program& program) const;
    void EmbeddingBackward(Duration compute, Program& program) const;
    void HeadForward(Duration compute, Program& program) const;
    void HeadBackward(Duration compute, Program& program) const;

  private:
    void Append(uint32_t collective, Program& program) const;

    bool m_shared; //!< shared experts beside dispatched ones
    uint32_t m_gather;
    uint32_t m_scatter;
    uint32_t m_keyGather;
    uint32_t m_keyScatter;
    uint32_t m_dispatch;
    uint32_t m_combine;
    uint32_t m_expertGather;
    uint32_t m_expertScatter;
};

} // namespace scaleacross

#endif // SCALEACROSS_LAYER_PROGRAM_H
