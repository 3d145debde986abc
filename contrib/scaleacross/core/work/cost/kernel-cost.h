// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KERNEL_COST_H
#define SCALEACROSS_KERNEL_COST_H

#include "core/spec/gpu-spec.h"
#include "core/spec/software-stack.h"
#include "core/spec/workload-spec.h"

namespace scaleacross
{

/**
 * Seconds of the kernels of one accelerator, by class: a roofline each.
 *
 * - GEMM: max(effective FLOPs / (peak x efficiency), (operands + result) / (HBM x efficiency)),
 *   with GemmCurve's effective FLOPs;
 * - flash attention: FLOPs / (BF16 peak x attention_efficiency); its bytes never bind;
 * - element-wise: bytes x the stack's factor / (HBM x efficiency); casts without the factor.
 *
 * Every kernel adds the curve's kernel gap. Numbers of tokens and widths may be fractions where a
 * split leaves them so.
 */
class KernelCost
{
  public:
    KernelCost(const GpuSpec& gpu, const SoftwareStack& stack);

    /// `count` products of m x k and k x n in one kernel.
    double Gemm(double count, double m, double n, double k, Precision precision) const;

    double FlashAttention(double flops) const;

    /// `bytes` for fused kernels, of which there are `kernels`.
    double Elementwise(double bytes, double kernels) const;

    /// The same of routing and permutation, by the stack's factor for these.
    double Permutation(double bytes, double kernels) const;

    /// Casts for narrow GEMMs, one kernel each in every stack, and what else is given by its true
    /// bytes: without the stack's factor.
    double Given(double bytes, double kernels) const;

    /// Bytes of a kernel that no software stack does with fewer or more.
    double Stream(double bytes) const;

  private:
    const GpuSpec& m_gpu;
    double m_elementwise;
    double m_permutation;
    double m_bytesPerSecond;
    double m_gap;
};

} // namespace scaleacross

#endif // SCALEACROSS_KERNEL_COST_H
