// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKLOAD_SPEC_H
#define SCALEACROSS_WORKLOAD_SPEC_H

#include "core/base/field.h"
#include "core/base/word.h"
#include "core/spec/software-stack.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What is known of a number format of the linear layers' GEMMs.
struct PrecisionFacts : WordFacts
{
    /**
     * FP8 as Transformer Engine and DeepSeek-V3 have it: the GEMMs of attention's projections and
     * of the MLPs (forward, input and weight gradient) run at the FP8 peak on operands that are
     * cast before; what they leave is BF16. Core attention, router, embedding, output head, norms,
     * residuals, messages of tensor, context and pipeline parallelism, the weights that data
     * parallelism gathers and what it reduces stay as they are in BF16. A token is dispatched to
     * its experts in FP8 and combined in BF16 (DeepSeek-V3, arXiv:2412.19437, 3.3).
     */
    bool fp8{false};

    /// Bytes of an element of the operands.
    uint32_t OperandBytes() const
    {
        return fp8 ? 1 : 2;
    }
};

using Precision = Word<PrecisionFacts>;

template <>
const std::vector<const PrecisionFacts*>& Precision::Rows();
extern template class Word<PrecisionFacts>;

/// What all but linear layers are computed in.
Precision Bf16();

/// What one optimizer step trains on. Mixed precision: BF16 compute (or FP8 GEMMs), FP32 gradients
/// and Adam state.
struct WorkloadSpec
{
    uint32_t sequence{0};    //!< s, tokens per sequence
    uint32_t globalBatch{0}; //!< sequences per optimizer step over all replicas
    /// Bytes of one gradient element on the network: 4 (FP32, Llama 3's choice) or 2 (BF16).
    uint32_t gradientBytes{4};
    /// Count core attention as s^2/2 (what causal kernels do) instead of s^2, in time and in MFU.
    bool causalAttention{true};
    Precision precision;
    /**
     * Routed tokens of the fullest expert-parallel rank over the mean, from 1 (balanced). All ranks
     * of a synchronous step wait for it, so it scales the experts' computing and the bytes of
     * dispatch and combine on every rank. Without expert parallelism there is nothing to be
     * unbalanced between ranks, and it counts as 1.
     */
    double expertImbalance{1};
    SoftwareStack stack; //!< what the software makes of a layer

    /// What a study may say of it besides the stack, in canonical order.
    static const FieldTable<WorkloadSpec>& Fields();

    /// Throws ConfigError (where = "workload.<field>").
    void Validate() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_WORKLOAD_SPEC_H
