// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/task-graph-builder.h"

#include "core/pipeline/list-schedule.h"
#include "core/pipeline/order-walk.h"
#include "core/work/collectives/block-kinds.h"
#include "core/work/graph/body-builder.h"
#include "core/work/graph/gradient-norm.h"
#include "core/work/graph/pipeline-program.h"
#include "core/work/partition/balance.h"
#include "core/work/partition/model-check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// Whether all fields are equal but for labels and those of the given keys: what a GPU is given
/// later makes GPUs differ until it is known not to matter.
bool
AreAlikeBut(const std::vector<std::string>& keys, const GpuSpec& a, const GpuSpec& b)
{
    const auto& fields = GpuSpec::Fields();
    return std::all_of(fields.begin(), fields.end(), [&](const Field<GpuSpec>& field) {
        return field.label || field.equal(a, b) ||
               std::find(keys.begin(), keys.end(), field.key) != keys.end();
    });
}

/// Whether programs last equally long on both. Links are the engines' concern: buildings that
/// differ in them only, as in their NICs, share bodies.
bool
SameGpu(const GpuSpec& a, const GpuSpec& b)
{
    static const std::vector<std::string> links{"scale_up_bandwidth",
                                                "scale_up_latency",
                                                "scale_up_domain",
                                                "scale_up_efficiency",
                                                "nic_rate",
                                                "nics_per_gpu",
                                                "nic_efficiency"};
    return AreAlikeBut(links, a, b);
}

bool
SameBuilding(const BuildingSpec& a, const BuildingSpec& b)
{
    return a.gpus == b.gpus && a.gpusPerNode == b.gpusPerNode && AreAlikeBut({}, a.gpu, b.gpu) &&
           a.fabric == b.fabric;
}

/// Where receives are posted that are planned: for the times that the orders are made for.
ReceivePosts
PlannedPosts(const PipelineShape& shape, const PipelineOrders& orders)
{
    const bool made = shape.schedule->Facts().usesTimes && shape.times;
    return PlannedReceives(shape, orders, made ? *shape.times : UnitTimes(shape));
}

void
AppendOps(const std::vector<Op>& ops, Program& program)
{
    program.ops.insert(program.ops.end(), ops.begin(), ops.end());
}

/// Whose phases, of all collectives of a job, cut groups most finely.
CollectiveAlgorithm
FinestAlgorithm(const Scenario& scenario, const LoweringRules& rules)
{
    return scenario.Job().workload.stack.clipsGradients ? CollectiveAlgorithm("halving-doubling")
                                                        : rules.algorithm;
}

bool
RanksOfStagesDiffer(const Scenario& scenario,
                    const RankLayout& layout,
                    const BlockKinds& kinds,
                    const std::vector<uint32_t>& microbatches)
{
    if (layout.Buildings() == 1)
    {
        return false;
    }
    const bool onePerStage =
        layout.pipeline.SplitAt(layout.buildingSpan).outer.Size() * layout.buildingSpan ==
        layout.ranks;
    const bool sameLength =
        std::all_of(microbatches.begin(), microbatches.end(), [&microbatches](uint32_t count) {
            return count == microbatches.front();
        });
    return !onePerStage && (kinds.MayDiffer() || !sameLength || !BuildingsAreAlike(scenario));
}

/// Builds the classes of a graph one by one.
class GraphBuilder
{
  public:
    GraphBuilder(const Scenario& scenario, const RankLayout& layout, const LoweringRules& rules);

    TaskGraph Build();

  private:
    const PipelineOrders& OrdersOf(const PipelineShape& shape);
    std::vector<std::vector<Op>> PostsAt(const PipelinePlace& place);
    Program WriteProgram(Rank rank, uint32_t gpu);
    void AppendPipeline(uint32_t gpu, const PipelinePlace& place, Program& program);
    void AppendTied(Rank rank, Program& program) const;
    void AppendOptimizer(uint32_t gpu, Rank rank, Program& program);

    const Scenario& m_scenario;
    const RankLayout& m_layout;
    BlockKinds m_kinds;
    PipelineShape m_shape;
    std::map<uint32_t, PipelineOrders> m_orders; //!< by microbatches
    std::map<uint32_t, ReceivePosts> m_posts;    //!< likewise, where receives are planned
    TaskGraph m_graph;
    CollectiveTable m_table;
    std::vector<uint32_t> m_microbatches; //!< of a replica, by building
    std::vector<uint32_t> m_gpuOf;        //!< by building
    Bytes m_tied;                         //!< TiedGradients()
    uint32_t m_tiedMessage{0};            //!< the first of two
    std::optional<BodyBuilder> m_bodies;
    std::optional<GradientNorm> m_norm; //!< where gradients are clipped by it
};

GraphBuilder::GraphBuilder(const Scenario& scenario,
                           const RankLayout& layout,
                           const LoweringRules& rules)
    : m_scenario(scenario),
      m_layout(layout),
      m_kinds(layout, FinestAlgorithm(scenario, rules)),
      m_shape(PipelineShapeOf(scenario, layout)),
      m_microbatches(std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout)))
{
    std::vector<GpuSpec> gpus;
    const auto& buildings = scenario.cluster.buildings;
    for (const auto& building : buildings)
    {
        const auto known = std::find_if(gpus.begin(), gpus.end(), [&building](const GpuSpec& gpu) {
            return SameGpu(gpu, building.gpu);
        });
        m_gpuOf.push_back(static_cast<uint32_t>(known - gpus.begin()));
        if (known == gpus.end())
        {
            gpus.push_back(building.gpu);
        }
    }
    m_bodies.emplace(scenario,
                     layout,
                     rules,
                     std::move(gpus),
                     LayersOf(scenario, layout),
                     m_table,
                     m_graph.bodies);
}

TaskGraph
GraphBuilder::Build()
{
    const bool perBuilding = RanksOfStagesDiffer(m_scenario, m_layout, m_kinds, m_microbatches);
    m_graph.ranks = m_layout.ranks;
    m_graph.pipeline = m_layout.pipeline;
    m_graph.blockRanks = perBuilding ? m_layout.buildingSpan : m_layout.ranks;
    PipelineShape longest = m_shape;
    longest.microbatches = *std::max_element(m_microbatches.begin(), m_microbatches.end());
    m_graph.messages = PipelineMessages(longest);
    m_graph.rendezvous = m_scenario.Job().workload.stack.receives->planned;
    m_tied = TiedGradients(m_scenario.Job(), m_layout);
    m_tiedMessage = m_graph.messages;
    m_graph.messages += m_tied > Bytes(0) ? 2 : 0;
    m_graph.handles = m_bodies->Handles();
    if (m_scenario.Job().workload.stack.clipsGradients)
    {
        m_norm.emplace(m_layout, m_graph.messages, m_graph.handles, m_graph.rendezvous, m_table);
        m_graph.messages += GradientNorm::Messages(m_layout.pipeline.Size());
        m_graph.handles++;
    }
    const uint32_t blocks = m_graph.ranks / m_graph.blockRanks;
    m_graph.classOf.assign(size_t{m_shape.ranks} * blocks, TaskGraph::kNoClass);
    const uint32_t stagesOfBlock = m_layout.pipeline.SplitAt(m_graph.blockRanks).inner.Size();
    const std::vector<uint32_t> kinds = perBuilding ? m_kinds.Find() : std::vector<uint32_t>{0};
    for (uint32_t stage = 0; stage < m_shape.ranks; stage++)
    {
        std::map<uint32_t, uint32_t> classes; // by kind of block
        // Peers are counted from a rank on, so that of a stage GPU and microbatches alone decide
        // what is done.
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> written;
        for (uint32_t block = 0; block < blocks; block++)
        {
            const Rank rank = m_layout.pipeline.Member(block * m_graph.blockRanks, stage);
            if (rank / m_graph.blockRanks != block)
            {
                continue; // the stage is not in this block
            }
            const auto [known, isNew] =
                classes.emplace(kinds[block], static_cast<uint32_t>(m_graph.classes.size()));
            if (isNew)
            {
                const uint32_t building = m_layout.BuildingOf(rank);
                RankClass added;
                added.stage = stage;
                added.representative = rank;
                const GpuSpec& gpu = m_scenario.cluster.buildings[building].gpu;
                added.collectiveShare = {gpu.CollectiveShare(),
                                         gpu.gemm.processors,
                                         gpu.MostForChannels()};
                const auto [alike, isFirst] =
                    written.emplace(std::pair(m_gpuOf[building], m_microbatches[building]),
                                    known->second);
                added.program = isFirst ? WriteProgram(rank, m_gpuOf[building])
                                        : m_graph.classes[alike->second].program;
                m_graph.classes.push_back(std::move(added));
            }
            m_graph.classOf[size_t{stage} * blocks + block] = known->second;
            m_graph.classes[known->second].ranks += m_graph.blockRanks / stagesOfBlock;
        }
    }
    m_graph.collectives = m_table.Take();
    return std::move(m_graph);
}

const PipelineOrders&
GraphBuilder::OrdersOf(const PipelineShape& shape)
{
    PipelineOrders& orders = m_orders[shape.microbatches];
    if (orders.empty())
    {
        orders = shape.schedule->Orders(shape);
    }
    return orders;
}

/// What a place posts before each of its actions.
std::vector<std::vector<Op>>
GraphBuilder::PostsAt(const PipelinePlace& place)
{
    const PipelineOrders& orders = OrdersOf(place.shape);
    const std::vector<PipelineAction>& actions = orders[place.stage];
    if (!m_graph.rendezvous)
    {
        return std::vector<std::vector<Op>>(actions.size());
    }
    ReceivePosts& posts = m_posts[place.shape.microbatches];
    if (posts.empty())
    {
        posts = PlannedPosts(place.shape, orders);
    }
    return PostsOf(place, actions, posts);
}

Program
GraphBuilder::WriteProgram(Rank rank, uint32_t gpu)
{
    const JobSpec& job = m_scenario.Job();
    const uint32_t stage = m_layout.StageOf(rank);
    Program program;
    if (m_bodies->GathersOnce())
    {
        for (uint32_t chunk = 0; chunk < m_shape.chunks; chunk++)
        {
            for (const auto& unit :
                 m_bodies->UnitsOfChunk(VirtualStage(m_shape, stage, chunk), chunk))
            {
                m_bodies->PostGather(unit, program);
            }
        }
    }
    PipelinePlace place;
    place.shape = m_shape;
    place.shape.microbatches = m_microbatches[m_layout.BuildingOf(rank)];
    place.stage = stage;
    place.rank = rank;
    place.pipeline = m_layout.pipeline;
    place.bytes = PipelineMessageBytes(job);
    AppendPipeline(gpu, place, program);
    AppendOptimizer(gpu, rank, program);
    return program;
}

void
GraphBuilder::AppendPipeline(uint32_t gpu, const PipelinePlace& place, Program& program)
{
    const std::vector<PipelineAction>& actions = OrdersOf(place.shape)[place.stage];
    // What is overlapped is two passes in turn here, as its parameters are used.
    std::vector<PipelineAction> order;
    for (const PipelineAction& action : actions)
    {
        const bool overlapped = action.action == Action::ForwardBackward;
        order.push_back(action);
        if (overlapped)
        {
            order.back().action = Action::Forward;
            order.push_back({Action::Backward, action.backChunk, action.backMicrobatch, 0, 0});
        }
    }
    const auto positionOf = [&](size_t i) {
        return VirtualStage(m_shape, place.stage, order[i].chunk);
    };
    std::vector<UnitUse> uses;   // of the whole iteration, in order
    std::vector<size_t> usesEnd; // by action: uses up to its end
    std::vector<size_t> firstOf(m_shape.chunks, order.size());
    std::vector<size_t> lastOf(m_shape.chunks, order.size());
    for (size_t i = 0; i < order.size(); i++)
    {
        if (m_bodies->GathersPerUse())
        {
            const auto own = m_bodies->UsesOf(positionOf(i), order[i]);
            uses.insert(uses.end(), own.begin(), own.end());
        }
        usesEnd.push_back(uses.size());
        if (order[i].action == Action::Forward)
        {
            firstOf[order[i].chunk] = std::min(firstOf[order[i].chunk], i);
        }
        else if (order[i].action != Action::InputGradient)
        {
            lastOf[order[i].chunk] = i;
        }
    }
    const size_t prefetch = m_layout.plan.prefetch;
    for (size_t i = 0; i < std::min(prefetch, uses.size()); i++)
    {
        if (std::none_of(uses.begin(),
                         uses.begin() + static_cast<std::ptrdiff_t>(i),
                         [&](const UnitUse& use) { return SameUnit(use, uses[i]); }))
        {
            m_bodies->PostGather(uses[i], program);
        }
    }
    const auto bodyOf = [&](size_t i) {
        BodyVariant variant;
        variant.first = firstOf[order[i].chunk] == i;
        variant.last = lastOf[order[i].chunk] == i;
        const size_t begin = i == 0 ? 0 : usesEnd[i - 1];
        variant.stillThere = prefetch == 0 && begin > 0 && begin < usesEnd[i] &&
                             SameUnit(uses[begin - 1], uses[begin]);
        const size_t end = std::min(uses.size(), usesEnd[i] + prefetch);
        variant.next.assign(uses.begin() + static_cast<std::ptrdiff_t>(usesEnd[i]),
                            uses.begin() + static_cast<std::ptrdiff_t>(end));
        return m_bodies->Body(gpu, positionOf(i), order[i], variant);
    };
    const std::vector<std::vector<Op>> posts = PostsAt(place);
    size_t i = 0;
    for (size_t a = 0; a < actions.size(); a++)
    {
        const PipelineAction& action = actions[a];
        AppendOps(posts[a], program);
        uint32_t body = bodyOf(i++);
        if (action.action == Action::ForwardBackward)
        {
            body = m_bodies->Overlapped(body, bodyOf(i++));
        }
        AppendAction(place, action, body, program);
    }
}

/// First and last stage send each other their gradients of a tied embedding: an all-reduce of two.
void
GraphBuilder::AppendTied(Rank rank, Program& program) const
{
    const uint32_t stage = m_layout.StageOf(rank);
    const uint32_t first = RankOf(m_shape, 0);
    const uint32_t last = RankOf(m_shape, Positions(m_shape) - 1);
    if (m_tied == Bytes(0) || (stage != first && stage != last))
    {
        return;
    }
    const uint32_t own = stage == first ? 0 : 1;
    const uint32_t other = stage == first ? last : first;
    Op op;
    op.peer =
        static_cast<int32_t>(m_layout.pipeline.Member(rank, other)) - static_cast<int32_t>(rank);
    op.bytes = m_tied;
    const auto append = [&](OpKind kind, uint32_t message) {
        op.kind = kind;
        op.index = message;
        program.ops.push_back(op);
    };
    const uint32_t sent = m_tiedMessage + own;
    const uint32_t received = m_tiedMessage + 1 - own;
    if (m_graph.rendezvous)
    {
        append(OpKind::PostReceive, received);
    }
    append(OpKind::Send, sent);
    append(OpKind::Receive, received);
}

void
GraphBuilder::AppendOptimizer(uint32_t gpu, Rank rank, Program& program)
{
    const uint32_t stage = m_layout.StageOf(rank);
    const ShardSizes shards = ShardSizesOf(m_layout);
    uint64_t parameters = 0;
    // The last chunk's gradients are complete first.
    for (uint32_t chunk = m_shape.chunks; chunk-- > 0;)
    {
        auto units = m_bodies->UnitsOfChunk(VirtualStage(m_shape, stage, chunk), chunk);
        std::reverse(units.begin(), units.end());
        for (const auto& unit : units)
        {
            m_bodies->WaitReduction(unit, program);
            parameters += ShardOf(m_bodies->UnitOf(unit), shards);
        }
    }
    AppendTied(rank, program);
    if (m_norm)
    {
        m_norm->Append(rank, program);
    }
    Op run;
    run.kind = OpKind::Run;
    run.action = Action::Optimizer;
    run.index = m_bodies->OptimizerBody(gpu, parameters);
    program.ops.push_back(run);
}

} // namespace

bool
BuildingsAreAlike(const Scenario& scenario)
{
    const auto& all = scenario.cluster.buildings;
    return scenario.events.empty() &&
           std::all_of(all.begin(), all.end(), [&all](const BuildingSpec& building) {
               return SameBuilding(building, all.front());
           });
}

bool
RanksOfStagesDiffer(const Scenario& scenario, const RankLayout& layout, const LoweringRules& rules)
{
    return RanksOfStagesDiffer(scenario,
                               layout,
                               BlockKinds(layout, FinestAlgorithm(scenario, rules)),
                               std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout)));
}

std::optional<Infeasible>
CheckJob(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    const ParallelPlan& plan = job.plan;
    if (plan.sharding->GradientsOnly() && !plan.ReductionOf()->everyMicrobatch)
    {
        return Infeasible{"sharding",
                          "zero2 keeps only a shard of its gradients, so they cannot add up whole: "
                          "reduce them for every microbatch, or take zero1"};
    }
    if (const auto conflict = plan.FindConflict())
    {
        return Infeasible{"plan",
                          conflict->Where() + ": " + conflict->Problem() + ": " +
                              conflict->Remedy()};
    }
    if (auto bad = CheckLayers(job.model, plan))
    {
        return bad;
    }
    if (auto bad = CheckModel(job))
    {
        return bad;
    }
    const auto microbatches = MicrobatchesOf(scenario, layout);
    const auto* bad = std::get_if<Infeasible>(&microbatches);
    return bad == nullptr ? std::nullopt : std::optional<Infeasible>(*bad);
}

std::variant<TaskGraph, Infeasible>
BuildTaskGraph(const Scenario& scenario, const RankLayout& layout, CollectiveTimer seconds)
{
    if (auto bad = CheckJob(scenario, layout))
    {
        return *bad;
    }
    return GraphBuilder(scenario, layout, LoweringRules(scenario, std::move(seconds))).Build();
}

TaskGraph
BuildUniformPipeline(const UniformPipeline& pipeline)
{
    const PipelineShape& shape = pipeline.shape;
    TaskGraph graph;
    graph.ranks = graph.blockRanks = shape.ranks;
    graph.pipeline = RankGroup({{1, shape.ranks}});
    graph.messages = PipelineMessages(shape);
    const Duration backward = pipeline.inputGradient + pipeline.weightGradient;
    // One body per action, in the order of the enumeration.
    for (const Duration time :
         {pipeline.forward,
          backward,
          pipeline.inputGradient,
          pipeline.weightGradient,
          Duration(),
          pipeline.forwardBackward ? *pipeline.forwardBackward : pipeline.forward + backward})
    {
        graph.bodies.emplace_back();
        AppendCompute(time, graph.bodies.back());
    }
    graph.rendezvous = pipeline.receives->planned;
    const PipelineOrders orders = shape.schedule->Orders(shape);
    const ReceivePosts planned = graph.rendezvous ? PlannedPosts(shape, orders) : ReceivePosts();
    for (uint32_t stage = 0; stage < shape.ranks; stage++)
    {
        RankClass added;
        added.stage = added.representative = stage;
        added.ranks = 1;
        const PipelinePlace place{shape, stage, stage, graph.pipeline, pipeline.bytes};
        std::vector<std::vector<Op>> posts(orders[stage].size());
        if (graph.rendezvous)
        {
            posts = PostsOf(place, orders[stage], planned);
        }
        for (size_t i = 0; i < orders[stage].size(); i++)
        {
            const PipelineAction& action = orders[stage][i];
            AppendOps(posts[i], added.program);
            AppendAction(place, action, static_cast<uint32_t>(action.action), added.program);
        }
        graph.classOf.push_back(stage);
        graph.classes.push_back(std::move(added));
    }
    return graph;
}

} // namespace scaleacross
