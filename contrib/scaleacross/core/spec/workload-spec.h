// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKLOAD_SPEC_H
#define SCALEACROSS_WORKLOAD_SPEC_H

#include "core/base/field.h"
#include "core/spec/precision.h"
#include "core/spec/software-stack.h"

#include <cstdint>

namespace scaleacross
{

/// What one optimizer step trains on. Mixed precision: BF16 compute (or narrower GEMMs), FP32
/// gradients and Adam state.
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
    /// Copies that an expert takes of those that would come to it were all alike; more are dropped,
    /// and fewer are padded (GShard, arXiv:2006.16668). All experts are equal then. 0: each takes
    /// what comes.
    double capacityFactor{0};
    /// Whether a plan that needs more HBM than there is cannot run. Otherwise it runs, and what it
    /// lacks is told: for plans that are known to have run.
    bool memoryLimit{true};
    SoftwareStack stack; //!< what the software makes of a layer

    /// Copies of tokens that a rank's experts work on, and that come and go, over the mean.
    double ExpertLoad(uint32_t ep) const
    {
        return capacityFactor > 0 ? capacityFactor : ep > 1 ? expertImbalance : 1;
    }

    /// What a study may say of it besides the stack, in canonical order.
    static const FieldTable<WorkloadSpec>& Fields();

    /// Throws ConfigError (where = "workload.<field>").
    void Validate() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_WORKLOAD_SPEC_H
