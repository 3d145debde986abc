// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/network-facts.h"

#include <utility>

namespace scaleacross
{

NetworkFacts::NetworkFacts(const Scenario& scenario)
    : paths(scenario.cluster),
      cuts(scenario.cluster, scenario.events)
{
}

std::shared_ptr<const StageFabric>
NetworkFacts::StagesOf(const ClusterSpec& cluster, const RankLayout& layout, uint32_t period) const
{
    const auto find = [&] {
        StageFabric stages;
        for (uint32_t level = 0; level < kCutLevels; level++)
        {
            stages.emplace_back(cluster, paths, layout.pipeline, layout.takingPart, level, period);
        }
        return std::make_shared<const StageFabric>(std::move(stages));
    };
    if (!layout.takingPart.empty())
    {
        return find();
    }
    std::vector<uint32_t> key = {period};
    for (const RankGroup::Axis& axis : layout.pipeline.Axes())
    {
        key.insert(key.end(), {axis.stride, axis.count});
    }
    const std::lock_guard<std::mutex> lock(m_mutex);
    std::shared_ptr<const StageFabric>& stages = m_stages[key];
    if (!stages)
    {
        stages = find();
    }
    return stages;
}

std::shared_ptr<const NetworkFacts>
NetworkFactsCache::Of(const Scenario& scenario)
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (!m_facts || !(scenario.cluster == m_cluster) || !(scenario.events == m_events))
    {
        m_facts = std::make_shared<const NetworkFacts>(scenario);
        m_cluster = scenario.cluster;
        m_events = scenario.events;
    }
    return m_facts;
}

} // namespace scaleacross
