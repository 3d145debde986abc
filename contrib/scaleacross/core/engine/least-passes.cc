// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-passes.h"

#include "core/engine/layout-key.h"
#include "core/engine/least-costs.h"
#include "core/engine/lone-class.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/graph/body-builder.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

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

/// The bodies of a layer of each kind.
class LayerBodies
{
  public:
    LayerBodies(const Scenario& scenario,
                const RankLayout& layout,
                Rank representative,
                const std::shared_ptr<const NetworkFacts>& facts,
                BoundOf engine)
        : m_ranks(scenario,
                  layout,
                  representative,
                  facts,
                  OfAnyStage(engine, scenario, layout, *facts))
    {
        const std::vector<StageLayers> split = OneOfEachKind(scenario.Job().model);
        BodyBuilder bodies(scenario,
                           layout,
                           m_ranks.Rules(),
                           {scenario.cluster.buildings[layout.BuildingOf(representative)].gpu},
                           split,
                           m_ranks.Table(),
                           m_ranks.Bodies());
        for (const Action action :
             {Action::Forward, Action::Backward, Action::InputGradient, Action::WeightGradient})
        {
            for (uint32_t kind = 0; kind < split.size(); kind++)
            {
                if (split[kind].count > 0)
                {
                    m_body[{action, kind}] = bodies.Body(0, kind, {action, 0, 0, 0, 0}, {});
                }
            }
        }
        m_ranks.Seal();
    }

    Duration Of(Action action, uint32_t kind)
    {
        const auto body = m_body.find({action, kind});
        return Down(body == m_body.end() ? 0 : m_ranks.OfBody(body->second));
    }

    /// Of a microbatch forward and backward.
    std::vector<double> SpansOf(uint32_t kind) const
    {
        const auto forward = m_body.find({Action::Forward, kind});
        if (forward == m_body.end())
        {
            return {};
        }
        std::vector<double> seconds = m_ranks.SpansOf(forward->second);
        const std::vector<double> back = m_ranks.SpansOf(m_body.at({Action::Backward, kind}));
        for (size_t span = 0; span < seconds.size(); span++)
        {
            seconds[span] += back[span];
        }
        return seconds;
    }

  private:
    LoneClass m_ranks;
    std::map<std::pair<Action, uint32_t>, uint32_t> m_body;
};

/// More passes are not replayed: bounds the time of a look.
constexpr uint64_t g_mostPasses = uint64_t{1} << 18;

/// Whether a pipeline has too many passes.
bool
IsLong(const JobSpec& job, uint32_t microbatches)
{
    return uint64_t{3} * job.plan.pp * job.plan.chunks * microbatches > g_mostPasses;
}

/// Whether each group that gathers or reduces has members in all blocks that no building boundary
/// cuts, or in one.
bool
DataGroupsReachAllOrOne(const RankLayout& layout)
{
    const uint32_t blocks = layout.ranks / layout.buildingSpan;
    const auto reaches = [&](const RankGroup& group) {
        if (!group.CanSplitAt(layout.buildingSpan))
        {
            return false;
        }
        const uint32_t outer = group.SplitAt(layout.buildingSpan).outer.Size();
        return outer == 1 || outer == blocks;
    };
    const DataGroups dense = DataGroupsOf(layout.dense, layout);
    const DataGroups experts = DataGroupsOf(layout.experts, layout);
    return reaches(dense.shard) && reaches(dense.replicas) && reaches(experts.shard) &&
           reaches(experts.replicas);
}

/// Whether two stages have as many ranks in each building, so that their groups lie alike.
bool
LieAlike(const RankLayout& layout, uint32_t a, uint32_t b)
{
    for (uint32_t building = 0; building < layout.Buildings(); building++)
    {
        if (layout.StageRanksIn(building, a) != layout.StageRanksIn(building, b))
        {
            return false;
        }
    }
    return true;
}

/// The first stage that lies as this one.
uint32_t
FirstAlike(const RankLayout& layout, uint32_t stage)
{
    uint32_t first = 0;
    while (!LieAlike(layout, first, stage))
    {
        first++;
    }
    return first;
}

/// The rank that stands for a stage in the replica that has `first` among its ranks: that of the
/// first stage that lies as this one.
Rank
RepresentativeOf(const RankLayout& layout, Rank first, uint32_t stage)
{
    return layout.pipeline.Member(first, FirstAlike(layout, stage));
}

/// Whether all stages lie alike.
bool
StagesLieAlike(const RankLayout& layout)
{
    for (uint32_t stage = 1; stage < layout.pipeline.Size(); stage++)
    {
        if (!LieAlike(layout, 0, stage))
        {
            return false;
        }
    }
    return true;
}

} // namespace

LeastPasses::LeastPasses(std::vector<NetworkPlan> networks, BoundOf engine)
    : m_networks(std::move(networks)),
      m_engine(engine),
      m_units(m_networks, engine),
      m_parameters(m_units),
      m_pairs(m_networks, engine),
      m_facts(std::make_shared<NetworkFactsCache>())
{
}

LeastPasses::Layers
LeastPasses::Find(const Scenario& given, const RankLayout& layout, Rank representative) const
{
    const GpuSpec& gpu = given.cluster.buildings[layout.BuildingOf(representative)].gpu;
    Scenario scenario = given;
    JobSpec& job = scenario.Job();
    job.plan = WithoutShards(job.plan);
    const ParallelPlan plan = job.plan;
    Layers layers;
    for (const bool behind : {false, true})
    {
        std::vector<Layer>& kinds = behind ? layers.behind : layers.kinds;
        if (behind && plan.recomputeLayers == 0)
        {
            continue;
        }
        job.plan = plan.OfLayer(behind ? plan.recomputeLayers : 0);
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
                for (size_t span = 0; span < kinds[kind].spans.size(); span++)
                {
                    kinds[kind].spans[span] =
                        std::min(kinds[kind].spans[span], found[kind].spans[span]);
                }
            }
        };
        for (const NetworkPlan& network : m_networks)
        {
            scenario.network = network;
            const RankLayout own = std::get<RankLayout>(LayOut(job.plan, scenario.cluster));
            LayerBodies bodies(scenario, own, representative, m_facts->Of(scenario), m_engine);
            std::vector<Layer> found(ModelSpec::kLayerKinds);
            for (uint32_t kind = 0; kind < found.size(); kind++)
            {
                const Duration forward = bodies.Of(Action::Forward, kind);
                const Duration backward = bodies.Of(Action::Backward, kind);
                const Duration weights = bodies.Of(Action::WeightGradient, kind);
                // Schedules that split may have some in one piece, in which weight gradients stand
                // beside collectives of the input's.
                const Duration input =
                    std::max(Duration(),
                             std::min(bodies.Of(Action::InputGradient, kind), backward - weights));
                found[kind] = {{forward, backward, Duration()},
                               {forward, input, weights},
                               bodies.SpansOf(kind)};
            }
            take(found);
        }
    }
    layers.embedding = PassOf(CostOfEmbedding(job.model, job.workload, plan, gpu));
    layers.head = PassOf(CostOfHead(job.model, job.workload, plan, gpu));
    return layers;
}

/// What layers of a kind take depends on.
LeastPasses::Key
LeastPasses::KeyOf(const ParallelPlan& plan, Rank representative)
{
    const RecomputedParts& again = *plan.recompute;
    Key key = LayoutKey(plan);
    key.insert(key.end(),
               {representative,
                plan.recomputeLayers > 0,
                plan.offloadLayers,
                plan.asyncTensor,
                again.norms + 2U * again.activations + 4U * again.upProjections +
                    8U * again.denseMlp + 16U * again.experts + 32U * again.sharedExperts +
                    64U * again.linears + 128U * again.layers + 256U * again.keepsProjections});
    return key;
}

const LeastPasses::Layers&
LeastPasses::Known(const Scenario& scenario, const RankLayout& layout, Rank representative) const
{
    Key key = KeyOf(scenario.Job().plan, representative);
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto known = m_layers.find(key);
        if (known != m_layers.end())
        {
            return known->second;
        }
    }
    Layers found = Find(scenario, layout, representative);
    const std::unique_lock<std::shared_mutex> lock(m_mutex);
    return m_layers.try_emplace(std::move(key), std::move(found)).first->second;
}

std::vector<PassTimes>
LeastPasses::PiecesOf(const JobSpec& job, const StageLayers& stage, const Layers& layers)
{
    const bool splits = job.plan.schedule->Facts().splitsBackward;
    const uint32_t again = job.plan.recomputeLayers;
    std::vector<PassTimes> pieces;
    if (stage.embedding)
    {
        pieces.push_back(layers.embedding);
    }
    for (uint32_t i = 0; i < stage.count; i++)
    {
        const uint32_t kind = job.model.KindOf(stage.first + i);
        const Layer& layer = again > 0 && i >= again ? layers.behind[kind] : layers.kinds[kind];
        pieces.push_back(splits ? layer.split : layer.whole);
    }
    if (stage.head)
    {
        pieces.emplace_back();
        for (uint32_t i = 0; i <= job.model.mtpLayers; i++)
        {
            pieces.back() += layers.head;
        }
    }
    return pieces;
}

std::vector<PassTimes>
LeastPasses::Of(const Scenario& scenario, const RankLayout& layout) const
{
    const JobSpec& job = scenario.Job();
    if (m_networks.empty())
    {
        return PassTimesOf(scenario, layout);
    }
    const PipelineShape shape = PipelineShapeOf(job);
    const auto split = LayersOf(scenario, layout);
    std::vector<const Layers*> known(shape.ranks, nullptr);
    std::vector<PassTimes> passes(split.size());
    for (uint32_t position = 0; position < split.size(); position++)
    {
        const uint32_t stage = FirstAlike(layout, RankOf(shape, position));
        if (known[stage] == nullptr)
        {
            known[stage] = &Known(scenario, layout, layout.FirstOf(stage));
        }
        for (const PassTimes& piece : PiecesOf(job, split[position], *known[stage]))
        {
            passes[position] += piece;
        }
    }
    return passes;
}

double
LeastPasses::SpanSeconds(const Scenario& scenario,
                         const RankLayout& layout,
                         uint32_t microbatches,
                         bool parameters) const
{
    if (m_networks.empty() || layout.Buildings() == 1 || !StagesLieAlike(layout))
    {
        return 0;
    }
    const JobSpec& job = scenario.Job();
    const Layers& layers = Known(scenario, layout, layout.FirstOf(0));
    std::vector<double> seconds;
    for (uint32_t layer = 0; layer < job.model.LayersInTraining(); layer++)
    {
        // Those behind a stage's first ones send no more than these.
        const uint32_t kind = job.model.KindOf(layer);
        const bool someAgain = job.plan.recomputeLayers > 0;
        const Layer& of = someAgain ? layers.behind[kind] : layers.kinds[kind];
        seconds.resize(of.spans.size(), 0.0);
        for (size_t span = 0; span < of.spans.size(); span++)
        {
            seconds[span] += microbatches * of.spans[span];
        }
    }
    if (parameters)
    {
        const auto split = LayersOf(scenario, layout);
        const auto spans = m_parameters.Of(scenario, layout, split, microbatches);
        seconds.resize(spans.size(), 0.0);
        for (size_t span = 0; span < spans.size(); span++)
        {
            seconds[span] += spans[span].seconds;
        }
    }
    return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end());
}

std::vector<Duration>
LeastPasses::HopsOf(const Scenario& scenario, const RankLayout& layout, Rank first) const
{
    const PipelineShape shape = PipelineShapeOf(scenario.Job());
    const Bytes bytes = PipelineMessageBytes(scenario.Job());
    const auto facts = m_facts->Of(scenario);
    std::vector<Duration> hops;
    for (uint32_t position = 0; position + 1 < Positions(shape); position++)
    {
        const Rank rank = layout.pipeline.Member(first, RankOf(shape, position));
        const Rank next = layout.pipeline.Member(first, RankOf(shape, position + 1));
        const auto way = [&](Rank from, Rank to) {
            const GpuSpec& gpu = scenario.cluster.buildings[layout.BuildingOf(from)].gpu;
            return LeastMessageTime(facts->paths.Between(from, to), gpu, bytes);
        };
        // One number for both directions.
        hops.push_back(rank == next ? Duration()
                                    : Down(std::min(way(rank, next), way(next, rank))));
    }
    return hops;
}

/// As ReplayTimes has them; of those that the order has.
std::vector<Duration>
LeastPasses::PairsOf(const Scenario& scenario,
                     const RankLayout& layout,
                     const PipelineShape& shape,
                     Rank first) const
{
    if (!shape.schedule->Facts().overlapsPasses)
    {
        return {};
    }
    const auto split = LayersOf(scenario, layout);
    const auto orders = m_replays.OrdersOf(shape); // others may make room of what is kept
    std::vector<Duration> pairs(size_t{shape.ranks} * shape.chunks * shape.chunks);
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        const Rank representative = RepresentativeOf(layout, first, r);
        for (const PipelineAction& action : (*orders)[r])
        {
            if (action.action != Action::ForwardBackward)
            {
                continue;
            }
            Duration& pair =
                pairs[(size_t{r} * shape.chunks + action.chunk) * shape.chunks + action.backChunk];
            if (pair == Duration())
            {
                pair = m_pairs.Of(scenario,
                                  representative,
                                  KeyOf(scenario.Job().plan, representative),
                                  split[VirtualStage(shape, r, action.chunk)],
                                  split[VirtualStage(shape, r, action.backChunk)]);
            }
        }
    }
    return pairs;
}

ReplayedPasses
LeastPasses::Replayed(const Scenario& scenario,
                      const RankLayout& layout,
                      uint32_t microbatches,
                      const std::vector<PassTimes>& passes) const
{
    if (m_networks.empty() || IsLong(scenario.Job(), microbatches))
    {
        return {};
    }
    PipelineShape shape = PipelineShapeOf(scenario, layout);
    shape.microbatches = microbatches;
    return m_replays.Of(shape,
                        {passes, HopsOf(scenario, layout, 0), PairsOf(scenario, layout, shape, 0)});
}

/// What of an iteration has to be between the last gather and the first reduction, of a replica
/// that has `first` among its ranks.
double
LeastPasses::RestOf(const Scenario& scenario,
                    const RankLayout& layout,
                    const PipelineShape& shape,
                    Rank first,
                    bool gathers) const
{
    const JobSpec& job = scenario.Job();
    const Layers& layers = Known(scenario, layout, RepresentativeOf(layout, first, 0));
    const auto split = LayersOf(scenario, layout);
    ReplayTimes times;
    PassWindow window;
    window.position = gathers ? Positions(shape) - 1 : VirtualStage(shape, shape.ranks - 1, 0);
    for (uint32_t position = 0; position < split.size(); position++)
    {
        const std::vector<PassTimes> pieces = PiecesOf(job, split[position], layers);
        PassTimes passes;
        for (const PassTimes& piece : pieces)
        {
            passes += piece;
        }
        times.passes.push_back(passes);
        if (pieces.empty()) // it reduces nothing
        {
            window.weights.push_back(Duration::Max());
            window.backwards.push_back(Duration::Max());
            continue;
        }
        const WindowEnds ends = WindowEndsOf(pieces, UnitsOf(job, split[position]));
        window.weights.push_back(ends.weights);
        window.backwards.push_back(ends.backwards);
        if (position == window.position)
        {
            window.left = gathers ? ends.left : passes.forward;
        }
    }
    times.hops = HopsOf(scenario, layout, first);
    times.pairs = PairsOf(scenario, layout, shape, first);
    return m_replays.Of(shape, times, window);
}

double
LeastPasses::WindowSeconds(const Scenario& scenario,
                           const RankLayout& layout,
                           const std::vector<uint32_t>& microbatches) const
{
    const ParallelPlan& plan = scenario.Job().plan;
    if (m_networks.empty() || m_engine != BoundOf::Analytical || layout.Buildings() == 1 ||
        plan.Reshards() || plan.ReductionOf()->everyMicrobatch || layout.Crosses(layout.pipeline) ||
        !StagesLieAlike(layout) || !DataGroupsReachAllOrOne(layout))
    {
        return 0;
    }
    const auto split = LayersOf(scenario, layout);
    double most = 0;
    for (const bool gathers : {false, true})
    {
        double seconds = 0;
        for (const ParameterSpan& span : m_parameters.Of(scenario, layout, split, 1))
        {
            seconds = std::max(seconds, span.gathers == gathers ? span.seconds : 0.0);
        }
        double rest = seconds > 0 ? std::numeric_limits<double>::infinity() : 0;
        for (uint32_t b = 0; seconds > 0 && b < layout.Buildings(); b++)
        {
            PipelineShape shape = PipelineShapeOf(scenario, layout);
            shape.microbatches = microbatches[b];
            const bool isLong = IsLong(scenario.Job(), microbatches[b]);
            rest = std::min(
                rest,
                isLong ? 0 : RestOf(scenario, layout, shape, layout.buildingBegin[b], gathers));
        }
        most = std::max(most, rest > 0 ? seconds + rest : 0);
    }
    return most;
}

/// What the first position's rank gathers in an iteration, one after the other: units in the order
/// in which passes use them, but for those that one of the last uses, as many as are gathered
/// ahead, has left there (BodyBuilder).
double
LeastPasses::GathersOf(const Scenario& scenario,
                       const RankLayout& layout,
                       const PipelineShape& shape) const
{
    const JobSpec& job = scenario.Job();
    const uint32_t rank = RankOf(shape, 0);
    const auto split = LayersOf(scenario, layout);
    const size_t there = std::max(1U, job.plan.prefetch);
    std::vector<std::vector<double>> gathers(shape.chunks);
    std::vector<bool> beginsUnused(shape.chunks); // backward
    for (uint32_t chunk = 0; chunk < shape.chunks; chunk++)
    {
        const StageLayers& stage = split[VirtualStage(shape, rank, chunk)];
        const std::vector<ParameterUnit> units = UnitsOf(job, stage);
        for (const ParameterUnit& unit : units)
        {
            const UnitTimes times = m_units.Of(scenario, layout, layout.FirstOf(rank), unit);
            gathers[chunk].push_back(times.gatherDense + times.gatherExpert);
        }
        beginsUnused[chunk] = stage.embedding && units.front().pieces == 1;
    }
    std::deque<std::pair<uint32_t, size_t>> last;
    double sum = 0;
    const auto use = [&](uint32_t chunk, size_t unit) {
        const std::pair<uint32_t, size_t> used{chunk, unit};
        sum += std::find(last.begin(), last.end(), used) == last.end() ? gathers[chunk][unit] : 0;
        last.push_back(used);
        if (last.size() > there)
        {
            last.pop_front();
        }
    };
    const auto orders = m_replays.OrdersOf(shape); // others may make room of what is kept
    for (const PipelineAction& action : (*orders)[rank])
    {
        if (const auto forward = ForwardOf(action))
        {
            for (size_t unit = 0; unit < gathers[forward->chunk].size(); unit++)
            {
                use(forward->chunk, unit);
            }
        }
        if (const auto input = InputGradientOf(action))
        {
            const size_t least = beginsUnused[input->chunk] ? 1 : 0;
            for (size_t unit = gathers[input->chunk].size(); unit-- > least;)
            {
                use(input->chunk, unit);
            }
        }
    }
    return sum;
}

/// What the first position's rank reduces in an iteration, one after the other: every unit of its
/// chunks after each microbatch, over the replicas of a shard only after the last (BodyBuilder).
double
LeastPasses::ReductionsOf(const Scenario& scenario,
                          const RankLayout& layout,
                          uint32_t microbatches) const
{
    const JobSpec& job = scenario.Job();
    const PipelineShape shape = PipelineShapeOf(job);
    const uint32_t rank = RankOf(shape, 0);
    const auto split = LayersOf(scenario, layout);
    double sum = 0;
    for (uint32_t chunk = 0; chunk < shape.chunks; chunk++)
    {
        for (const ParameterUnit& unit : UnitsOf(job, split[VirtualStage(shape, rank, chunk)]))
        {
            const UnitTimes& times = m_units.Of(scenario, layout, layout.FirstOf(rank), unit);
            const double last = times.reduceDense + times.reduceExpert;
            const bool isWhole = !job.plan.sharding->optimizer; // without shards it always is
            const double other = isWhole ? last : times.scatterDense + times.scatterExpert;
            sum += (microbatches - 1) * other + last;
        }
    }
    return sum;
}

/// Whether the last backward of the first position overlaps a forward.
bool
LeastPasses::EndsInPair(const PipelineShape& shape) const
{
    const auto orders = m_replays.OrdersOf(shape); // others may make room of what is kept
    const uint32_t rank = RankOf(shape, 0);
    const std::vector<PipelineAction>& order = (*orders)[rank];
    const auto last = std::find_if(order.rbegin(), order.rend(), [&](const PipelineAction& action) {
        const auto weight = WeightGradientOf(action);
        return weight && VirtualStage(shape, rank, weight->chunk) == 0;
    });
    return last->action == Action::ForwardBackward;
}

PassEnds
LeastPasses::EndsOf(const Scenario& scenario, const RankLayout& layout, uint32_t microbatches) const
{
    const JobSpec& job = scenario.Job();
    if (m_networks.empty())
    {
        return {};
    }
    std::optional<PipelineShape> shape; // if it is asked for
    if (job.plan.schedule->Facts().overlapsPasses || job.plan.Reshards())
    {
        shape = PipelineShapeOf(scenario, layout);
        shape->microbatches = microbatches;
    }
    const bool isLong = IsLong(job, microbatches);
    PassEnds streams;
    if (job.plan.Reshards() && !isLong)
    {
        streams.gathers = GathersOf(scenario, layout, *shape);
    }
    if (job.plan.ReductionOf()->everyMicrobatch)
    {
        streams.reductions = ReductionsOf(scenario, layout, microbatches);
    }
    if (job.plan.schedule->Facts().overlapsPasses && (isLong || EndsInPair(*shape)))
    {
        return streams;
    }
    const StageLayers stage = LayersOf(scenario, layout).front();
    const uint32_t rank = RankOf(PipelineShapeOf(job), 0);
    const Rank first = layout.FirstOf(rank);
    const ShardSizes shards = ShardSizesOf(layout);
    const std::vector<ParameterUnit> units = UnitsOf(job, stage);
    std::vector<UnitTimes> times;
    uint64_t parameters = 0;
    for (const ParameterUnit& unit : units)
    {
        times.push_back(m_units.Of(scenario, layout, first, unit));
        parameters += ShardOf(unit, shards);
    }
    PassEnds ends = scaleacross::EndsOf(
        PiecesOf(job, stage, Known(scenario, layout, RepresentativeOf(layout, 0, rank))),
        units,
        times);
    const GpuSpec& gpu = scenario.cluster.buildings[layout.BuildingOf(first)].gpu;
    ends.last += CostOfOptimizer(parameters, job.workload, gpu).S();
    ends.gathers = streams.gathers;
    ends.reductions = streams.reductions;
    return ends;
}

} // namespace scaleacross
