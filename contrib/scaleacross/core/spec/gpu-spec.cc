// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/gpu-spec.h"

#include "core/base/errors.h"
#include "core/spec/check.h"

namespace scaleacross
{

namespace
{

void
CheckRate(const std::string& key, BitRate rate)
{
    // 1 Pb/s is a thousand times the fastest link of today; above it a bit lasts under 1 fs. Below
    // 1 Mb/s a gradient takes months, and 64-bit picoseconds end after 106 days.
    CheckQuantity(key, rate, BitRate(1e6), BitRate(1e15));
}

void
CheckEfficiency(const std::string& key, double fraction)
{
    // An efficiency below one in a thousand is a percentage or a slip, not a kernel.
    CheckRange(key, fraction, 0.001, 1.0);
}

} // namespace

Bytes
GpuSpec::UsableHbm() const
{
    return hbmReserve < hbmCapacity ? hbmCapacity - hbmReserve : Bytes(0);
}

void
GpuSpec::Take(const GpuCurve& curve)
{
    gemmEfficiency = curve.gemmEfficiency;
    fp8Efficiency = curve.fp8Efficiency;
    attentionEfficiency = curve.attentionEfficiency;
    hbmEfficiency = curve.hbmEfficiency;
    nvlinkEfficiency = curve.nvlinkEfficiency;
    kernelGap = curve.kernelGap;
    gemm = curve.gemm;
}

void
GpuSpec::Validate() const
{
    // A GFLOP/s is less than a processor core does.
    const FlopRate leastFlops(1e9);
    const FlopRate mostFlops(1e18);
    CheckQuantity("gpu.bf16_peak", bf16Peak, leastFlops, mostFlops);
    if (fp8Peak != FlopRate(0))
    {
        CheckQuantity("gpu.fp8_peak", fp8Peak, leastFlops, mostFlops);
    }
    CheckQuantity("gpu.hbm_capacity", hbmCapacity, Bytes(1), Bytes(1ULL << 50));
    if (hbmReserve >= hbmCapacity)
    {
        throw ConfigError("gpu.hbm_reserve",
                          ToString(hbmReserve) + " leaves nothing of the " + ToString(hbmCapacity) +
                              " installed",
                          "less than hbm_capacity",
                          "");
    }
    CheckRate("gpu.hbm_bandwidth", hbmBandwidth);
    CheckRate("gpu.nvlink_bandwidth", nvlinkBandwidth);
    if (nvlinkLatency < Duration() || nvlinkLatency > Duration::Seconds(1))
    {
        throw ConfigError("gpu.nvlink_latency",
                          ToString(nvlinkLatency) + " is out of range",
                          "0s to 1s",
                          "");
    }
    CheckRate("gpu.nic_rate", nicRate);
    CheckEfficiency("gpu.gemm_efficiency", gemmEfficiency);
    CheckRange("gpu.fp8_efficiency", fp8Efficiency, 0, 1);
    CheckRange("gpu.attention_efficiency", attentionEfficiency, 0, 1);
    if (kernelGap < Duration() || kernelGap > Duration::Microseconds(1000))
    {
        throw ConfigError("gpu.kernel_gap",
                          ToString(kernelGap) + " is out of range",
                          "0s to 1ms",
                          "");
    }
    CheckEfficiency("gpu.hbm_efficiency", hbmEfficiency);
    CheckEfficiency("gpu.nvlink_efficiency", nvlinkEfficiency);
    CheckRange("gpu.collective_share", collectiveShare, 0.0, 0.19);
}

} // namespace scaleacross
