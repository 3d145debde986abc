// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-units.h"

#include "core/engine/layout-key.h"
#include "core/engine/lone-class.h"
#include "core/spec/plan-fields.h"
#include "core/work/collectives/parameter-collectives.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

/// Networks whose gathers and reductions differ: how tokens are sent to experts is none of theirs.
std::vector<NetworkPlan>
WithoutTokens(const std::vector<NetworkPlan>& networks)
{
    std::vector<NetworkPlan> differ;
    std::set<std::string> texts;
    for (NetworkPlan network : networks)
    {
        network.allToAll = networks.front().allToAll;
        if (texts.insert(CanonicalText({ParallelPlan(), network})).second)
        {
            differ.push_back(network);
        }
    }
    return differ;
}

/// The one collective that a program posts, or none.
uint32_t
PostedBy(const Program& program)
{
    return program.ops.empty() ? CollectiveTable::kNone : program.ops.front().index;
}

} // namespace

LeastUnits::LeastUnits(const std::vector<NetworkPlan>& networks, BoundOf engine)
    : m_networks(WithoutTokens(networks)),
      m_engine(engine),
      m_facts(std::make_shared<NetworkFactsCache>())
{
}

UnitTimes
LeastUnits::Find(const Scenario& given, Rank rank, const ParameterUnit& unit) const
{
    Scenario scenario = given;
    UnitTimes least;
    for (size_t i = 0; i < m_networks.size(); i++)
    {
        scenario.network = m_networks[i];
        const RankLayout layout =
            std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
        LoneClass ranks(scenario, layout, rank, m_facts->Of(scenario), m_engine);
        const ParameterCollectives collectives(scenario.Job(),
                                               layout,
                                               ranks.Rules(),
                                               ranks.Table());
        std::array<Program, 4> programs;
        collectives.PostGather({unit.dense, 0, 1}, 0, programs[0]);
        collectives.PostGather({0, unit.expert, 1}, 0, programs[1]);
        collectives.PostReduction({unit.dense, 0, 1}, 0, UnitPart::Dense, true, programs[2]);
        collectives.PostReduction({0, unit.expert, 1}, 0, UnitPart::Expert, true, programs[3]);
        ranks.Seal();
        const auto time = [&](size_t program) {
            return ranks.OfCollective(PostedBy(programs[program]));
        };
        const UnitTimes found{time(0), time(1), time(2), time(3)};
        if (i == 0)
        {
            least = found;
            continue;
        }
        least.gatherDense = std::min(least.gatherDense, found.gatherDense);
        least.gatherExpert = std::min(least.gatherExpert, found.gatherExpert);
        least.reduceDense = std::min(least.reduceDense, found.reduceDense);
        least.reduceExpert = std::min(least.reduceExpert, found.reduceExpert);
    }
    return least;
}

UnitTimes
LeastUnits::Of(const Scenario& scenario,
               const RankLayout& layout,
               Rank rank,
               const ParameterUnit& unit) const
{
    const ParallelPlan& plan = layout.plan;
    Key key = LayoutKey(plan);
    key.insert(key.end(),
               {plan.sharding->optimizer,
                plan.sharding->insideBuildings,
                plan.shardRanks,
                rank,
                unit.dense,
                unit.expert});
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_times.find(key);
        if (known != m_times.end())
        {
            return known->second;
        }
    }
    const UnitTimes found = Find(scenario, rank, unit);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_times.try_emplace(std::move(key), found).first->second;
}

} // namespace scaleacross
