// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/presets.h"

#include "core/base/errors.h"

#include <utility>

namespace scaleacross
{

// The figures carry a grade: P read in a primary source, S from a secondary reading of one,
// I inferred or computed here.

namespace
{

ModelSpec
Llama3(const std::string& name, uint32_t layers, uint32_t hidden, uint32_t heads, uint64_t ffn)
{
    ModelSpec model;
    model.name = name;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kvHeads = 8;
    model.headDim = 128;
    model.denseFfn = ffn;
    model.vocabulary = 128256;
    return model;
}

/// Scout and Maverick differ in the experts and in which layers have them.
ModelSpec
Llama4(const std::string& name, uint32_t experts, uint32_t moeEvery, uint64_t denseFfn)
{
    ModelSpec model;
    model.name = name;
    model.layers = 48;
    model.hidden = 5120;
    model.heads = 40;
    model.kvHeads = 8;
    model.headDim = 128;
    model.denseFfn = denseFfn;
    model.experts = experts;
    model.topK = 1;
    model.expertFfn = 8192;
    model.sharedFfn = 8192; // one shared expert of the same width
    model.moeEvery = moeEvery;
    model.vocabulary = 202048;
    model.window = 8192;
    model.chunkedWindow = true;
    model.fullAttentionEvery = 4;
    return model;
}

/// Dimensions that every mixture of experts with plain attention has; every layer is MoE.
ModelSpec
Mixture(const std::string& name, uint32_t layers, uint32_t hidden, uint32_t heads, uint32_t kvHeads)
{
    ModelSpec model;
    model.name = name;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kvHeads = kvHeads;
    model.headDim = 128;
    model.moeEvery = 1;
    return model;
}

ModelSpec
Mixtral(const std::string& name, uint32_t layers, uint32_t hidden, uint32_t heads, uint64_t ffn)
{
    ModelSpec model = Mixture(name, layers, hidden, heads, 8);
    model.experts = 8;
    model.topK = 2;
    model.expertFfn = ffn;
    model.vocabulary = 32000;
    return model;
}

ModelSpec
Qwen3Moe(const std::string& name, uint32_t layers, uint32_t hidden, uint32_t heads, uint64_t ffn)
{
    ModelSpec model = Mixture(name, layers, hidden, heads, 4);
    model.experts = 128;
    model.topK = 8;
    model.expertFfn = ffn;
    model.vocabulary = 151936;
    model.queryKeyNorm = true;
    return model;
}

ModelSpec
GptOss(const std::string& name, uint32_t layers, uint32_t experts)
{
    ModelSpec model = Mixture(name, layers, 2880, 64, 8);
    model.headDim = 64;
    model.experts = experts;
    model.topK = 4;
    model.expertFfn = 2880;
    model.vocabulary = 201088;
    model.attentionBias = true;
    model.mlpBias = true;
    model.attentionSinks = true;
    model.window = 128;
    model.fullAttentionEvery = 2;
    return model;
}

ModelSpec
DeepSeekV3()
{
    ModelSpec model = Mixture("deepseek-v3", 61, 7168, 128, 128);
    model.queryRank = 1536;
    model.kvRank = 512;
    model.ropeDim = 64;
    model.headDim = 128 + 64;
    model.valueDim = 128;
    model.leadingDense = 3;
    model.denseFfn = 18432;
    model.experts = 256;
    model.topK = 8;
    model.expertFfn = 2048;
    model.sharedFfn = 2048;
    model.vocabulary = 129280;
    return model;
}

constexpr uint64_t
Mebibytes(uint64_t count)
{
    return count << 20;
}

constexpr double
GigabytesPerSecond(double count)
{
    return count * 8e9;
}

/// SMs that a collective's kernel occupies while it is under way. DeepSeek-V3 (arXiv:2412.19437,
/// section 3.2) gives 20 of the H800's 132 to communication, which is what it takes to drive NIC
/// and NVLink at full rate. P for the H100's chip, I for the others.
constexpr double kCollectiveSms = 20;

/// What all presets share, with why:
GpuSpec
CommonGpu(const std::string& name, const std::string& curve)
{
    GpuSpec gpu;
    gpu.name = name;
    // CUDA context and library workspaces (1 to 2 GiB), NCCL's buffers for a job's many
    // communicators (1 to 2 GiB) and what the allocator cannot use for fragmentation. I.
    gpu.hbmReserve = Bytes(6ULL << 30);
    // The latency of one NVLink step that NCCL's tuning table assumes (ring, LL128). P.
    gpu.nvlinkLatency = Duration::Nanoseconds(1900);
    gpu.Take(GpuCurveOf(curve));
    return gpu;
}

Preset<GpuSpec>
A100()
{
    GpuSpec gpu = CommonGpu("a100-80g", "a100");
    gpu.bf16Peak = FlopRate(312e12);
    gpu.fp8Peak = FlopRate(0);
    gpu.hbmCapacity = Bytes(Mebibytes(81920));
    gpu.hbmBandwidth = BitRate(GigabytesPerSecond(2039));
    gpu.nvlinkBandwidth = BitRate(GigabytesPerSecond(300));
    gpu.nicRate = GigabitsPerSecond(200);
    gpu.collectiveShare = kCollectiveSms / 108;
    return {gpu,
            "NVIDIA A100 80GB SXM data sheet (P); memory as nvidia-smi reports it, 81,920 MiB (S); "
            "kernels by the curve a100; 6 GiB reserve inferred (I)"};
}

Preset<GpuSpec>
H100()
{
    GpuSpec gpu = CommonGpu("h100", "h100");
    gpu.bf16Peak = FlopRate(989e12);
    gpu.fp8Peak = FlopRate(1979e12);
    // "80 GB" on the data sheet is neither 80e9 B nor 80 GiB: the driver shows 81,559 MiB.
    gpu.hbmCapacity = Bytes(Mebibytes(81559));
    gpu.hbmBandwidth = BitRate(GigabytesPerSecond(3350));
    gpu.nvlinkBandwidth = BitRate(GigabytesPerSecond(450));
    gpu.nicRate = GigabitsPerSecond(400);
    gpu.collectiveShare = kCollectiveSms / 132;
    return {
        gpu,
        "NVIDIA H100 SXM data sheet, dense (P); memory as nvidia-smi reports it, 81,559 MiB (S); "
        "kernels by the curve h100; 6 GiB reserve inferred (I)"};
}

Preset<GpuSpec>
H200()
{
    GpuSpec gpu = H100().value;
    gpu.name = "h200";
    gpu.hbmCapacity = Bytes(Mebibytes(143771));
    gpu.hbmBandwidth = BitRate(GigabytesPerSecond(4800));
    return {gpu,
            "NVIDIA H200 data sheet (P); memory as nvidia-smi reports it, 143,771 MiB (S); "
            "kernels by the curve h100, reserve as h100 (I)"};
}

Preset<GpuSpec>
B200()
{
    GpuSpec gpu = CommonGpu("b200", "b200");
    gpu.bf16Peak = FlopRate(2250e12);
    gpu.fp8Peak = FlopRate(4500e12);
    gpu.hbmCapacity = Bytes(Mebibytes(183359));
    gpu.hbmBandwidth = BitRate(GigabytesPerSecond(8000));
    gpu.nvlinkBandwidth = BitRate(GigabytesPerSecond(900));
    gpu.nicRate = GigabitsPerSecond(400);
    gpu.collectiveShare = kCollectiveSms / 148;
    return {
        gpu,
        "NVIDIA DGX B200 data sheet, dense (P); memory as nvidia-smi reports it, 183,359 MiB (S); "
        "NIC 400 Gb/s, of the 400 or 800 it is sold with (I); kernels by the curve b200, reserve "
        "as h100 (I)"};
}

Preset<GpuSpec>
Gb200()
{
    GpuSpec gpu = CommonGpu("gb200", "b200");
    gpu.bf16Peak = FlopRate(2500e12);
    gpu.fp8Peak = FlopRate(5000e12);
    gpu.hbmCapacity = Bytes(Mebibytes(189471));
    gpu.hbmBandwidth = BitRate(GigabytesPerSecond(8000));
    gpu.nvlinkBandwidth = BitRate(GigabytesPerSecond(900));
    gpu.nicRate = GigabitsPerSecond(400);
    gpu.collectiveShare = kCollectiveSms / 152;
    return {gpu,
            "NVIDIA GB200 NVL72 data sheet per GPU, dense (P); memory as nvidia-smi reports it, "
            "189,471 MiB (S); NIC 400 Gb/s, of 400 or 800 (I); kernels by the curve b200, reserve "
            "as h100 (I)"};
}

template <class T>
const T&
Find(const std::vector<Preset<T>>& presets, const std::string& name, const std::string& where)
{
    std::vector<std::string> names;
    for (const auto& preset : presets)
    {
        if (preset.value.name == name)
        {
            return preset.value;
        }
        names.push_back(preset.value.name);
    }
    const std::string nearest = Nearest(name, names);
    throw ConfigError(where,
                      "there is no preset " + Quoted(name),
                      AnyOf(names),
                      nearest.empty() ? "" : "did you mean " + nearest + "?");
}

} // namespace

const std::vector<Preset<ModelSpec>>&
ModelPresets()
{
    static const std::string llama3 = "The Llama 3 Herd of Models, arXiv:2407.21783, table 3 (P)";
    static const std::string llama4 =
        "public config.json of the model, text part (P); totals computed (I)";
    static const std::string config = "public config.json of the model (P); totals computed (I)";
    static const std::vector<Preset<ModelSpec>> presets = {
        {Llama3("llama3-8b", 32, 4096, 32, 14336), llama3},
        {Llama3("llama3-70b", 80, 8192, 64, 28672), llama3},
        {Llama3("llama3-405b", 126, 16384, 128, 53248), llama3},
        {Llama4("llama4-scout", 16, 1, 0), llama4},
        {Llama4("llama4-maverick", 128, 2, 16384), llama4},
        {Mixtral("mixtral-8x7b", 32, 4096, 32, 14336), config},
        {Mixtral("mixtral-8x22b", 56, 6144, 48, 16384), config},
        {Qwen3Moe("qwen3-30b-a3b", 48, 2048, 32, 768), config},
        {Qwen3Moe("qwen3-235b-a22b", 94, 4096, 64, 1536), config},
        {DeepSeekV3(), "DeepSeek-V3, arXiv:2412.19437, 4.2 (P); without multi-token prediction"},
        {GptOss("gpt-oss-20b", 24, 32), config},
        {GptOss("gpt-oss-120b", 36, 128), config},
    };
    return presets;
}

const std::vector<Preset<GpuSpec>>&
GpuPresets()
{
    static const std::vector<Preset<GpuSpec>> presets = {A100(), H100(), H200(), B200(), Gb200()};
    return presets;
}

const ModelSpec&
ModelPreset(const std::string& name)
{
    return Find(ModelPresets(), name, "model");
}

const GpuSpec&
GpuPreset(const std::string& name)
{
    return Find(GpuPresets(), name, "gpu");
}

} // namespace scaleacross
