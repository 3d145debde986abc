// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKLOAD_SPEC_H
#define SCALEACROSS_WORKLOAD_SPEC_H

#include <cstdint>

namespace scaleacross
{

/// What one optimizer step trains on. Mixed precision: BF16 compute, FP32 gradients and Adam state.
struct WorkloadSpec
{
    uint32_t sequence{0};    //!< s, tokens per sequence
    uint32_t globalBatch{0}; //!< sequences per optimizer step over all replicas
    /// Bytes of one gradient element on the network: 4 (FP32, Llama 3's choice) or 2 (BF16).
    uint32_t gradientBytes{4};
    /// Count core attention as s^2/2 (what causal kernels do) instead of s^2, in time and in MFU.
    bool causalAttention{true};

    /// Throws ConfigError (where = "workload.<field>").
    void Validate() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_WORKLOAD_SPEC_H
