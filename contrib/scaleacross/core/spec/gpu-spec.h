// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GPU_SPEC_H
#define SCALEACROSS_GPU_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/spec/gpu-curve.h"
#include "core/spec/nccl-words.h"

#include <string>

namespace scaleacross
{

/**
 * An accelerator by its vendor figures and the fractions of them that kernels achieve.
 *
 * Its scale-up network is what joins it to the other accelerators of a server, or of a rack, apart
 * from the NICs: NVLink, Infinity Fabric. All messages of a GPU share its rate there.
 */
struct GpuSpec
{
    std::string name;
    Architecture architecture; //!< as NCCL tells GPUs apart
    FlopRate bf16Peak;         //!< dense BF16 matrix peak
    FlopRate fp8Peak;          //!< dense FP8 matrix peak; 0 where the hardware has none
    FlopRate fp4Peak;          //!< dense FP4 matrix peak; 0 where the hardware has none
    Bytes hbmCapacity;         //!< HBM installed
    Bytes hbmReserve;          //!< kept back for context, communication buffers and fragmentation
    BitRate hbmBandwidth;      //!< HBM
    BitRate scaleUpBandwidth;  //!< scale-up network, per direction and GPU
    Duration scaleUpLatency;   //!< one message over it, end to end
    uint32_t scaleUpDomain{8}; //!< GPUs that one such network joins
    BitRate nicRate;           //!< the one NIC of this GPU
    /// Of how many NICs that rate is the sum, or the share: a quarter where four GPUs have one.
    double nicsPerGpu{1};
    double nicEfficiency{1};  //!< of what data sheets say, that rate is so much, (0, 1]
    BitRate hostBandwidth;    //!< to host memory, per direction and GPU; 0: not known
    double gemmEfficiency{0}; //!< achieved fraction of the matrix peak by large GEMMs, (0, 1]
    /// The same of the FP8 and FP4 peaks and of flash attention (of the BF16 peak); 0:
    /// gemmEfficiency.
    double fp8Efficiency{0};
    double fp4Efficiency{0};
    double attentionEfficiency{0};
    double hbmEfficiency{0}; //!< achieved fraction of hbmBandwidth by element-wise kernels, (0, 1]
    double scaleUpEfficiency{0}; //!< achieved fraction of scaleUpBandwidth by collectives, (0, 1]
    /// Of that, what reductions reach that the scale-up switch does; 0: it does none.
    double switchReduction{0};
    /// Of the processors a collective takes no more from computing, so that one on each of five
    /// streams leaves some.
    static constexpr double kMostCollectiveShare = 0.19;

    /// Processors that each collective under way takes from computing; of a library that says how
    /// many channels it has, 0 or as many as these.
    uint32_t collectiveProcessors{0};

    Duration kernelGap; //!< from the end of a kernel to the beginning of the next
    GemmCurve gemm;     //!< processors, and GEMMs by size; without tiles: all as large ones

    /// Takes efficiencies, kernel gap and GEMM curve from a data file.
    void Take(const GpuCurve& curve);

    double Bf16Efficiency() const
    {
        return gemmEfficiency;
    }

    double Fp8Efficiency() const
    {
        return fp8Efficiency > 0 ? fp8Efficiency : gemmEfficiency;
    }

    double Fp4Efficiency() const
    {
        return fp4Efficiency > 0 ? fp4Efficiency : gemmEfficiency;
    }

    double AttentionEfficiency() const
    {
        return attentionEfficiency > 0 ? attentionEfficiency : gemmEfficiency;
    }

    /// Fraction of the processors that each collective under way takes from computing.
    double CollectiveShare() const
    {
        return gemm.processors == 0 ? 0
                                    : static_cast<double>(collectiveProcessors) / gemm.processors;
    }

    /// Processors that the channels of one collective of a library may take from computing, in
    /// place of collectiveProcessors; 0 where collectives take none.
    uint32_t MostForChannels() const
    {
        return collectiveProcessors == 0
                   ? 0
                   : static_cast<uint32_t>(kMostCollectiveShare * gemm.processors);
    }

    /// HBM that a plan may fill: hbmCapacity - hbmReserve.
    Bytes UsableHbm() const;

    /// What a study may say of a GPU, in canonical order.
    static const FieldTable<GpuSpec>& Fields();

    /// Throws ConfigError (where = "gpu.<field>").
    void Validate() const;
};

bool operator==(const GpuSpec& a, const GpuSpec& b);

} // namespace scaleacross

#endif // SCALEACROSS_GPU_SPEC_H
