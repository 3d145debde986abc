// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/block-kinds.h"

#include <map>

namespace scaleacross
{

namespace
{

/// Numbers things that are equal alike, in the order in which they first come.
class Numbering
{
  public:
    uint32_t Of(const std::vector<uint32_t>& thing)
    {
        return m_numbers.try_emplace(thing, Count()).first->second;
    }

    uint32_t Count() const
    {
        return static_cast<uint32_t>(m_numbers.size());
    }

  private:
    std::map<std::vector<uint32_t>, uint32_t> m_numbers;
};

/// Appends to what tells each block apart which kinds the groups of a family have in sequence.
void
TellGroups(const RankGroup& blocks,
           uint32_t span,
           const std::vector<uint32_t>& kinds,
           std::vector<std::vector<uint32_t>>& marks)
{
    Numbering sequences;
    for (uint32_t block = 0; block < kinds.size(); block++)
    {
        const Rank first = block * span;
        if (blocks.IndexOf(first) != 0)
        {
            continue; // it is told with the first of its group
        }
        std::vector<uint32_t> sequence;
        for (uint32_t i = 0; i < blocks.Size(); i++)
        {
            sequence.push_back(kinds[blocks.Member(first, i) / span]);
        }
        const uint32_t number = sequences.Of(sequence);
        for (uint32_t i = 0; i < blocks.Size(); i++)
        {
            marks[blocks.Member(first, i) / span].push_back(number);
        }
    }
}

} // namespace

std::vector<uint32_t>
BlockKinds(const RankLayout& layout)
{
    const uint32_t span = layout.buildingSpan;
    std::vector<RankGroup> families; // of blocks
    for (const RankGroup* group : {&layout.pipeline,
                                   &layout.tensor,
                                   &layout.context,
                                   &layout.expert,
                                   &layout.dense,
                                   &layout.experts})
    {
        RankGroup blocks = group->SplitAt(span).outer;
        if (blocks.Size() > 1)
        {
            families.push_back(std::move(blocks));
        }
    }
    const RankGroup stages = layout.pipeline.SplitAt(span).outer;
    std::vector<uint32_t> kinds(layout.ranks / span);
    Numbering first;
    for (uint32_t block = 0; block < kinds.size(); block++)
    {
        const Rank rank = block * span;
        kinds[block] = first.Of({layout.BuildingOf(rank), stages.IndexOf(rank)});
    }
    for (uint32_t before = 0, count = first.Count(); count > before;)
    {
        std::vector<std::vector<uint32_t>> marks;
        for (const uint32_t kind : kinds)
        {
            marks.push_back({kind});
        }
        for (const RankGroup& family : families)
        {
            TellGroups(family, span, kinds, marks);
        }
        Numbering next;
        for (uint32_t block = 0; block < kinds.size(); block++)
        {
            kinds[block] = next.Of(marks[block]);
        }
        before = count;
        count = next.Count();
    }
    return kinds;
}

} // namespace scaleacross
