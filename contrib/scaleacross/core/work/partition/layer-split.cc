// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/layer-split.h"

namespace scaleacross
{

std::vector<StageLayers>
SplitLayers(const ModelSpec& model, uint32_t virtualStages)
{
    if (virtualStages == 0 || model.layers < virtualStages)
    {
        return {};
    }
    const uint32_t each = model.layers / virtualStages;
    const uint32_t longer = model.layers % virtualStages;
    // An odd number of shorter positions leaves one more of them at the end: the head costs more
    // than the embedding.
    const uint32_t begin = (virtualStages - longer) / 2;
    std::vector<StageLayers> split(virtualStages);
    uint32_t first = 0;
    for (uint32_t i = 0; i < virtualStages; i++)
    {
        split[i].first = first;
        split[i].count = each + (i >= begin && i < begin + longer ? 1 : 0);
        first += split[i].count;
    }
    split.front().embedding = true;
    split.back().head = true;
    return split;
}

} // namespace scaleacross
