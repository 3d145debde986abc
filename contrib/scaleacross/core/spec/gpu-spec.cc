// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/gpu-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"

namespace scaleacross
{

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
    fp4Efficiency = curve.fp4Efficiency;
    attentionEfficiency = curve.attentionEfficiency;
    hbmEfficiency = curve.hbmEfficiency;
    scaleUpEfficiency = curve.scaleUpEfficiency;
    kernelGap = curve.kernelGap;
    gemm = curve.gemm;
}

const FieldTable<GpuSpec>&
GpuSpec::Fields()
{
    using Row = FieldRows<GpuSpec>;
    using G = GpuSpec;
    const std::string orPreset = ", or start from a preset: h100";
    const std::string orCurve = ", or take a curve: h100";
    // 1 Pb/s is a thousand times the fastest link of today; above it a bit lasts under 1 fs. Below
    // 1 Mb/s a gradient takes months, and 64-bit picoseconds end after 106 days.
    const BitRate leastRate(1e6);
    const BitRate mostRate(1e15);
    const auto rate = [&](const std::string& key, const std::string& help, auto member) {
        return Row::Amount(key, leastRate, mostRate, help, member);
    };
    const auto efficiency = [](const std::string& key, const std::string& help, auto member) {
        // An efficiency below one in a thousand is a percentage or a slip, not a kernel.
        return Row::Number(key, 0.001, 1, help, member);
    };
    // A GFLOP/s is less than a processor core does.
    const FlopRate least(1e9);
    const FlopRate most(1e18);
    const Bytes mostMemory(1ULL << 50);
    static const FieldTable<GpuSpec> fields = {
        Row::Text("name", "for people", &G::name).Label(),
        Row::Word("architecture", "as NCCL tells GPUs apart", &G::architecture),
        Row::Amount("bf16_peak", least, most, "dense BF16 matrix peak", &G::bf16Peak)
            .Required("bf16_peak: 989TFLOP/s" + orPreset),
        Row::AmountOrNone("fp8_peak",
                          least,
                          most,
                          "dense FP8 matrix peak; 0FLOP/s: it has none",
                          &G::fp8Peak),
        Row::AmountOrNone("fp4_peak",
                          least,
                          most,
                          "dense FP4 matrix peak; 0FLOP/s: it has none",
                          &G::fp4Peak),
        Row::Amount("hbm_capacity", Bytes(1), mostMemory, "HBM installed", &G::hbmCapacity)
            .Required("hbm_capacity: 80GiB" + orPreset),
        Row::Amount("hbm_reserve",
                    Bytes(),
                    mostMemory,
                    "HBM kept back for context, communication buffers and fragmentation",
                    &G::hbmReserve)
            .Required("hbm_reserve: 6GiB" + orPreset),
        rate("hbm_bandwidth", "bandwidth of the HBM", &G::hbmBandwidth)
            .Required("hbm_bandwidth: 3350GB/s" + orPreset),
        rate("scale_up_bandwidth",
             "network that joins the GPUs of a server, per direction and GPU",
             &G::scaleUpBandwidth)
            .Required("scale_up_bandwidth: 450GB/s" + orPreset),
        Row::Amount("scale_up_latency",
                    Duration(),
                    Duration::Seconds(1),
                    "of a message over it, end to end",
                    &G::scaleUpLatency)
            .Required("scale_up_latency: 1.9us" + orPreset),
        Row::Whole("scale_up_domain", 1, 1024, "GPUs that it joins", &G::scaleUpDomain),
        rate("nic_rate", "the one NIC of a GPU", &G::nicRate)
            .Required("nic_rate: 400Gbps" + orPreset),
        Row::Number(
            "nics_per_gpu",
            1.0 / 64,
            64,
            "of how many NICs nic_rate is the sum, or the share, by which NCCL counts channels",
            &G::nicsPerGpu),
        efficiency("nic_efficiency",
                   "of the rate on data sheets, which NCCL goes by, nic_rate is so much",
                   &G::nicEfficiency),
        Row::AmountOrNone("host_bandwidth",
                          leastRate,
                          mostRate,
                          "link to host memory, per direction and GPU; 0bps: not known",
                          &G::hostBandwidth),
        efficiency("gemm_efficiency",
                   "fraction of the matrix peak that large GEMMs achieve",
                   &G::gemmEfficiency)
            .Required("gemm_efficiency: 0.7" + orCurve),
        Row::Number("fp8_efficiency",
                    0,
                    1,
                    "the same of the FP8 peak; 0: gemm_efficiency",
                    &G::fp8Efficiency),
        Row::Number("fp4_efficiency",
                    0,
                    1,
                    "the same of the FP4 peak; 0: gemm_efficiency",
                    &G::fp4Efficiency),
        Row::Number("attention_efficiency",
                    0,
                    1,
                    "the same of flash attention and the BF16 peak; 0: gemm_efficiency",
                    &G::attentionEfficiency),
        Row::Amount("kernel_gap",
                    Duration(),
                    Duration::Microseconds(1000),
                    "from the end of a kernel to the beginning of the next",
                    &G::kernelGap),
        efficiency("hbm_efficiency",
                   "fraction of hbm_bandwidth that element-wise kernels achieve",
                   &G::hbmEfficiency)
            .Required("hbm_efficiency: 0.8" + orCurve),
        efficiency("scale_up_efficiency",
                   "fraction of scale_up_bandwidth that collectives achieve",
                   &G::scaleUpEfficiency)
            .Required("scale_up_efficiency: 0.6" + orCurve),
        Row::Number("switch_reduction",
                    0,
                    1,
                    "of that, what reductions in the scale-up switch achieve; 0: it does none",
                    &G::switchReduction),
        Row::Whole("processors",
                   0,
                   1U << 16,
                   "SMs or CUs; each computes a tile of a GEMM at a time",
                   SCALEACROSS_MEMBER(gemm.processors)),
        Row::Whole("collective_processors",
                   0,
                   1U << 16,
                   "of them, what each collective under way takes, up to 0.19 of all",
                   &G::collectiveProcessors),
        Row::Number("gemm_depth",
                    0,
                    65536,
                    "what a tile costs before and after its multiplications, in steps of k",
                    SCALEACROSS_MEMBER(gemm.depth)),
        Row::Make(
            "tiles",
            kTilesAllowed,
            "rows x columns that a processor computes at a time, and their efficiency; left out: "
            "GEMMs of all sizes are as efficient as large ones",
            SCALEACROSS_MEMBER(gemm.tiles),
            [](const std::string& text) {
                return text.empty() ? std::vector<GemmTile>() : ParseTiles(text);
            },
            [](const std::vector<GemmTile>& tiles) { return ToString(tiles); }),
    };
    return fields;
}

bool
operator==(const GpuSpec& a, const GpuSpec& b)
{
    return EqualFields(GpuSpec::Fields(), a, b);
}

void
GpuSpec::Validate() const
{
    CheckFields(Fields(), *this, "gpu");
    if (!gemm.tiles.empty() && gemm.processors == 0)
    {
        throw ConfigError("gpu.processors",
                          "there are tiles, and no processors to compute them",
                          "1 or more with tiles",
                          "");
    }
    if (collectiveProcessors > kMostCollectiveShare * gemm.processors)
    {
        throw ConfigError("gpu.collective_processors",
                          std::to_string(collectiveProcessors) + " of " +
                              std::to_string(gemm.processors) + " processors",
                          "up to " + NumberText(kMostCollectiveShare) + " of gpu.processors",
                          gemm.processors == 0 ? "give processors, or a curve, which has them"
                                               : "");
    }
    if (hbmReserve >= hbmCapacity)
    {
        throw ConfigError("gpu.hbm_reserve",
                          ToString(hbmReserve) + " leaves nothing of the " + ToString(hbmCapacity) +
                              " installed",
                          "less than hbm_capacity",
                          "");
    }
}

} // namespace scaleacross
