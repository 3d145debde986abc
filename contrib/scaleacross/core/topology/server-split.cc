// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/server-split.h"

#include <utility>

namespace scaleacross
{

ServerSplit::ServerSplit(const RankGroup& group, const RankLayout& layout)
    : outer(group)
{
    if (group.CanSplitAt(layout.gpusPerNode))
    {
        auto halves = group.SplitAt(layout.gpusPerNode);
        inner = std::move(halves.inner);
        outer = std::move(halves.outer);
    }
}

} // namespace scaleacross
