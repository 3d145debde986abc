// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-passes.h"

#include "core/engine/collective-time.h"
#include "core/engine/least-costs.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/graph/body-builder.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

void
Add(PassTimes& sum, const PassTimes& times)
{
    sum.forward += times.forward;
    sum.inputGradient += times.inputGradient;
    sum.weightGradient += times.weightGradient;
}

PassTimes
Lesser(const PassTimes& a, const PassTimes& b)
{
    return {std::min(a.forward, b.forward),
            std::min(a.inputGradient, b.inputGradient),
            std::min(a.weightGradient, b.weightGradient)};
}

PassTimes
PassOf(const ComputeCost& cost)
{
    return {cost.forward, cost.inputGradient, cost.weightGradient};
}

/// The first layer of every kind that a model has, as a position with nothing else.
std::vector<StageLayers>
OneOfEachKind(const ModelSpec& model)
{
    std::vector<StageLayers> layers(ModelSpec::kLayerKinds);
    for (uint32_t layer = model.LayersInTraining(); layer-- > 0;)
    {
        layers[model.KindOf(layer)] = {layer, 1, false, false};
    }
    return layers;
}

/// A graph of a layer of each kind, without anything to run it.
class LayerGraph
{
  public:
    LayerGraph(const Scenario& scenario,
               const RankLayout& layout,
               uint32_t building,
               std::shared_ptr<const NetworkFacts> facts)
        : m_network(scenario, layout, std::move(facts)),
          m_times(TimesOf(m_network)),
          m_split(OneOfEachKind(scenario.Job().model)),
          m_rules(scenario, TimerOf(scenario, layout)),
          m_bodies(scenario,
                   layout,
                   m_rules,
                   {scenario.cluster.buildings[building].gpu},
                   m_split,
                   m_table,
                   m_graph.bodies)
    {
        RankClass only;
        only.stage = StageIn(layout, building);
        only.representative = layout.pipeline.Member(layout.buildingBegin[building], only.stage);
        only.ranks = 1;
        only.program.ops.emplace_back();
        m_graph.ranks = m_graph.blockRanks = layout.ranks;
        m_graph.pipeline = layout.pipeline;
        m_graph.classOf.assign(layout.pipeline.Size(), 0);
        m_graph.classes.push_back(std::move(only));
        for (const Action action :
             {Action::Forward, Action::Backward, Action::InputGradient, Action::WeightGradient})
        {
            for (uint32_t kind = 0; kind < m_split.size(); kind++)
            {
                const bool is = m_split[kind].count > 0;
                m_body[{action, kind}] =
                    is ? m_bodies.Body(0, kind, {action, 0, 0, 0, 0}, {}) : UINT32_MAX;
            }
        }
        m_graph.collectives = m_table.Take();
        m_costs.emplace(m_graph, m_times);
        m_least.emplace(scenario, m_graph, m_network, *m_costs);
    }

    Duration Of(Action action, uint32_t kind)
    {
        const uint32_t body = m_body.at({action, kind});
        return body == UINT32_MAX ? Duration() : Duration::Seconds(m_least->OfBody(0, body).time);
    }

  private:
    /// The first stage that has ranks there.
    static uint32_t StageIn(const RankLayout& layout, uint32_t building)
    {
        uint32_t stage = 0;
        while (layout.StageRanksIn(building, stage) == 0)
        {
            stage++;
        }
        return stage;
    }

    const NetworkModel m_network;
    const TransferTimes m_times;
    std::vector<StageLayers> m_split;
    TaskGraph m_graph;
    CollectiveTable m_table;
    LoweringRules m_rules;
    BodyBuilder m_bodies;
    std::map<std::pair<Action, uint32_t>, uint32_t> m_body;
    std::optional<ClassCosts> m_costs;
    std::optional<LeastCosts> m_least;
};

/// A plan whose passes have nothing to do with parameters.
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

} // namespace

LeastPasses::LeastPasses(std::vector<NetworkPlan> networks)
    : m_networks(std::move(networks)),
      m_facts(std::make_shared<NetworkFactsCache>())
{
}

LeastPasses::Layers
LeastPasses::Find(const Scenario& given, uint32_t building) const
{
    Scenario scenario = given;
    JobSpec& job = scenario.Job();
    job.plan = WithoutShards(job.plan);
    const GpuSpec& gpu = scenario.cluster.buildings[building].gpu;
    const ParallelPlan first = job.plan;
    Layers layers;
    for (const bool behind : {false, true})
    {
        std::vector<Layer>& kinds = behind ? layers.behind : layers.kinds;
        if (behind && first.recomputeLayers == 0)
        {
            continue;
        }
        job.plan = first.OfLayer(behind ? first.recomputeLayers : 0);
        job.plan.recomputeLayers = 0;
        const auto take = [&](const std::vector<Layer>& found) {
            for (size_t kind = 0; kind < found.size(); kind++)
            {
                if (kinds.size() <= kind)
                {
                    kinds.push_back(found[kind]);
                    continue;
                }
                kinds[kind].whole = Lesser(kinds[kind].whole, found[kind].whole);
                kinds[kind].split = Lesser(kinds[kind].split, found[kind].split);
            }
        };
        for (const NetworkPlan& network : m_networks)
        {
            scenario.network = network;
            const RankLayout layout = std::get<RankLayout>(LayOut(job.plan, scenario.cluster));
            LayerGraph graph(scenario, layout, building, m_facts->Of(scenario));
            std::vector<Layer> found(ModelSpec::kLayerKinds);
            for (uint32_t kind = 0; kind < found.size(); kind++)
            {
                const Duration forward = graph.Of(Action::Forward, kind);
                found[kind] = {{forward, graph.Of(Action::Backward, kind), Duration()},
                               {forward,
                                graph.Of(Action::InputGradient, kind),
                                graph.Of(Action::WeightGradient, kind)}};
            }
            take(found);
        }
    }
    layers.embedding = PassOf(CostOfEmbedding(job.model, job.workload, first, gpu));
    layers.head = PassOf(CostOfHead(job.model, job.workload, first, gpu));
    return layers;
}

const LeastPasses::Layers&
LeastPasses::Known(const Scenario& scenario, uint32_t building) const
{
    const ParallelPlan& plan = scenario.Job().plan;
    const RecomputedParts& again = *plan.recompute;
    Key key = {plan.tp,
               plan.cp,
               plan.ep,
               plan.etp,
               plan.pp,
               plan.dp,
               plan.microbatch,
               building,
               plan.recomputeLayers > 0,
               plan.offloadLayers,
               plan.asyncTensor,
               again.norms + 2U * again.activations + 4U * again.upProjections +
                   8U * again.denseMlp + 16U * again.experts + 32U * again.sharedExperts +
                   64U * again.linears + 128U * again.layers + 256U * again.keepsProjections};
    for (uint32_t i = 0; i < plan.crossing.size; i++)
    {
        const Crossing::Part& part = plan.crossing.parts[i];
        key.push_back(static_cast<uint32_t>(part.dimension));
        key.push_back(part.count);
    }
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_layers.find(key);
        if (known != m_layers.end())
        {
            return known->second;
        }
    }
    Layers found = Find(scenario, building);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_layers.try_emplace(std::move(key), std::move(found)).first->second;
}

std::vector<PassTimes>
LeastPasses::Of(const Scenario& scenario, const RankLayout& layout) const
{
    const JobSpec& job = scenario.Job();
    const ScheduleFacts& schedule = job.plan.schedule->Facts();
    if (m_networks.empty() || schedule.overlapsPasses)
    {
        return PassTimesOf(scenario, layout);
    }
    const PipelineShape shape = PipelineShapeOf(job);
    const auto split = LayersOf(scenario, layout);
    std::vector<const Layers*> known(layout.Buildings(), nullptr);
    std::vector<PassTimes> passes(split.size());
    for (uint32_t position = 0; position < split.size(); position++)
    {
        const uint32_t building = layout.BuildingOf(layout.FirstOf(RankOf(shape, position)));
        if (known[building] == nullptr)
        {
            known[building] = &Known(scenario, building);
        }
        const Layers& layers = *known[building];
        const StageLayers& stage = split[position];
        PassTimes& pass = passes[position];
        const uint32_t again = job.plan.recomputeLayers;
        for (uint32_t i = 0; i < stage.count; i++)
        {
            const uint32_t kind = job.model.KindOf(stage.first + i);
            const Layer& layer = again > 0 && i >= again ? layers.behind[kind] : layers.kinds[kind];
            Add(pass, schedule.splitsBackward ? layer.split : layer.whole);
        }
        if (stage.embedding)
        {
            Add(pass, layers.embedding);
        }
        for (uint32_t i = 0; stage.head && i <= job.model.mtpLayers; i++)
        {
            Add(pass, layers.head);
        }
    }
    return passes;
}

} // namespace scaleacross
