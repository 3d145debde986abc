// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GPU_SPEC_H
#define SCALEACROSS_GPU_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/spec/gpu-curve.h"

#include <string>

namespace scaleacross
{

/// An accelerator by its vendor figures and the fractions of them that kernels achieve.
struct GpuSpec
{
    std::string name;
    FlopRate bf16Peak;        //!< dense BF16 matrix peak
    FlopRate fp8Peak;         //!< dense FP8 matrix peak; 0 where the hardware has none
    Bytes hbmCapacity;        //!< HBM installed
    Bytes hbmReserve;         //!< kept back for CUDA context, NCCL buffers and fragmentation
    BitRate hbmBandwidth;     //!< HBM
    BitRate nvlinkBandwidth;  //!< NVLink-class, per direction and GPU
    Duration nvlinkLatency;   //!< one message inside the node, end to end
    BitRate nicRate;          //!< the one NIC of this GPU
    double gemmEfficiency{0}; //!< achieved fraction of the matrix peak by large GEMMs, (0, 1]
    /// The same of the FP8 peak and of flash attention (of the BF16 peak); 0: gemmEfficiency.
    double fp8Efficiency{0};
    double attentionEfficiency{0};
    double hbmEfficiency{0}; //!< achieved fraction of hbmBandwidth by element-wise kernels, (0, 1]
    double nvlinkEfficiency{0}; //!< achieved fraction of nvlinkBandwidth by collectives, (0, 1]
    /// Fraction of its SMs that each collective under way takes from computing, [0, 0.19]; at most
    /// 0.19, so that one on each of five streams leaves some.
    double collectiveShare{0};

    Duration kernelGap; //!< from the end of a kernel to the beginning of the next
    GemmCurve gemm;     //!< GEMMs by size; empty: all as large ones

    /// Takes efficiencies, kernel gap and GEMM curve from a data file.
    void Take(const GpuCurve& curve);

    double Fp8Efficiency() const
    {
        return fp8Efficiency > 0 ? fp8Efficiency : gemmEfficiency;
    }

    double AttentionEfficiency() const
    {
        return attentionEfficiency > 0 ? attentionEfficiency : gemmEfficiency;
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
