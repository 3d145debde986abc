// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-pairs.h"

#include "core/engine/lone-class.h"
#include "core/work/graph/body-builder.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace scaleacross
{

namespace
{

/// What decides the body of a pass.
void
Append(const ModelSpec& model, const StageLayers& stage, LeastPairs::Key& key)
{
    key.insert(key.end(), {stage.count, stage.embedding, stage.head});
    for (uint32_t i = 0; i < stage.count; i++)
    {
        key.push_back(model.KindOf(stage.first + i));
    }
}

} // namespace

LeastPairs::LeastPairs(const std::vector<NetworkPlan>& networks, BoundOf engine)
    : m_networks(networks),
      m_engine(engine),
      m_facts(std::make_shared<NetworkFactsCache>())
{
}

Duration
LeastPairs::Find(const Scenario& given,
                 Rank representative,
                 const StageLayers& forward,
                 const StageLayers& back) const
{
    const bool mayFollow = given.Job().plan.Reshards();
    Scenario scenario = given;
    scenario.Job().plan = WithoutShards(given.Job().plan);
    Duration least = Duration::Max();
    for (const NetworkPlan& network : m_networks)
    {
        scenario.network = network;
        const RankLayout layout =
            std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
        const auto facts = m_facts->Of(scenario);
        LoneClass ranks(scenario,
                        layout,
                        representative,
                        facts,
                        OfAnyStage(m_engine, scenario, layout, *facts));
        BodyBuilder bodies(scenario,
                           layout,
                           ranks.Rules(),
                           {scenario.cluster.buildings[layout.BuildingOf(representative)].gpu},
                           {forward, back},
                           ranks.Table(),
                           ranks.Bodies());
        const uint32_t first = bodies.Body(0, 0, {Action::Forward, 0, 0, 0, 0}, {});
        const uint32_t second = bodies.Body(0, 1, {Action::Backward, 0, 0, 0, 0}, {});
        const uint32_t both = bodies.Overlapped(first, second);
        ranks.Seal();
        const double overlapped = ranks.OfBody(both);
        const double inTurn = ranks.OfBody(first) + ranks.OfBody(second);
        least = std::min(least, Down(mayFollow ? std::min(overlapped, inTurn) : overlapped));
    }
    return least;
}

Duration
LeastPairs::Of(const Scenario& scenario,
               Rank representative,
               Key key,
               const StageLayers& forward,
               const StageLayers& back) const
{
    const JobSpec& job = scenario.Job();
    key.push_back(job.plan.recomputeLayers);
    key.push_back(job.plan.Reshards());
    Append(job.model, forward, key);
    Append(job.model, back, key);
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_pairs.find(key);
        if (known != m_pairs.end())
        {
            return known->second;
        }
    }
    const Duration found = Find(scenario, representative, forward, back);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_pairs.try_emplace(std::move(key), found).first->second;
}

} // namespace scaleacross
