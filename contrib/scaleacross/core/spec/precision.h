// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PRECISION_H
#define SCALEACROSS_PRECISION_H

#include "core/base/word.h"
#include "core/spec/gpu-spec.h"

#include <vector>

namespace scaleacross
{

/**
 * A recipe by which the linear layers' GEMMs are computed in a narrow format, as Transformer Engine
 * and DeepSeek-V3 have it: the GEMMs of attention's projections and of the MLPs (forward, input and
 * weight gradient) run at the format's peak on operands that are cast before; what they leave is
 * BF16. Core attention, router, embedding, output head, norms, residuals, messages of tensor,
 * context and pipeline parallelism, the weights that data parallelism gathers and what it reduces
 * stay as they are in 16 bits.
 */
struct PrecisionFacts : WordFacts
{
    FlopRate GpuSpec::*peak{&GpuSpec::bf16Peak};                      //!< of its GEMMs
    double (GpuSpec::*efficiency)() const {&GpuSpec::Bf16Efficiency}; //!< that large ones achieve
    const char* peakKey{"bf16_peak"};                                 //!< for messages

    /// Bytes of an element of the operands, the scales of its block with it.
    double operandBytes{2};

    /**
     * HBM traffic of casting an element of 16 bits, in bytes; 0 where operands stay as they are.
     * One read, and two writes, since the transpose is for the weight gradient: 2 + 2 operandBytes.
     * Scales that are taken from the tensor itself (its greatest magnitude) read it once more.
     */
    double castBytes{0};

    /// A token is dispatched to its experts in 8 bits (DeepSeek-V3, arXiv:2412.19437, 3.3), and
    /// combined in 16. Else both in 16.
    bool narrowDispatch{false};

    /// Whether a GPU has such GEMMs.
    bool IsOf(const GpuSpec& gpu) const
    {
        return (gpu.*peak).Value() > 0;
    }

    /// FLOP/s of large GEMMs.
    double RateOf(const GpuSpec& gpu) const
    {
        return (gpu.*peak).Value() * (gpu.*efficiency)();
    }
};

using Precision = Word<PrecisionFacts>;

template <>
const std::vector<const PrecisionFacts*>& Precision::Rows();
extern template class Word<PrecisionFacts>;

/// What all but linear layers are computed in.
Precision Bf16();

} // namespace scaleacross

#endif // SCALEACROSS_PRECISION_H
