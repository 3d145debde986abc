// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/plan-meaning.h"

#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/simplest-shape.h"
#include "core/spec/without-effect.h"
#include "core/topology/rank-digits.h"
#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace scaleacross
{

namespace
{

/// Whether experts count a dimension that their dense layout does not have.
bool
OnlyOfExperts(const ParallelPlan& plan, Dimension dimension)
{
    return plan.FoldsExperts() && ((dimension == Dimension::Tensor && plan.etp > 1) ||
                                   (dimension == Dimension::Expert && plan.ep > 1) ||
                                   (dimension == Dimension::Data && plan.ExpertData() > 1));
}

/// The dimensions that number a plan's ranks by a crossing, without those that have one value only.
std::vector<Dimension>
OrderOf(const ParallelPlan& plan, const Crossing& crossing)
{
    ParallelPlan ordered = plan;
    ordered.crossing = crossing;
    std::vector<Dimension> order;
    for (uint32_t i = 0; i < crossing.size; i++)
    {
        const Crossing::Part& part = crossing.parts[i];
        if (part.count > 1 || DegreeOf(ordered, part.dimension) > 1 ||
            OnlyOfExperts(plan, part.dimension))
        {
            order.push_back(part.dimension);
        }
    }
    return order;
}

/// The layers of every position as the plan's `layers`; not given where they are refused.
LayerLayout
LayoutOf(const ModelSpec& model, const ParallelPlan& plan)
{
    std::vector<uint32_t> counts;
    for (const StageLayers& stage : SplitLayers(model, plan))
    {
        counts.push_back(stage.count - (stage.head ? model.mtpLayers : 0));
    }
    return LayerLayout::Of(counts);
}

/// A number of layers that no position of a pipeline has more of: the most that are given, or those
/// of the model over the positions; and all modules. None where they are dealt out by time. Domain:
/// a plan that SimplifyLayers() has seen.
std::optional<uint64_t>
MostLayersOf(const ModelSpec& model, const ParallelPlan& plan)
{
    if (plan.apportion->byTime)
    {
        return std::nullopt;
    }
    if (plan.layers.IsGiven())
    {
        const std::vector<uint32_t> counts = plan.layers.Counts();
        return *std::max_element(counts.begin(), counts.end()) + model.mtpLayers;
    }
    const uint64_t positions = uint64_t{plan.pp} * plan.chunks;
    return (model.layers + positions - 1) / positions + model.mtpLayers;
}

/// The same plan without modules of recomputation that change nothing for the model, and without a
/// number of recomputed layers that no position has more of. With layers that are dealt out by
/// time a number is refused, and beside layers in host memory any recomputation.
void
SimplifyRecomputation(const ModelSpec& model, ParallelPlan& plan)
{
    if (plan.offloadLayers > 0)
    {
        return;
    }
    plan.recompute = WithoutIdleModules(model, plan.recompute);
    const auto most = MostLayersOf(model, plan);
    if (most && plan.recomputeLayers >= *most)
    {
        plan.recomputeLayers = 0;
    }
}

/// The same plan without what gives every position the layers that it has anyway.
void
SimplifyLayers(const ModelSpec& model, ParallelPlan& plan)
{
    const bool ends = plan.embeddingAsLayer || plan.lossAsLayer;
    if (plan.layers.IsGiven() && (ends || plan.apportion->byTime))
    {
        return; // either is refused
    }
    if (plan.pp * plan.chunks == 1)
    {
        plan.embeddingAsLayer = plan.lossAsLayer = false; // one position has all layers
    }
    if (plan.apportion->byTime || plan.layers.IsGiven() == ends)
    {
        return;
    }
    ParallelPlan without = plan;
    without.layers = LayerLayout();
    without.embeddingAsLayer = without.lossAsLayer = false;
    const LayerLayout layers = LayoutOf(model, plan);
    if (layers.IsGiven())
    {
        const bool same = layers == LayoutOf(model, without);
        plan = without;
        plan.layers = same ? LayerLayout() : layers;
    }
}

/// Whether every exchange of tokens stays inside a server: neighbours of an expert group are as far
/// apart as one expert's ranks, or as TP and CP where experts do not go over these, and nothing but
/// those is further in where DP or PP is outermost.
bool
ExchangesInServers(const ClusterSpec& cluster, const ParallelPlan& p)
{
    const bool isInnermost = p.crossing == Crossing::Data || p.crossing == Crossing::Pipeline;
    const uint64_t apart = p.FoldsExperts() ? p.ExpertTensor() : uint64_t{p.tp} * p.cp;
    const uint64_t reach = apart * p.ep;
    return isInnermost && std::all_of(cluster.buildings.begin(),
                                      cluster.buildings.end(),
                                      [reach](const BuildingSpec& building) {
                                          return building.gpusPerNode % reach == 0;
                                      });
}

/// The same network with its way of all-to-alls said outright: what they follow, or the first where
/// there are none, or where no group leaves its building or server. Kernels, and copies where a
/// token comes once, cost their time anywhere.
void
SimplifyAllToAll(bool noneAtAll, bool inServers, bool inBuildings, NetworkPlan& network)
{
    const CollectiveAlgorithmFacts& collective = *network.collective;
    if (network.allToAll->follows && !collective.chooses && !collective.library)
    {
        network.allToAll = collective.allToAll;
    }
    // What still follows is chosen by its time, and may come once per server.
    const bool onlyHops = network.allToAll->kernel == TokenKernel::None &&
                          !network.allToAll->oncePerServer && !network.allToAll->follows &&
                          !collective.library;
    if (noneAtAll || (inServers && onlyHops) ||
        (inBuildings && network.allToAll->hop == FirstHop::Building))
    {
        network.allToAll = "direct";
    }
}

} // namespace

PlanMeaning::PlanMeaning(const Scenario& scenario)
    : m_scenario(scenario)
{
}

Plan
PlanMeaning::Of(Plan plan) const
{
    ParallelPlan& p = plan.parallel;
    const bool oneBuilding = m_scenario.cluster.buildings.size() == 1;
    const bool groupsInside = oneBuilding || p.crossing == Crossing::Pipeline;
    if (!p.FoldsExperts() && m_scenario.Job().model.IsMoe())
    {
        p.etp = 0;
    }
    // What is refused means nothing else that runs.
    const bool refused = (p.dp == 1 && p.cp == 1 && p.shardRanks > 1) ||
                         (p.shardRanks > 0 && !p.sharding->insideBuildings) ||
                         (p.sharding->GradientsOnly() && !p.ReductionOf()->everyMicrobatch);
    if (p.dp == 1 && p.cp == 1 && p.ExpertData() <= 1 && !refused)
    {
        p.sharding = "ddp";
        p.shardRanks = 0;
        p.reshard = false;
        p.prefetch = ParallelPlan().prefetch;
        p.bucket = Bytes(0);
        p.reduce.reset();
    }
    else if (p.sharding->insideBuildings && !refused &&
             (p.shardRanks == 0 ? groupsInside : p.shardRanks == uint64_t{p.cp} * p.dp))
    {
        p.sharding = "fsdp";
        p.shardRanks = 0;
    }
    // ZeRO-1 and ZeRO-2 are FSDP that keeps its weights, and its gradients whole or sharded.
    if (p.sharding->optimizer && !p.sharding->parameters &&
        p.sharding->gradients == p.ReductionOf()->everyMicrobatch)
    {
        p.reduce = p.ReductionOf();
        p.sharding = "fsdp";
    }
    SimplifyAllToAll(p.ep == 1,
                     ExchangesInServers(m_scenario.cluster, p),
                     groupsInside,
                     plan.network);
    if (groupsInside && plan.network.collective == CollectiveAlgorithm("ring"))
    {
        plan.network.collective = "hierarchical";
    }
    if (oneBuilding && OrderOf(p, p.crossing) == OrderOf(p, Crossing::Data))
    {
        p.crossing = Crossing::Data;
    }
    SimplifyLayers(m_scenario.Job().model, p);
    SimplifyRecomputation(m_scenario.Job().model, p);
    const uint64_t samples = uint64_t{p.dp} * p.microbatch;
    const uint64_t batch = m_scenario.Job().workload.globalBatch;
    PipelineShape shape{p.schedule, p.pp, 0, p.chunks, p.round};
    shape.microbatches = static_cast<uint32_t>(batch / samples);
    if (batch % samples == 0 && !CheckPipeline(shape))
    {
        const PipelineShape simplest = SimplestOf(shape);
        p.inFlight = simplest.schedule == p.schedule ? p.inFlight : 0;
        p.schedule = simplest.schedule;
        p.round = simplest.round;
    }
    return plan;
}

bool
PlanMeaning::NeverChanges(const PlanField& field) const
{
    static const std::array<const char*, 6> keys =
        {"plan.tp", "plan.cp", "plan.pp", "plan.ep", "plan.dp", "plan.microbatch"};
    static const std::array<const char*, 2> places = {"plan.crossing", "plan.apportion"};
    return std::find(keys.begin(), keys.end(), field.key) != keys.end() ||
           (m_scenario.cluster.buildings.size() > 1 &&
            std::find(places.begin(), places.end(), field.key) != places.end());
}

bool
PlanMeaning::StaysOrResets(const PlanField& field)
{
    return field.key == "plan.recompute_layers" || field.key == "plan.etp";
}

std::vector<uint64_t>
PlanMeaning::PlaceContext(const ParallelPlan& p, const std::set<uint64_t>& shardRanks) const
{
    const bool groupsInside =
        m_scenario.cluster.buildings.size() == 1 || p.crossing == Crossing::Pipeline;
    const uint64_t group = uint64_t{p.cp} * p.dp;
    return {groupsInside,
            p.ep > 1 && ExchangesInServers(m_scenario.cluster, p),
            p.dp == 1 && p.cp == 1 && p.ExpertData() <= 1,
            group == 1,
            shardRanks.count(group) > 0 ? group : 0};
}

std::vector<uint64_t>
PlanMeaning::OrderContext(const ParallelPlan& p) const
{
    const uint64_t samples = uint64_t{p.dp} * p.microbatch;
    const uint64_t batch = m_scenario.Job().workload.globalBatch;
    return {p.pp, p.apportion->byTime, batch % samples == 0 ? batch / samples : 0};
}

std::vector<uint64_t>
PlanMeaning::KernelContext(ParallelPlan p) const
{
    SimplifyLayers(m_scenario.Job().model, p);
    return {p.tp == 1, MostLayersOf(m_scenario.Job().model, p).value_or(0)};
}

PipelineShape
PlanMeaning::SimplestOf(const PipelineShape& shape) const
{
    const ShapeKey key{shape.schedule->Name(),
                       {shape.ranks, shape.microbatches, shape.chunks, shape.round}};
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_simplest.find(key);
        if (known != m_simplest.end())
        {
            return known->second;
        }
    }
    const PipelineShape found = SimplestShape(shape);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_simplest.try_emplace(key, found).first->second;
}

} // namespace scaleacross
