// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/stage-switches.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace scaleacross
{

StageSwitches::StageSwitches(const ClusterSpec& cluster,
                             const ClusterPaths& paths,
                             const RankGroup& pipeline,
                             const std::vector<bool>& isActive,
                             uint32_t level,
                             uint32_t period)
    : m_stages(pipeline.Size()),
      m_shares(cluster.buildings.size() * m_stages)
{
    Rank rank = 0;
    for (uint32_t b = 0; b < cluster.buildings.size(); b++)
    {
        const FabricShape& shape = paths.Shape(b);
        std::vector<Content> contents; // by switch
        for (uint32_t gpu = 0; gpu < cluster.buildings[b].gpus; gpu++, rank++)
        {
            const uint32_t where = shape.SwitchOf(level, gpu);
            const size_t known = contents.size();
            contents.resize(std::max<size_t>(known, where + 1));
            // Ranks come in order, and each switch with its first one.
            for (size_t added = known; added < contents.size(); added++)
            {
                contents[added].first = rank;
            }
            if (isActive.empty() || isActive[rank])
            {
                contents[where].stages.push_back(pipeline.IndexOf(rank));
            }
        }
        AddBuilding(contents, period);
    }
}

void
StageSwitches::AddBuilding(const std::vector<Content>& contents, uint32_t period)
{
    const auto building = static_cast<uint32_t>(m_kindOf.size());
    using Counts = std::vector<std::pair<uint32_t, uint32_t>>; // ranks by stage
    std::vector<Counts> all;
    std::vector<uint32_t> ranks(m_stages, 0);
    std::set<std::pair<Counts, uint32_t>> different;
    for (const Content& content : contents)
    {
        std::vector<uint32_t> stages = content.stages;
        std::sort(stages.begin(), stages.end());
        Counts counts;
        for (const uint32_t stage : stages)
        {
            if (counts.empty() || counts.back().first != stage)
            {
                counts.emplace_back(stage, 0);
            }
            counts.back().second++;
            ranks[stage]++;
        }
        different.emplace(counts, content.first % period);
        all.push_back(std::move(counts));
    }
    const uint32_t modulus = different.size() > kMostKinds ? 1 : period;
    std::map<std::pair<Counts, uint32_t>, uint32_t> kinds;
    m_kindOf.emplace_back(contents.size(), 0);
    for (size_t i = 0; i < contents.size(); i++)
    {
        if (all[i].empty())
        {
            continue;
        }
        const auto [kind, isNew] =
            kinds.try_emplace({all[i], contents[i].first % modulus}, m_kinds);
        if (isNew)
        {
            m_buildings.push_back(building);
            m_counts.push_back(0);
            m_kinds++;
        }
        m_kindOf.back()[i] = kind->second;
        m_counts[kind->second]++;
    }
    for (const auto& [what, kind] : kinds)
    {
        for (const auto& [stage, count] : what.first)
        {
            m_shares[building * m_stages + stage].push_back(
                {kind, static_cast<double>(count) / ranks[stage]});
        }
    }
}

} // namespace scaleacross
