// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/lone-class.h"

#include "core/engine/collective-time.h"
#include "core/work/graph/task-graph-builder.h"

#include <utility>

namespace scaleacross
{

namespace
{

/// The first stage that has ranks there.
uint32_t
StageIn(const RankLayout& layout, uint32_t building)
{
    uint32_t stage = 0;
    while (layout.StageRanksIn(building, stage) == 0)
    {
        stage++;
    }
    return stage;
}

/// What is asked of others is nothing where only some ranks of the stage are there: neither cuts,
/// nor the unluckiest of many chains.
TransferTimes
LoneTimes(const NetworkModel& network, bool ofSome)
{
    TransferTimes times = TimesOf(network);
    times.shared = [](const CutUse& use, double /* flows */) { return use.wire; };
    if (ofSome)
    {
        times.phase = [phase = times.phase](const Phase& of,
                                            Rank representative,
                                            const std::vector<RankCount>& members) {
            TransferCost cost = phase(of, representative, members);
            cost.cuts.clear();
            cost.losses.rounds.clear();
            return cost;
        };
    }
    return times;
}

} // namespace

LoneClass::LoneClass(const Scenario& scenario,
                     const RankLayout& layout,
                     uint32_t building,
                     std::shared_ptr<const NetworkFacts> facts,
                     BoundOf engine)
    : m_scenario(scenario),
      m_network(scenario, layout, std::move(facts)),
      m_rules(scenario, TimerOf(scenario, layout)),
      m_times(LoneTimes(m_network, RanksOfStagesDiffer(scenario, layout, m_rules))),
      m_alone(engine == BoundOf::Analytical)
{
    const GpuSpec& gpu = scenario.cluster.buildings[building].gpu;
    RankClass only;
    only.stage = StageIn(layout, building);
    only.representative = layout.pipeline.Member(layout.buildingBegin[building], only.stage);
    only.ranks = 1;
    only.collectiveShare = {gpu.CollectiveShare(), gpu.gemm.processors, gpu.MostForChannels()};
    only.program.ops.emplace_back();
    m_graph.ranks = m_graph.blockRanks = layout.ranks;
    m_graph.pipeline = layout.pipeline;
    m_graph.classOf.assign(layout.pipeline.Size(), 0);
    m_graph.classes.push_back(std::move(only));
}

void
LoneClass::Seal()
{
    m_graph.collectives = m_table.Take();
    m_costs.emplace(m_graph, m_times);
    m_least.emplace(m_scenario, m_graph, m_network, *m_costs);
    if (!m_alone)
    {
        return;
    }
    bool chunked = false;
    for (uint32_t c = 0; c < m_graph.collectives.size(); c++)
    {
        if (m_graph.collectives[c].chunks > 1)
        {
            m_costs->OfPhase(0, c, 0);
            chunked = true;
        }
    }
    if (chunked)
    {
        m_costs->ShareCuts(std::vector<double>(m_costs->Cuts(), 1));
    }
}

double
LoneClass::OfCollective(uint32_t collective)
{
    if (collective == CollectiveTable::kNone)
    {
        return 0;
    }
    return m_alone ? m_costs->AloneTime(0, collective).S()
                   : m_least->OfCollective(0, collective).time;
}

double
LoneClass::OfBody(uint32_t body)
{
    return m_alone ? m_costs->OfBody(0, body).times.total.S() : m_least->OfBody(0, body).time;
}

} // namespace scaleacross
