// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/result-sink.h"

namespace scaleacross
{

std::optional<Frontier::Refusal>
Frontier::MainRefusal() const
{
    std::optional<Refusal> main;
    uint64_t most = 0;
    for (const auto* reasons : {&rejected, &failed})
    {
        for (const auto& [reason, count] : *reasons)
        {
            const uint64_t weight = reason == "memory" ? UINT64_MAX : count.count;
            if (reason != kDuplicate && reason != kRuledOut && weight > most)
            {
                most = weight;
                main = Refusal{reason, count};
            }
        }
    }
    return main;
}

} // namespace scaleacross
