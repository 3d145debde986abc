// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/lone-class.h"

#include "core/engine/collective-time.h"
#include "core/engine/switch-edges.h"
#include "core/work/graph/task-graph-builder.h"

#include <utility>

namespace scaleacross
{

namespace
{

/// Layers that are dealt out by time may make replicas differ, as schedule and layers have it.
bool
MayDiffer(const Scenario& scenario, const RankLayout& layout, const LoweringRules& rules)
{
    return (layout.plan.apportion->byTime && layout.Buildings() > 1) ||
           RanksOfStagesDiffer(scenario, layout, rules);
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
            cost.window = cost.admission = {}; // their round trips are those of all
            cost.losses.rounds.clear();
            return cost;
        };
    }
    return times;
}

} // namespace

LoneClass::LoneClass(const Scenario& scenario,
                     const RankLayout& layout,
                     Rank representative,
                     std::shared_ptr<const NetworkFacts> facts,
                     BoundOf engine)
    : m_scenario(scenario),
      m_network(scenario, layout, std::move(facts)),
      m_rules(scenario, TimerOf(scenario, layout)),
      m_times(LoneTimes(m_network, MayDiffer(scenario, layout, m_rules))),
      m_alone(engine == BoundOf::Analytical)
{
    const GpuSpec& gpu = scenario.cluster.buildings[layout.BuildingOf(representative)].gpu;
    RankClass only;
    only.stage = layout.StageOf(representative);
    only.representative = representative;
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
    return m_alone ? m_costs->AloneTime(0, collective).S()
                   : m_least->OfCollective(0, collective).time;
}

double
LoneClass::OfBody(uint32_t body)
{
    return m_alone ? m_costs->OfBody(0, body).times.total.S() : m_least->OfBody(0, body).time;
}

std::vector<double>
LoneClass::SpansOf(uint32_t body) const
{
    return SpansOf(m_graph.bodies[body]);
}

std::vector<double>
LoneClass::SpansOf(const Program& program) const
{
    const CutModel& cuts = m_network.Cuts();
    std::vector<double> seconds;
    for (uint32_t cut = 0; cut < cuts.Count(); cut++)
    {
        seconds.resize(seconds.size() + (cuts.IsSpan(cut) ? 1 : 0), 0.0);
    }
    const auto first = static_cast<uint32_t>(cuts.Count() - seconds.size());
    for (const Op& op : program.ops)
    {
        if (op.kind != OpKind::Collective)
        {
            continue;
        }
        for (const Phase& phase : m_graph.collectives[op.index].phases)
        {
            const Rank rank = m_graph.classes.front().representative;
            for (const CutUse& use : m_network.PhaseCost(phase, rank, {}).cuts)
            {
                if (cuts.IsSpan(use.cut))
                {
                    seconds[use.cut - first] +=
                        (use.bytes - use.detours) * 8.0 / cuts.Named(use.cut).Held().Value();
                }
            }
        }
    }
    return seconds;
}

ParallelPlan
WithoutShards(ParallelPlan plan)
{
    plan.sharding = "ddp";
    plan.shardRanks = 0;
    plan.reshard = false;
    plan.reduce.reset();
    plan.bucket = Bytes(0);
    return plan;
}

BoundOf
OfAnyStage(BoundOf engine,
           const Scenario& scenario,
           const RankLayout& layout,
           const NetworkFacts& facts)
{
    const bool alike =
        layout.plan.pp == 1 || SwitchPeriod(scenario.cluster, facts.paths, layout) == 1;
    return alike ? engine : BoundOf::EveryEngine;
}

Duration
Down(double seconds)
{
    return Duration::Picoseconds(static_cast<int64_t>(seconds * 1e12 + 1e-3));
}

} // namespace scaleacross
