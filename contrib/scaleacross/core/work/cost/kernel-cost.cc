// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/kernel-cost.h"

#include <algorithm>

namespace scaleacross
{

KernelCost::KernelCost(const GpuSpec& gpu, const SoftwareStack& stack)
    : m_gpu(gpu),
      m_elementwise(stack.elementwise),
      m_permutation(stack.permutation),
      m_bytesPerSecond(gpu.hbmBandwidth.Value() * gpu.hbmEfficiency / 8),
      m_gap(gpu.kernelGap.S())
{
}

double
KernelCost::Gemm(double count, double m, double n, double k, Precision precision) const
{
    if (count * m * n * k == 0)
    {
        return 0;
    }
    const double rate = precision->RateOf(m_gpu);
    const double flops = m_gpu.gemm.EffectiveFlops(count, m, n, k);
    const double bytes = count * (precision->operandBytes * (m * k + n * k) + 2 * m * n);
    return std::max(flops / rate, bytes / m_bytesPerSecond) + m_gap;
}

double
KernelCost::FlashAttention(double flops) const
{
    return flops == 0 ? 0 : flops / (m_gpu.bf16Peak.Value() * m_gpu.AttentionEfficiency()) + m_gap;
}

double
KernelCost::Elementwise(double bytes, double kernels) const
{
    return bytes == 0 ? 0 : Stream(bytes * m_elementwise) + kernels * m_gap;
}

double
KernelCost::Permutation(double bytes, double kernels) const
{
    return Stream(bytes * m_permutation) + kernels * m_gap;
}

double
KernelCost::Given(double bytes, double kernels) const
{
    return bytes == 0 ? 0 : Stream(bytes) + kernels * m_gap;
}

double
KernelCost::Stream(double bytes) const
{
    return bytes / m_bytesPerSecond;
}

} // namespace scaleacross
