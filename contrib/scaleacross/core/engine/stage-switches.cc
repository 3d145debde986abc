// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/stage-switches.h"

#include <algorithm>
#include <map>
#include <utility>

namespace scaleacross
{

StageSwitches::StageSwitches(const ClusterSpec& cluster,
                             const RankGroup& pipeline,
                             const std::vector<bool>& isActive,
                             SwitchOf switchOf)
    : m_stages(pipeline.Size()),
      m_shares(cluster.buildings.size() * m_stages)
{
    Rank rank = 0;
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const BuildingSpec& building = cluster.buildings[b];
        const FabricShape shape = ShapeOf(building);
        std::vector<std::vector<uint32_t>> stagesOf; // by switch, those of its ranks
        for (uint32_t gpu = 0; gpu < building.gpus; gpu++, rank++)
        {
            const uint32_t where = switchOf(building, shape, gpu);
            stagesOf.resize(std::max<size_t>(stagesOf.size(), where + 1));
            if (isActive.empty() || isActive[rank])
            {
                stagesOf[where].push_back(pipeline.IndexOf(rank));
            }
        }
        AddBuilding(stagesOf, b);
    }
}

void
StageSwitches::AddBuilding(const std::vector<std::vector<uint32_t>>& stagesOf, uint32_t building)
{
    std::map<std::vector<std::pair<uint32_t, uint32_t>>, uint32_t> kinds; // by stage and ranks
    std::vector<uint32_t> ranks(m_stages, 0);
    for (std::vector<uint32_t> stages : stagesOf)
    {
        std::sort(stages.begin(), stages.end());
        std::vector<std::pair<uint32_t, uint32_t>> counts;
        for (const uint32_t stage : stages)
        {
            if (counts.empty() || counts.back().first != stage)
            {
                counts.emplace_back(stage, 0);
            }
            counts.back().second++;
            ranks[stage]++;
        }
        if (!counts.empty() && kinds.try_emplace(counts, m_kinds).second)
        {
            m_buildings.push_back(building);
            m_kinds++;
        }
    }
    m_uneven.resize(m_kinds, false);
    for (const auto& [counts, kind] : kinds)
    {
        for (const auto& [stage, count] : counts)
        {
            m_shares[building * m_stages + stage].push_back(
                {kind, static_cast<double>(count) / ranks[stage]});
        }
    }
    for (uint32_t stage = 0; stage < m_stages; stage++)
    {
        const std::vector<SwitchShare>& shares = Of(building, stage);
        for (const SwitchShare& share : shares)
        {
            m_uneven[share.kind] = m_uneven[share.kind] || share.share != shares.front().share;
        }
        // Those before that differ from a later one count as well.
        if (!shares.empty() && shares.back().share != shares.front().share)
        {
            for (const SwitchShare& share : shares)
            {
                m_uneven[share.kind] = true;
            }
        }
    }
}

} // namespace scaleacross
