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

void
Lessen(std::vector<double>& least, const std::vector<double>& found)
{
    for (size_t i = 0; i < least.size(); i++)
    {
        least[i] = std::min(least[i], found[i]);
    }
}

void
Lessen(UnitTimes& least, const UnitTimes& found)
{
    least.gatherDense = std::min(least.gatherDense, found.gatherDense);
    least.gatherExpert = std::min(least.gatherExpert, found.gatherExpert);
    least.reduceDense = std::min(least.reduceDense, found.reduceDense);
    least.reduceExpert = std::min(least.reduceExpert, found.reduceExpert);
    least.scatterDense = std::min(least.scatterDense, found.scatterDense);
    least.scatterExpert = std::min(least.scatterExpert, found.scatterExpert);
}

void
Lessen(UnitSpans& least, const UnitSpans& found)
{
    Lessen(least.gather, found.gather);
    Lessen(least.scatter, found.scatter);
    Lessen(least.reduce, found.reduce);
}

} // namespace

LeastUnits::LeastUnits(const std::vector<NetworkPlan>& networks, BoundOf engine)
    : m_networks(WithoutTokens(networks)),
      m_engine(engine),
      m_facts(std::make_shared<NetworkFactsCache>())
{
}

LeastUnits::Unit
LeastUnits::Find(const Scenario& given, Rank rank, const ParameterUnit& unit) const
{
    Scenario scenario = given;
    Unit least;
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
        const ParameterUnit dense{unit.dense, 0, 1};
        const ParameterUnit expert{0, unit.expert, 1};
        std::array<Program, 6> programs;
        collectives.PostGather(dense, 0, programs[0]);
        collectives.PostGather(expert, 0, programs[1]);
        collectives.PostReduction(dense, 0, UnitPart::Dense, true, programs[2]);
        collectives.PostReduction(expert, 0, UnitPart::Expert, true, programs[3]);
        collectives.PostReduction(dense, 0, UnitPart::Dense, false, programs[4]);
        collectives.PostReduction(expert, 0, UnitPart::Expert, false, programs[5]);
        std::array<Program, 3> together; // gather, scatter, reduce
        collectives.PostGather({unit.dense, unit.expert, 1}, 0, together[0]);
        for (const bool replicas : {false, true})
        {
            Program& program = together[replicas ? 2 : 1];
            collectives.PostReduction(dense, 0, UnitPart::Dense, replicas, program);
            collectives.PostReduction(expert, 0, UnitPart::Expert, replicas, program);
        }
        ranks.Seal();
        const auto time = [&](size_t program) {
            double sum = 0; // one after the other on their stream
            for (const Op& op : programs[program].ops)
            {
                sum += ranks.OfCollective(op.index);
            }
            return sum;
        };
        const Unit found{
            {time(0), time(1), time(2), time(3), time(4), time(5)},
            {ranks.SpansOf(together[0]), ranks.SpansOf(together[1]), ranks.SpansOf(together[2])}};
        if (i == 0)
        {
            least = found;
            continue;
        }
        Lessen(least.times, found.times);
        Lessen(least.spans, found.spans);
    }
    return least;
}

const LeastUnits::Unit&
LeastUnits::Known(const Scenario& scenario,
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
        const auto known = m_known.find(key);
        if (known != m_known.end())
        {
            return known->second;
        }
    }
    Unit found = Find(scenario, rank, unit);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_known.try_emplace(std::move(key), std::move(found)).first->second;
}

} // namespace scaleacross
