// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PART_COST_H
#define SCALEACROSS_PART_COST_H

#include "core/spec/gpu-spec.h"
#include "core/spec/model-spec.h"
#include "core/spec/parallel-plan.h"
#include "core/spec/workload-spec.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/cost/kernel-cost.h"
#include "core/work/cost/linear-layers.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Seconds of one part of a layer on one GPU for one microbatch.
struct PassTime
{
    double forward{0};
    double inputGradient{0};
    double weightGradient{0};
    double again{0}; //!< see ComputeCost
};

/// The same in the simulator's units.
ComputeCost CostOf(const PassTime& time);

/**
 * The kernels of one part of the model, added up pass by pass.
 *
 * Element-wise kernels are given in bytes of HBM traffic; BF16 is 2 bytes an element.
 */
class PartCost
{
  public:
    using Split = LinearLayer::Split;

    PartCost(const WorkloadSpec& workload, const ParallelPlan& plan, const GpuSpec& gpu);

    /// Tokens of a microbatch that a tensor-parallel group works on: s b / cp.
    double Tokens() const;

    /// Of these, what a rank works on outside of attention and MLP.
    double OwnTokens() const;

    double Tp() const;

    /**
     * `count` linear layers of k inputs and n outputs for m tokens each, in the workload's
     * precision: one GEMM forward and one for each gradient.
     *
     * In a narrow precision what a GEMM reads is cast before: tokens forward, and weights with them
     * where the software does not keep them narrow; backward the gradient of the output.
     *
     * With asynchronous tensor parallelism GEMMs that stand beside the steps of a gather or a
     * scatter are done in tp parts of the tokens: forward those that are split, and the input
     * gradient of rows. That of columns stands before its scatter, which is beside the weight
     * gradient.
     */
    void AddLinear(double m, double n, double k, Split split, double count = 1);

    /**
     * Linear layers of the same input of k elements with so many outputs each: one GEMM if the
     * software joins them. Otherwise one each, and backward a kernel that adds up the gradients of
     * the input: one read of each, 2 k bytes a token, and one write.
     */
    void AddProjections(double m,
                        const std::vector<double>& outputs,
                        double k,
                        Split split,
                        double count = 1);

    /// A linear layer from a latent vector of MLA.
    void AddUpProjection(double m, double n, double k);

    /// All projections from latent vectors again backward.
    void RepeatUpProjections();

    /// What forward has added since `before` is done again backward, with its communication.
    void DoAgainSince(const PassTime& before);

    /// The same without its communication, and without waits for what the host has learnt.
    void RepeatSince(const PassTime& before);

    /// The same in BF16 whatever the precision is, beside no steps: router and output head.
    void AddLinearBf16(double m, double n, double k);

    void AddElementwise(double forward,
                        double forwardKernels,
                        double backward,
                        double backwardKernels);

    /// Kernels that copy: no software moves more for them.
    void AddCopies(double forward, double forwardKernels, double backward, double backwardKernels);

    /// Kernels of routing and permutation, the same in either direction.
    void AddPermutation(double bytes, double kernels);

    /// The host issues kernels for each of so many experts, in either direction. Where forward has
    /// waited for the host to learn how many tokens they have, it is ahead of the GPU no more, and
    /// forward takes as much longer. That is as if no kernel ran while the next is issued, which
    /// the value that is fitted makes good.
    void AddHostOfExperts(double experts, bool biases);

    /**
     * What experts have beside GEMMs and activation functions where no GEMM does it, for so many
     * copies of tokens, in bytes as Megatron Core's TEGroupedMLP and fused_bias_geglu.py move them
     * (core_v0.16.0), which are counted as they stand.
     *
     * Clamps, per element of the width f: gate and up are clamped, 2 x (2 + 2), and put side by
     * side again, 4 + 4, forward. Backward is no kernel of its own in PyTorch (clamp_backward): the
     * gate, which has a maximum only, is compared (2 + 1) and its gradient chosen (1 + 2 + 2); up
     * is compared twice, both are joined (1 + 1 + 1), and its gradient is chosen, 14; and the two
     * gradients are put together, 4 + 4.
     *
     * The bias of the second layer, weighted by the router in FP32, per element of h: the product
     * is written (4), the sum reads both and is FP32 (2 + 4 + 4), the experts' parts are put
     * together (4 + 4) and cast (4 + 2), 28 in all. Backward casts to FP32 (2 + 4), casts for the
     * experts' output (4 + 2) and puts its parts together (2 + 2), multiplies by the weight and
     * sums up for the bias (4 + 4 + 4), and multiplies by the bias and sums up for the weight (4 +
     * 4 + 4), 40 in all. The first layer's bias is added by its GEMM, and its gradient summed up by
     * that of the weights or by the cast of the output's gradient.
     *
     * A kernel for each expert counts once: what its launch takes is the host's.
     */
    void AddUnfusedExperts(const ModelSpec& model, double copies, double f);

    void AddLoss(double logits);

    void AddToWeightGradient(double bytes);

    /// RMSNorm reads x and writes y, 4 h per token; backward it reads x and dy and writes dx, 6 h.
    void AddNorm(double width);

    /// Forward the residual's sum, backward the sum of two gradients: two reads, one write, 6 h.
    void AddResidual(double width);

    /// Clamps that no GEMM does are done again backward with the activation function.
    void RepeatClamps(const ModelSpec& model, double copies, double f);

    /// What an element-wise kernel does forward is done again backward.
    void Repeat(double bytes, double kernels);

    /// A linear layer's forward done again backward.
    void Repeat(const LinearLayer& linear);

    /**
     * Core attention of `heads` heads on this rank.
     *
     * Flash: Q K^T and scores x V forward; backward scores again and two GEMMs for each of the two,
     * 2.5 times as much. It has no weights, so all of it is input gradient. Otherwise batched GEMMs
     * over the whole square, twice as much backward, with the scores between them in HBM.
     */
    void AddCore(const ModelSpec& model, uint32_t layer, double heads);

    /// Half of a layer: never faster than the host issues it, nor is what of it is done again as a
    /// whole. @param mlp whether that is its MLP; in a full recomputation it is all of the half.
    PassTime HalfLayer(const RecomputedParts& recompute, bool mlp) const;

    /// Some of a half, as long as its kernels take: what the host takes longer is of the rest.
    PassTime PartOfHalf(const RecomputedParts& recompute) const;

    /// What has been added since `before` is not done again where projections are kept.
    void DoNotRepeat(const PassTime& before);

    const PassTime& Time() const;

  private:
    /// The time with what of it is done again, in a full recomputation its forward.
    PassTime WithAgain(PassTime time, const RecomputedParts& recompute) const;

    /// Seconds in which the host issues half a layer, of a whole layer's and the experts' in it.
    double HostOfHalf(Duration ofLayer) const;

    double Cast(double elements, double kernels) const;

    /// Seconds of casting what a forward GEMM reads.
    double CastOperands(double count, double m, double n, double k) const;

    void AddMatrices(double m, double n, double k, double count, Precision precision, Split split);

    KernelCost m_kernels;
    const WorkloadSpec& m_workload;
    const SoftwareStack& m_stack;
    double m_tokens;
    double m_tp;
    double m_cp;
    double m_hostOfExperts{0}; //!< seconds, in either direction
    double m_parts;            //!< of a GEMM beside the steps of a gather or scatter
    double m_sequences;
    double m_stalls{0};        //!< of forward
    double m_notRepeated{0};   //!< of forward
    double m_upProjections{0}; //!< of forward
    PassTime m_time;
};

} // namespace scaleacross

#endif // SCALEACROSS_PART_COST_H
