// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/layout-key.h"

namespace scaleacross
{

std::vector<uint64_t>
LayoutKey(const ParallelPlan& plan)
{
    std::vector<uint64_t> key = {plan.tp,
                                 plan.cp,
                                 plan.ep,
                                 plan.etp,
                                 plan.pp,
                                 plan.dp,
                                 plan.microbatch,
                                 plan.apportion->byTime,
                                 plan.crossing.size};
    for (uint32_t i = 0; i < plan.crossing.size; i++)
    {
        const Crossing::Part& part = plan.crossing.parts[i];
        key.push_back(static_cast<uint64_t>(part.dimension));
        key.push_back(part.count);
    }
    return key;
}

} // namespace scaleacross
