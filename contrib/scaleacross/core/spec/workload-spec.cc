// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/workload-spec.h"

#include "core/base/errors.h"
#include "core/spec/check.h"

namespace scaleacross
{

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
}

} // namespace scaleacross
