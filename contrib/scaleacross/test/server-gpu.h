// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SERVER_GPU_H
#define SCALEACROSS_SERVER_GPU_H

#include "core/spec/gpu-spec.h"

namespace scaleacross
{

/// The figures of an H100, from data/gpus/h100.yaml and data/curves/h100.yaml: presets are read
/// with yaml-cpp, which an ns-3 tree need not have.
inline GpuSpec
ServerGpu()
{
    GpuSpec gpu;
    gpu.name = "h100";
    gpu.architecture = "hopper";
    gpu.bf16Peak = FlopRate(989e12);
    gpu.fp8Peak = FlopRate(1979e12);
    gpu.hbmCapacity = Bytes(81559ULL << 20);
    gpu.hbmReserve = Bytes(6ULL << 30);
    gpu.hbmBandwidth = BytesPerSecond(3350e9);
    gpu.scaleUpBandwidth = BytesPerSecond(450e9);
    gpu.scaleUpLatency = Duration::Nanoseconds(1900);
    gpu.nicRate = GigabitsPerSecond(400);
    gpu.hostBandwidth = BytesPerSecond(55e9);
    gpu.gemmEfficiency = 0.67;
    gpu.fp8Efficiency = 0.57;
    gpu.attentionEfficiency = 0.7;
    gpu.hbmEfficiency = 0.8;
    gpu.scaleUpEfficiency = 0.82;
    gpu.switchReduction = 0.74;
    gpu.kernelGap = Duration::Microseconds(2);
    gpu.gemm.processors = 132;
    gpu.gemm.depth = 16;
    gpu.gemm.tiles = ParseTiles("256x128 1, 128x256 1, 128x128 0.92, 128x64 0.8, 64x64 0.65");
    gpu.collectiveProcessors = 20;
    return gpu;
}

} // namespace scaleacross

#endif // SCALEACROSS_SERVER_GPU_H
