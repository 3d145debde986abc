// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/memory/usable-memory.h"

#include <algorithm>

namespace scaleacross
{

Bytes
UsableMemory(const Scenario& scenario, const RankLayout& layout, uint32_t stage)
{
    Bytes limit(UINT64_MAX);
    for (uint32_t b = 0; b < layout.Buildings(); b++)
    {
        if (layout.StageRanksIn(b, stage) > 0)
        {
            limit = std::min(limit, scenario.cluster.buildings[b].gpu.UsableHbm());
        }
    }
    return limit;
}

} // namespace scaleacross
