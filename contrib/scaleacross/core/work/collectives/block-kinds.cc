// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/collectives/block-kinds.h"

#include "core/work/collectives/lowering.h"

#include <algorithm>
#include <map>
#include <utility>

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

BlockKinds::BlockKinds(const RankLayout& layout, CollectiveAlgorithm algorithm)
    : m_layout(layout)
{
    for (const RankGroup* group : layout.Families())
    {
        AddFamilies(*group, algorithm);
    }
}

BlockKinds::BlockKinds(const RankLayout& layout,
                       const RankGroup& group,
                       CollectiveAlgorithm algorithm)
    : m_layout(layout)
{
    AddFamilies(group, algorithm);
}

void
BlockKinds::AddFamilies(const RankGroup& group, CollectiveAlgorithm algorithm)
{
    for (const RankGroup& family : PhaseFamilies(group, m_layout, algorithm))
    {
        RankGroup blocks = family.SplitAt(m_layout.buildingSpan).outer;
        if (blocks.Size() > 1 &&
            std::find(m_families.begin(), m_families.end(), blocks) == m_families.end())
        {
            m_families.push_back(std::move(blocks));
        }
    }
}

bool
BlockKinds::MayDiffer() const
{
    const uint32_t blocks = m_layout.ranks / m_layout.buildingSpan;
    return std::any_of(m_families.begin(), m_families.end(), [blocks](const RankGroup& family) {
        return family.Size() < blocks;
    });
}

std::vector<uint32_t>
BlockKinds::Find() const
{
    const uint32_t span = m_layout.buildingSpan;
    const RankGroup stages = m_layout.pipeline.SplitAt(span).outer;
    std::vector<uint32_t> kinds(m_layout.ranks / span);
    Numbering first;
    for (uint32_t block = 0; block < kinds.size(); block++)
    {
        const Rank rank = block * span;
        kinds[block] = first.Of({m_layout.BuildingOf(rank), stages.IndexOf(rank)});
    }
    for (uint32_t before = 0, count = first.Count(); count > before;)
    {
        std::vector<std::vector<uint32_t>> marks;
        for (const uint32_t kind : kinds)
        {
            marks.push_back({kind});
        }
        for (const RankGroup& family : m_families)
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
