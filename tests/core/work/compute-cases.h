// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_COMPUTE_CASES_H
#define SCALEACROSS_TESTS_COMPUTE_CASES_H

#include "core/io/presets.h"
#include "core/work/cost/compute-cost.h"

/// Accelerators, models and workloads whose times of computing can be had by hand.
namespace scaleacross
{

/// 1 TFLOP/s and no time for memory: a duration in microseconds is a work in MFLOP.
inline GpuSpec
OnlyMatrices()
{
    GpuSpec gpu;
    gpu.bf16Peak = FlopRate(2e12);
    gpu.gemmEfficiency = 0.5;
    gpu.hbmBandwidth = BytesPerSecond(1e30);
    gpu.hbmEfficiency = 1;
    return gpu;
}

/// 1 TB/s and no time for matrices: a duration in microseconds is a number of MB.
inline GpuSpec
OnlyMemory()
{
    GpuSpec gpu;
    gpu.bf16Peak = FlopRate(1e30);
    gpu.gemmEfficiency = 1;
    gpu.hbmBandwidth = BytesPerSecond(2e12);
    gpu.hbmEfficiency = 0.5;
    return gpu;
}

/// FLOPs or bytes of a duration on the accelerators above.
inline double
Work(Duration time)
{
    return time.S() * 1e12;
}

/// A GPT: GELU with f = 4h, a d = h, g = a.
inline ModelSpec
Gpt(uint32_t layers, uint32_t hidden, uint32_t heads)
{
    ModelSpec model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = model.kvHeads = heads;
    model.headDim = hidden / heads;
    model.denseFfn = 4ULL * hidden;
    model.vocabulary = 51200;
    model.gatedMlp = false;
    return model;
}

inline WorkloadSpec
WorkloadOf(uint32_t sequence, uint32_t batch, bool causal)
{
    WorkloadSpec workload;
    workload.sequence = sequence;
    workload.globalBatch = batch;
    workload.causalAttention = causal;
    return workload;
}

/// h = 8, a = 4, g = 2, d = 2, f = 16, V = 32; SwiGLU.
inline ModelSpec
Tiny()
{
    ModelSpec model;
    model.layers = 1;
    model.hidden = 8;
    model.heads = 4;
    model.kvHeads = 2;
    model.headDim = 2;
    model.denseFfn = 16;
    model.vocabulary = 32;
    return model;
}

/// Tiny() with four experts, of which a token visits two.
inline ModelSpec
TinyMoe()
{
    ModelSpec model = Tiny();
    model.experts = 4;
    model.topK = 2;
    model.expertFfn = 16;
    model.moeEvery = 1;
    model.denseFfn = 0;
    return model;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_COMPUTE_CASES_H
