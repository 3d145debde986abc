// SPDX-License-Identifier: GPL-2.0-only

#include "../built-graph.h"
#include "../schedule-scenario.h"
#include "core/work/collectives/parameter-units.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/graph/task-graph-builder.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

std::string
ReasonOf(const Scenario& scenario)
{
    const auto bad = CheckJob(scenario, LayoutOf(scenario));
    return bad ? bad->reason : "feasible";
}

/// The same GPU but for one field, as some preset has it or one of a few values.
GpuSpec
Varied(const GpuSpec& gpu, const Field<GpuSpec>& field)
{
    std::vector<std::string> values;
    for (const auto& preset : Presets<GpuSpec>())
    {
        if (!field.equal(preset.value, GpuSpec())) // it has one, as FP8 or a link to its host
        {
            values.push_back(field.get(preset.value));
        }
    }
    values.insert(values.end(), {"1GiB", "0.5", "3us", "7"});
    GpuSpec varied = gpu;
    for (const auto& value : values)
    {
        try
        {
            field.set(varied, value);
        }
        catch (const ConfigError&) // of another kind
        {
        }
        if (!field.equal(varied, gpu))
        {
            break;
        }
    }
    return varied;
}

} // namespace

// HSDP reduces with two calls of the library, which cut each its own buffer: of S bytes over n
// shards the second has S / n, and so an n-th of the chunks of the first. They follow each other,
// so that the second is posted right behind the first and both are awaited at once.
TEST(TaskGraph, ReductionsOfReplicasHaveTheirOwnChunks)
{
    ParallelPlan plan = PlanOf(1, 1, 1, 2, 16);
    plan.crossing = Crossing::Data;
    plan.sharding = "hsdp";
    auto scenario = TwoBuildings(SmallModel(), plan, 8);
    scenario.network.collectiveChunk = Bytes(64 << 10);
    const TaskGraph graph = Build(scenario);
    uint32_t pairs = 0;
    for (const Program& body : graph.bodies)
    {
        for (size_t i = 0; i + 1 < body.ops.size(); i++)
        {
            const Op& first = body.ops[i];
            const Op& second = body.ops[i + 1];
            if (first.kind != OpKind::Collective || second.kind != OpKind::Collective ||
                first.stream != Stream::Reduce || second.stream != Stream::Reduce ||
                first.handle != second.handle)
            {
                continue;
            }
            const Collective& scatter = graph.collectives[first.index];
            const Collective& reduce = graph.collectives[second.index];
            const uint32_t shards = scatter.call.group.Size();
            EXPECT_EQ(scatter.name, "reduce_scatter");
            EXPECT_EQ(reduce.name, "all_reduce");
            EXPECT_EQ(shards * reduce.call.group.Size(), 16U);
            EXPECT_EQ(reduce.call.bytes.Count(),
                      (scatter.call.bytes.Count() + shards - 1) / shards);
            for (const Collective* one : {&scatter, &reduce})
            {
                EXPECT_EQ(one->chunks, (one->call.bytes.Count() + (64 << 10) - 1) / (64 << 10));
            }
            pairs++;
        }
    }
    EXPECT_GT(pairs, 0U);
}

TEST(TaskGraph, EveryPlanRunsToItsEnd)
{
    const ParallelPlan shapes[] = {PlanOf(2, 2, 2, 2, 4),
                                   PlanOf(1, 1, 4, 4, 8),
                                   PlanOf(4, 1, 2, 2, 4),
                                   PlanOf(2, 1, 1, 4, 4),
                                   PlanOf(1, 2, 1, 1, 16),
                                   PlanOf(4, 1, 1, 8, 1)};
    uint32_t plans = 0;
    for (const auto& shape : shapes)
    {
        for (const auto& crossing : {Crossing::Data, Crossing::Pipeline})
        {
            for (const auto sharding : {Sharding("ddp"),
                                        Sharding("zero1"),
                                        Sharding("zero2"),
                                        Sharding("fsdp"),
                                        Sharding("hsdp")})
            {
                for (const auto schedule : {"gpipe", "1f1b", "interleaved", "dorapp", "zb-h1"})
                {
                    for (const bool reshard : {false, true})
                    {
                        if (reshard && !sharding->parameters)
                        {
                            continue; // nothing to give up
                        }
                        const bool moe = shape.ep > 1;
                        ParallelPlan plan = shape;
                        plan.crossing = crossing;
                        plan.sharding = sharding;
                        plan.schedule = schedule;
                        plan.reshard = reshard;
                        plan.chunks =
                            schedule == Schedule("interleaved") || schedule == Schedule("dorapp")
                                ? 2
                                : 1;
                        plan.recompute = plans % 2 == 0 ? Recompute("none") : Recompute("full");
                        plan.prefetch = plans % 4;
                        plan.bucket = Bytes(plans % 5 == 0 ? 40 << 20 : 0);
                        plan.asyncTensor = plans % 7 == 0;
                        if (plans % 6 == 0 && sharding != Sharding("zero2"))
                        {
                            plan.reduce = plans % 12 == 0 ? Reduction("microbatch")
                                                          : Reduction("accumulated");
                        }
                        ModelSpec model = moe ? SmallMoe() : SmallModel();
                        model.layers = 16;
                        model.tiedEmbedding = plans % 5 == 1;
                        auto scenario = TwoBuildings(model, plan, 8);
                        scenario.Job().workload.stack.receives =
                            Receives(plans % 2 == 0 ? "early" : "planned");
                        scenario.network.collective = plans % 3 == 0
                                                          ? CollectiveAlgorithm("ring")
                                                          : CollectiveAlgorithm("hierarchical");
                        const auto layout = LayOut(plan, scenario.cluster);
                        if (std::holds_alternative<Infeasible>(layout))
                        {
                            continue;
                        }
                        const auto graph = Build(scenario);
                        EXPECT_EQ(GraphInterpreter(graph).Run(2), "");
                        plans++;
                    }
                }
            }
        }
    }
    EXPECT_GT(plans, 200U);
}

TEST(TaskGraph, PipelineVolume)
{
    // Per microbatch and boundary 2 s b h / (cp tp) bytes forward and as many backward. A first
    // rank of p = 4 sends forward only, over v boundaries; as last of all it also sends v - 1
    // gradients.
    auto plan = PlanOf(2, 2, 1, 4, 2);
    plan.microbatch = 2;
    const uint64_t message = 2ULL * 1024 * 2 * 512 / 4;
    const auto one = TallyOf(Build(TwoBuildings(SmallModel(), plan, 6)), 0);
    EXPECT_EQ(Sent(one, CommClass::Pipeline), 6 * message);
    plan.schedule = "interleaved";
    plan.chunks = 2;
    const auto two = TallyOf(Build(TwoBuildings(SmallModel(), plan, 8)), 0);
    EXPECT_EQ(Sent(two, CommClass::Pipeline), 8 * message * (2 + 1));
}

TEST(TaskGraph, PipelineCrossesEachBuildingBoundaryAsOftenAsItMust)
{
    // Whole step over a boundary: 2 m x crossings x 2 s b h x dp (per direction half of it), where
    // a looped interleaved schedule of v chunks crosses v R - 1 times, R = 2 buildings.
    for (const uint32_t v : {1U, 2U})
    {
        auto plan = PlanOf(2, 1, 1, 4, 4);
        plan.crossing = Crossing::Pipeline;
        plan.schedule = v > 1 ? "interleaved" : "1f1b";
        plan.chunks = v;
        const auto scenario = TwoBuildings(SmallModel(), plan, 8);
        const auto layout = LayoutOf(scenario);
        const auto graph = Build(scenario);
        uint64_t crossing = 0;
        for (Rank rank = 0; rank < graph.ranks; rank++)
        {
            for (const Op& op : graph.classes[graph.ClassOf(rank)].program.ops)
            {
                const Rank peer = rank + static_cast<Rank>(op.peer);
                if (op.kind == OpKind::Send && layout.BuildingOf(peer) != layout.BuildingOf(rank))
                {
                    crossing += op.bytes.Count();
                }
            }
        }
        EXPECT_EQ(crossing, 2ULL * 8 * (2 * v - 1) * (2ULL * 1024 * 512) * 4);
    }
}

TEST(TaskGraph, TensorAndContextVolume)
{
    // One stage of 8 layers, m = 3, tp = 2, cp = 2. Each all-gather or reduce-scatter of S over two
    // members sends S / 2. Tensor, S = 2 s h / cp: 4 per layer forward and 6 backward, where the
    // inputs of the two halves are gathered again for their weight gradients; 2 for the embedding
    // and 3 for the head. Context, S = 2 x 2 s (g d) / tp: forward one, backward two per layer.
    const auto plan = PlanOf(2, 2, 1, 1, 8);
    const auto tally = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    const uint64_t activation = 2ULL * 1024 * 512 / 2;
    const uint64_t keys = 2ULL * 2 * 1024 * 8 * 64 / 2;
    EXPECT_EQ(Sent(tally, CommClass::Tensor), 3 * (8 * 10 + 5) * activation / 2);
    EXPECT_EQ(Sent(tally, CommClass::Context), 3 * 8 * 3 * keys / 2);

    // Full recomputation repeats the forward collectives, whose gathered keys serve backward too.
    auto again = plan;
    again.recompute = Recompute("full");
    const auto full = TallyOf(Build(TwoBuildings(SmallModel(), again, 3)), 0);
    EXPECT_EQ(Sent(full, CommClass::Tensor), 3 * (8 * 14 + 5) * activation / 2);
    EXPECT_EQ(Sent(full, CommClass::Context), 3 * 8 * 3 * keys / 2);
}

TEST(TaskGraph, ExpertVolume)
{
    // Per MoE layer and microbatch 4 x (2 b s k h / (cp tp)) (e-1)/e: dispatch and combine, forward
    // and backward. 4 MoE layers, m = 2, ep = 4, k = 2, tp = 2.
    const auto plan = PlanOf(2, 1, 4, 1, 16);
    const auto tally = TallyOf(Build(TwoBuildings(SmallMoe(), plan, 2)), 0);
    const uint64_t dispatched = 2ULL * 1024 * 2 * 512 / 2;
    EXPECT_EQ(Sent(tally, CommClass::Expert), 4 * 2 * 4 * dispatched * 3 / 4);
    // The experts' tensor group gathers and scatters k S beside the S of shared experts and dense
    // layers: per MoE layer 4 of S forward and 6 backward, and 2 of k S in either direction.
    const uint64_t activation = 2ULL * 1024 * 512;
    EXPECT_EQ(Sent(tally, CommClass::Tensor),
              2 * (8 * 10 + 5) * activation / 2 + 2 * 4 * 4 * 2 * activation / 2);

    // Without expert parallelism nothing is dispatched, and one gather serves all.
    const auto alone = TallyOf(Build(TwoBuildings(SmallMoe(), PlanOf(2, 1, 1, 1, 16), 2)), 0);
    EXPECT_EQ(Sent(alone, CommClass::Expert), 0U);
    EXPECT_EQ(Sent(alone, CommClass::Tensor), 2 * (8 * 10 + 5) * activation / 2);
}

TEST(TaskGraph, AsyncTensorParallelSendsTheSame)
{
    const auto plan = PlanOf(4, 1, 1, 1, 8);
    auto steps = plan;
    steps.asyncTensor = true;
    const auto blocking = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    const auto async = TallyOf(Build(TwoBuildings(SmallModel(), steps, 3)), 0);
    EXPECT_EQ(Sent(async, CommClass::Tensor), Sent(blocking, CommClass::Tensor));
    EXPECT_GT(async.compute, blocking.compute); // GEMMs in parts, see stack-cost-test.cc
    // Three steps instead of one collective in gather and scatter of either half forward, and in
    // the gathers of backward: 8 x (4 + 2) of 8 x 10 + 5 collectives.
    const auto tensor = static_cast<size_t>(Stream::Tensor);
    EXPECT_EQ(async.posted[tensor], blocking.posted[tensor] + 3 * 8 * 6 * 2);
}

/// Of a chunk of 8 layers the first k again: k times what all 8 cost more than none, over 8, in
/// computing and in collectives.
TEST(TaskGraph, RecomputesTheFirstLayersOfAChunk)
{
    const auto plan = PlanOf(4, 1, 1, 1, 8);
    const auto tally = [&plan](const char* words, uint32_t layers) {
        auto changed = plan;
        changed.recompute = words;
        changed.recomputeLayers = layers;
        return TallyOf(Build(TwoBuildings(SmallModel(), changed, 3)), 0);
    };
    const auto none = tally("none", 0);
    const auto all = tally("full", 0);
    const auto tensor = static_cast<size_t>(Stream::Tensor);
    for (const uint32_t k : {1U, 3U, 8U, 100U})
    {
        const auto some = tally("full", k);
        const double share = std::min(k, 8U) / 8.0;
        EXPECT_NEAR((some.compute - none.compute).S(),
                    share * (all.compute - none.compute).S(),
                    1e-9);
        EXPECT_EQ(some.posted[tensor] - none.posted[tensor],
                  share * (all.posted[tensor] - none.posted[tensor]));
    }
    auto wrong = plan;
    wrong.recomputeLayers = 2;
    ASSERT_TRUE(wrong.FindConflict());
    EXPECT_EQ(wrong.FindConflict()->Where(), "plan.recompute_layers");
}

TEST(TaskGraph, ModulesAgainCommunicateAgain)
{
    // Tensor-parallel collectives of 3 microbatches: a dense MLP again is a gather and a scatter
    // for each of 8 layers. A MoE layer that dispatches has two all-to-alls forward and two
    // backward; again it has two more, and a gather and a scatter of its experts and of the shared
    // ones.
    const auto posted = [](const ModelSpec& model, const ParallelPlan& plan, const char* words) {
        auto changed = plan;
        changed.recompute = words;
        return TallyOf(Build(TwoBuildings(model, changed, 3)), 0).posted;
    };
    const auto tensor = static_cast<size_t>(Stream::Tensor);
    const auto expert = static_cast<size_t>(Stream::Expert);
    const auto dense = PlanOf(4, 1, 1, 1, 8);
    const auto none = posted(SmallModel(), dense, "none");
    EXPECT_EQ(posted(SmallModel(), dense, "mlp")[tensor] - none[tensor], 3U * 8 * 2);
    EXPECT_EQ(posted(SmallModel(), dense, "selective"), none);
    const ModelSpec moe = SmallMoe();
    const uint64_t layers = 3ULL * moe.MoeLayers();
    const auto dispatching = PlanOf(2, 1, 4, 1, 16);
    const auto kept = posted(moe, dispatching, "none");
    const auto again = posted(moe, dispatching, "moe");
    EXPECT_EQ(kept[expert], layers * 4);
    EXPECT_EQ(again[expert] - kept[expert], layers * 2);
    EXPECT_EQ(again[tensor] - kept[tensor], layers * 4);
    const auto shared = posted(moe, dispatching, "shared-experts");
    EXPECT_EQ(shared[expert], kept[expert]);
    EXPECT_EQ(shared[tensor] - kept[tensor], layers * 2);
}

TEST(TaskGraph, SoftwareThatKeepsItsInputsGathersThemOnce)
{
    // Of 8 x 10 + 5 tensor-parallel collectives a microbatch, 8 x 2 + 1 gather the input of a half
    // or of the head for the weight gradient.
    auto scenario = TwoBuildings(SmallModel(), PlanOf(4, 1, 1, 1, 8), 3);
    const auto posted = [&scenario](Recompute recompute, bool again) {
        scenario.Job().plan.recompute = recompute;
        scenario.Job().workload.stack.gathersForWeights = again;
        return TallyOf(Build(scenario), 0).posted[static_cast<size_t>(Stream::Tensor)];
    };
    EXPECT_EQ(posted(Recompute("none"), true), 3U * 85);
    EXPECT_EQ(posted(Recompute("none"), false), 3U * (85 - 17));
    // A whole layer's forward again has its own gathers, and scatters, 4 a layer.
    EXPECT_EQ(posted(Recompute("full"), true), 3U * (85 + 32));
    EXPECT_EQ(posted(Recompute("full"), false), 3U * (85 + 32 - 17));
    // Norms made again have to be gathered again.
    EXPECT_EQ(posted(Recompute("alternate"), true), 3U * 85);
    EXPECT_EQ(posted(Recompute("alternate"), false), 3U * 85);
    // Such a gather blocks: each collective is awaited before anything else is done.
    scenario.Job().workload.stack.overlapsTensorReduction = false;
    const auto graph = Build(scenario);
    for (const Program& body : graph.bodies)
    {
        for (size_t i = 0; i + 1 < body.ops.size(); i++)
        {
            if (body.ops[i].kind == OpKind::Collective && body.ops[i].stream == Stream::Tensor)
            {
                EXPECT_EQ(body.ops[i + 1].kind, OpKind::Wait);
            }
        }
    }
}

TEST(TaskGraph, SharedExpertsAreComputedBesideDispatch)
{
    // The first thing a MoE layer does is to dispatch; the shared experts' gather and computing
    // follow before the dispatch is awaited, and their scatter before the combination is.
    // So it is, too, where the host is later than all kernels of the layer together.
    const auto plan = PlanOf(2, 1, 4, 1, 16);
    auto scenario = TwoBuildings(SmallMoe(), plan, 2);
    scenario.Job().workload.stack.hostPerLayer = Duration::Seconds(0.02);
    const auto graph = Build(scenario);
    const auto& program = graph.classes[0].program.ops;
    const auto run = std::find_if(program.begin(), program.end(), [](const Op& op) {
        return op.kind == OpKind::Run;
    });
    std::string order;
    for (const Op& op : graph.bodies[run->index].ops)
    {
        const bool expert = op.stream == Stream::Expert;
        order += op.kind == OpKind::Compute      ? 'c'
                 : op.kind == OpKind::Collective ? (expert ? 'D' : 'T')
                 : op.kind == OpKind::Wait       ? (op.handle == 2 ? 'w' : '.')
                                                 : '?';
    }
    // D: dispatch posted; T.: gather of the shared experts; c: they compute; w: dispatched; T.c T.:
    // routed experts; D: combination posted; c T.: the shared experts' end; w: combined.
    EXPECT_NE(order.find("DT.cwT.cT.DcT.w"), std::string::npos) << order;
}

TEST(TaskGraph, ComputeIsTheSumOfItsParts)
{
    // m times all three passes of the stage's layers, and the optimizer over a shard of 1/8; with a
    // host that is late in either direction, too. No part of it is negative.
    for (const auto& [schedule, hostForward, hostBackward] :
         {std::tuple<const char*, double, double>{"1f1b", 0, 0},
          {"1f1b", 0.01, 0.02},
          {"zb-h1", 0, 0},
          {"zb-h1", 0, 0.02}})
    {
        auto plan = PlanOf(2, 1, 2, 2, 8);
        plan.schedule = schedule;
        auto scenario = TwoBuildings(SmallMoe(), plan, 6);
        scenario.Job().workload.stack.hostPerLayer = Duration::Seconds(hostForward);
        scenario.Job().workload.stack.hostPerLayerBackward = Duration::Seconds(hostBackward);
        const auto& job = scenario.Job();
        const auto& gpu = scenario.cluster.buildings.front().gpu;
        const auto total = [](const ComputeCost& cost) {
            return cost.forward + cost.inputGradient + cost.weightGradient;
        };
        Duration expected = total(CostOfEmbedding(job.model, job.workload, plan, gpu));
        uint64_t parameters = 0;
        for (uint32_t layer = 0; layer < 4; layer++)
        {
            const auto cost = CostOfLayer(job.model, job.workload, plan, gpu, layer);
            expected += total(cost.attention) + total(cost.mlp);
        }
        for (const auto& unit : UnitsOf(job, {0, 4, true, false}))
        {
            parameters += ShardOf(unit, ShardSizesOf(LayoutOf(scenario)));
        }
        const auto graph = Build(scenario);
        for (const Program& body : graph.bodies)
        {
            for (const Op& op : body.ops)
            {
                EXPECT_TRUE(op.kind != OpKind::Compute || op.duration > Duration())
                    << ToString(op.duration);
            }
        }
        const auto tally = TallyOf(graph, 0);
        EXPECT_EQ(tally.compute, expected * 6 + CostOfOptimizer(parameters, job.workload, gpu));
    }
}

TEST(TaskGraph, BodiesAreSharedByMicrobatches)
{
    for (const bool reshard : {false, true})
    {
        auto plan = PlanOf(2, 1, 1, 2, 8);
        plan.reshard = reshard;
        const auto few = Build(TwoBuildings(SmallModel(), plan, 8));
        const auto many = Build(TwoBuildings(SmallModel(), plan, 64));
        EXPECT_EQ(few.bodies.size(), many.bodies.size());
        EXPECT_EQ(few.collectives.size(), many.collectives.size());
    }
}

TEST(TaskGraph, ClassesAreStagesWhereBuildingsAreAlike)
{
    for (const auto& crossing : {Crossing::Data, Crossing::Pipeline})
    {
        auto plan = PlanOf(2, 1, 1, 4, 4);
        plan.crossing = crossing;
        const auto scenario = TwoBuildings(SmallModel(), plan, 4);
        const auto layout = LayoutOf(scenario);
        const auto graph = Build(scenario);
        ASSERT_EQ(graph.classes.size(), 4U);
        for (Rank rank = 0; rank < graph.ranks; rank++)
        {
            EXPECT_EQ(graph.classes[graph.ClassOf(rank)].stage, layout.StageOf(rank));
        }
        for (const auto& one : graph.classes)
        {
            EXPECT_EQ(one.ranks, 8U);
            EXPECT_EQ(layout.StageOf(one.representative), one.stage);
        }
    }
}

TEST(TaskGraph, EventsMakeBuildingsUnlike)
{
    // Four stages in two equal buildings, one of which an event may hit.
    auto scenario = TwoBuildings(SmallModel(), PlanOf(2, 1, 1, 4, 4), 4);
    scenario.events.emplace_back();
    const auto layout = LayoutOf(scenario);
    const auto graph = Build(scenario);
    ASSERT_EQ(graph.classes.size(), 8U);
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        const RankClass& one = graph.classes[graph.ClassOf(rank)];
        EXPECT_EQ(layout.BuildingOf(one.representative), layout.BuildingOf(rank));
    }
}

TEST(TaskGraph, UnlikeBuildingsHaveTheirOwnClasses)
{
    // Data parallel over buildings of 16 and 48 GPUs, the second with slower accelerators.
    auto cluster = BuildingsOf({16, 48}, 4);
    cluster.buildings[1].gpu = GpuPreset("a100-80g");
    const auto scenario = ScenarioOf(cluster, SmallModel(), PlanOf(2, 1, 1, 4, 8), 4);
    const auto layout = LayoutOf(scenario);
    const auto graph = Build(scenario);
    ASSERT_EQ(graph.classes.size(), 8U);
    EXPECT_EQ(graph.blockRanks, 16U);
    std::vector<uint32_t> ranks(8, 0);
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        const auto& one = graph.classes[graph.ClassOf(rank)];
        ranks[graph.ClassOf(rank)]++;
        EXPECT_EQ(one.stage, layout.StageOf(rank));
        EXPECT_EQ(layout.BuildingOf(one.representative), layout.BuildingOf(rank));
    }
    for (size_t i = 0; i < 8; i++)
    {
        EXPECT_EQ(graph.classes[i].ranks, ranks[i]);
    }
    GraphInterpreter interpreter(graph);
    EXPECT_EQ(interpreter.Run(1), "");
    EXPECT_GT(interpreter.Tallies()[16].compute, interpreter.Tallies()[0].compute);
    // Under PP-out a stage has the accelerators of its building.
    auto out = scenario;
    out.Job().plan.crossing = Crossing::Pipeline;
    EXPECT_EQ(Build(out).classes.size(), 4U);
}

TEST(TaskGraph, EveryFieldOfAGpuIsThatOfItsBuilding)
{
    // Where buildings differ in one field of their GPUs, whatever it is, programs in each are those
    // of a cluster that has its GPUs everywhere. With copies of most layers these outlast
    // computing.
    for (const auto& [precision, offloaded] :
         {std::pair<const char*, uint32_t>{"bf16", 0}, {"fp8", 0}, {"nvfp4", 0}, {"bf16", 7}})
    {
        auto plan = PlanOf(2, 1, 1, 1, 16);
        plan.offloadLayers = offloaded;
        Scenario alike = TwoBuildings(SmallModel(), plan, 1);
        alike.Job().workload.precision = precision;
        const GpuSpec usual = GpuPreset("b200");
        alike.cluster.buildings[0].gpu = alike.cluster.buildings[1].gpu = usual;
        const Rank there = 16; // the first of the second building
        const auto first = Build(alike);
        std::set<std::string> felt; // that computing depends on
        for (const auto& field : GpuSpec::Fields())
        {
            const GpuSpec gpu = Varied(usual, field);
            ASSERT_FALSE(field.equal(gpu, usual)) << field.key;
            Scenario unlike = alike;
            unlike.cluster.buildings[1].gpu = gpu;
            EXPECT_EQ(BuildingsAreAlike(unlike), field.label) << field.key;
            const auto mixed = Build(unlike);
            unlike.cluster.buildings[0].gpu = gpu;
            const auto second = Build(unlike);
            const Duration computing = TallyOf(second, there).compute;
            EXPECT_EQ(TallyOf(mixed, 0).compute, TallyOf(first, 0).compute) << field.key;
            EXPECT_EQ(TallyOf(mixed, there).compute, computing) << field.key;
            const CollectiveShare& share = mixed.classes[mixed.ClassOf(there)].collectiveShare;
            const CollectiveShare& all = second.classes[second.ClassOf(there)].collectiveShare;
            EXPECT_EQ(std::tie(share.usual, share.processors, share.most),
                      std::tie(all.usual, all.processors, all.most))
                << field.key;
            if (computing != TallyOf(first, there).compute)
            {
                felt.insert(field.key);
            }
        }
        const std::string bits = precision == std::string("nvfp4") ? "fp4" : precision;
        EXPECT_EQ(felt.count(bits + "_peak"), 1U);
        EXPECT_EQ(felt.count("host_bandwidth"), offloaded > 0 ? 1U : 0U) << precision;
    }
}

TEST(TaskGraph, NamesWhyAJobCannotBeBuilt)
{
    const auto base = TwoBuildings(SmallMoe(), PlanOf(2, 2, 2, 2, 4), 4);
    EXPECT_EQ(ReasonOf(base), "feasible");
    const auto with = [&base](const std::function<void(JobSpec&)>& change) {
        Scenario scenario = base;
        change(scenario.Job());
        return ReasonOf(scenario);
    };
    EXPECT_EQ(with([](JobSpec& job) { job.workload.globalBatch = 18; }), "batch");
    EXPECT_EQ(with([](JobSpec& job) { job.plan.chunks = 2; }), "schedule");
    EXPECT_EQ(with([](JobSpec& job) { job.model.layers = 1; }), "layers");
    EXPECT_EQ(with([](JobSpec& job) { job.model.heads = 7; }), "heads");
    EXPECT_EQ(with([](JobSpec& job) {
                  job.model.kvHeads = 1;
                  job.workload.stack.repeatsKvHeads = false;
              }),
              "heads");
    EXPECT_EQ(with([](JobSpec& job) { job.model.denseFfn = 2047; }), "ffn");
    EXPECT_EQ(with([](JobSpec& job) { job.workload.sequence = 1026; }), "sequence");
    EXPECT_EQ(with([](JobSpec& job) { job.model.experts = 9; }), "experts");
    EXPECT_EQ(with([](JobSpec& job) { job.model = SmallModel(); }), "experts");
    Scenario scenario = base;
    scenario.Job().workload.globalBatch = 18;
    const auto built = BuildTaskGraph(scenario, LayoutOf(scenario));
    ASSERT_TRUE(std::holds_alternative<Infeasible>(built));
    EXPECT_EQ(std::get<Infeasible>(built).reason, "batch");
}

TEST(TaskGraph, UniformPipelineHasOneRankPerStage)
{
    UniformPipeline pipeline;
    pipeline.forward = Duration::Microseconds(3);
    pipeline.inputGradient = Duration::Microseconds(4);
    pipeline.weightGradient = Duration::Microseconds(2);
    pipeline.bytes = Bytes(1000);
    for (const auto& shape : {PipelineShape{"gpipe", 4, 8, 1, 0},
                              PipelineShape{"1f1b", 4, 8, 1, 0},
                              PipelineShape{"interleaved", 4, 8, 3, 0},
                              PipelineShape{"zb-h1", 4, 8, 1, 0},
                              PipelineShape{"1f1b", 1, 8, 1, 0}})
    {
        pipeline.shape = shape;
        const auto graph = BuildUniformPipeline(pipeline);
        GraphInterpreter interpreter(graph);
        EXPECT_EQ(interpreter.Run(3), "");
        const uint32_t boundaries = shape.ranks > 1 ? shape.ranks * shape.chunks - 1 : 0;
        EXPECT_EQ(graph.messages, 2 * boundaries * 8);
        uint64_t sent = 0;
        for (const auto& tally : interpreter.Tallies())
        {
            EXPECT_EQ(tally.compute, Duration::Microseconds(9) * 8 * shape.chunks * 3);
            sent += Sent(tally, CommClass::Pipeline);
        }
        EXPECT_EQ(sent, 3ULL * graph.messages * 1000);
    }
}

} // namespace scaleacross
