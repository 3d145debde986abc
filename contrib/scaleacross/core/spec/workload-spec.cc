// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/workload-spec.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/check.h"

namespace scaleacross
{

std::string
ToString(Precision precision)
{
    return precision == Precision::Fp8 ? "fp8" : "bf16";
}

Precision
ParsePrecision(const std::string& text)
{
    for (const Precision precision : {Precision::Bf16, Precision::Fp8})
    {
        if (text == ToString(precision))
        {
            return precision;
        }
    }
    throw ValueError(Quoted(text) + " is not known", "bf16 or fp8", "");
}

void
WorkloadSpec::Validate() const
{
    CheckWhole("workload.sequence", sequence, 1, 1U << 24);
    CheckWhole("workload.global_batch", globalBatch, 1, 1U << 24);
    if (gradientBytes != 2 && gradientBytes != 4)
    {
        throw ConfigError("workload.gradients",
                          std::to_string(gradientBytes) + " bytes per gradient element",
                          "4 (fp32) or 2 (bf16)",
                          "");
    }
    // All tokens on one of 16,384 ranks is as far as imbalance can go.
    CheckRange("workload.expert_imbalance", expertImbalance, 1, 16384);
}

} // namespace scaleacross
