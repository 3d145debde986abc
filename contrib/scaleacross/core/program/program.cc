// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/program.h"

#include <algorithm>

namespace scaleacross
{

std::vector<uint32_t>
TaskGraph::ClassesOf(const RankGroup& group, Rank rank) const
{
    // Members in the same block are of the same class, so one for each block tells.
    const RankGroup blocks = group.CanSplitAt(blockRanks) ? group.SplitAt(blockRanks).outer : group;
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < blocks.Size(); i++)
    {
        const Rank member = blocks.Member(rank, i);
        if (member < ranks)
        {
            found.push_back(ClassOf(member));
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

} // namespace scaleacross
