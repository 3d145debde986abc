// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/layer-pattern.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Whether flag i is set just where i is at least `leading` and i + 1 a multiple of `every`.
bool
Fits(const std::vector<bool>& flags, uint32_t leading, uint32_t every)
{
    for (uint32_t i = 0; i < flags.size(); i++)
    {
        if (flags[i] != (i >= leading && (i + 1) % every == 0))
        {
            return false;
        }
    }
    return true;
}

} // namespace

std::optional<MoePattern>
MoePatternOf(const std::vector<bool>& isMoe)
{
    const auto found = std::find(isMoe.begin(), isMoe.end(), true);
    const auto first = static_cast<uint32_t>(found - isMoe.begin());
    for (uint32_t every = 1; every <= isMoe.size(); every++)
    {
        // All multiples before the first MoE layer, the last of which is layer first - every.
        const uint32_t leading = first < every ? 0 : first - every + 1;
        if (Fits(isMoe, leading, every))
        {
            return MoePattern{leading, every};
        }
    }
    return std::nullopt;
}

std::optional<uint32_t>
FullAttentionEvery(const std::vector<bool>& isWindowed)
{
    std::vector<bool> seesAll = isWindowed;
    seesAll.flip();
    if (std::find(seesAll.begin(), seesAll.end(), true) == seesAll.end())
    {
        return 0;
    }
    for (uint32_t every = 2; every <= seesAll.size(); every++)
    {
        if (Fits(seesAll, 0, every))
        {
            return every;
        }
    }
    return std::nullopt;
}

} // namespace scaleacross
