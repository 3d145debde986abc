// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/precision.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

namespace
{

/// GEMMs of 8-bit operands, cast with so many bytes of traffic an element.
PrecisionFacts
Fp8(const WordFacts& word, double operandBytes, double castBytes, bool narrowDispatch = false)
{
    return {word,
            &GpuSpec::fp8Peak,
            &GpuSpec::Fp8Efficiency,
            "fp8_peak",
            operandBytes,
            castBytes,
            narrowDispatch};
}

/// Blocks of 32 elements share a scale of 8 bits (OCP Microscaling Formats 1.0).
constexpr double g_mxfp8 = 1 + 1.0 / 32;

/// Half a byte; blocks of 16 share a scale of 8 bits (NVIDIA, arXiv:2509.25149).
constexpr double g_nvfp4 = 0.5 + 1.0 / 16;

} // namespace

template <>
const std::vector<const PrecisionFacts*>&
Precision::Rows()
{
    static const auto rows = PointersTo<PrecisionFacts>(
        {{{"bf16", "GEMMs of BF16 operands", true}},
         {{"fp16", "GEMMs of FP16 operands, which cost what BF16 ones do"}},
         Fp8({"fp8", "FP8 by DeepSeek-V3's recipe, tokens dispatched in FP8; all else in BF16"},
             1,
             4,
             true),
         Fp8({"fp8-delayed", "FP8, scaled by tensor with the scales of past microbatches"}, 1, 4),
         Fp8({"fp8-current", "FP8, scaled by tensor with its own greatest magnitude"}, 1, 6),
         Fp8({"fp8-rowwise", "FP8, scaled by row and, for the transpose, by column"}, 1, 8),
         Fp8({"mxfp8", "FP8 in blocks of 32 with a scale each"}, g_mxfp8, 2 + 2 * g_mxfp8),
         // Beside the cast of 2 + 2 x the operand, the greatest magnitude reads the tensor, and a
         // Hadamard transform of the weight gradient's inputs reads and writes it: 2 + 4.
         {{"nvfp4", "FP4 in blocks of 16 with a scale each, and one by tensor"},
          &GpuSpec::fp4Peak,
          &GpuSpec::Fp4Efficiency,
          "fp4_peak",
          g_nvfp4,
          8 + 2 * g_nvfp4}});
    return rows;
}

template class Word<PrecisionFacts>;

Precision
Bf16()
{
    return Precision();
}

} // namespace scaleacross
