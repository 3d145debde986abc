// SPDX-License-Identifier: GPL-2.0-only

#include "../built-graph.h"
#include "../schedule-scenario.h"
#include "core/work/collectives/parameter-units.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/graph/layer-program.h"
#include "core/work/graph/task-graph-builder.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

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

} // namespace

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

TEST(TaskGraph, DataVolume)
{
    // tp = 2, dp = 16 in two buildings: P / 2 parameters per rank (every unit here is divisible).
    // All-gather 2 bytes, reduce-scatter 4 bytes each (n-1)/n; an all-reduce is twice the latter.
    const ModelSpec model = SmallModel();
    auto plan = PlanOf(2, 1, 1, 1, 16);
    const uint64_t held = model.TotalParameters() / 2;
    const auto sent = [&model, &plan](Sharding sharding) {
        plan.sharding = sharding;
        return Sent(TallyOf(Build(TwoBuildings(model, plan, 4)), 0), CommClass::Data);
    };
    EXPECT_EQ(sent(Sharding("ddp")), 2 * 4 * held * 15 / 16);
    EXPECT_EQ(sent(Sharding("fsdp")), (2 + 4) * held * 15 / 16);
    // HSDP: shard group of 8 inside, then all-reduce of an eighth across two buildings: as much as
    // it has bytes.
    EXPECT_EQ(sent(Sharding("hsdp")), (2 + 4) * held * 7 / 8 + 4 * held / 8);

    // Under PP-out no data group leaves its building, so HSDP has no replicas.
    plan = PlanOf(2, 1, 1, 2, 8);
    plan.crossing = Crossing::Pipeline;
    EXPECT_EQ(sent(Sharding("hsdp")), sent(Sharding("fsdp")));
}

TEST(TaskGraph, GradientsOnTheNetworkMayBeHalfAsWide)
{
    auto scenario = TwoBuildings(SmallModel(), PlanOf(2, 1, 1, 1, 16), 4);
    scenario.Job().plan.sharding = Sharding("ddp");
    const auto wide = TallyOf(Build(scenario), 0);
    scenario.Job().workload.gradientBytes = 2;
    const auto narrow = TallyOf(Build(scenario), 0);
    EXPECT_EQ(Sent(wide, CommClass::Data), 2 * Sent(narrow, CommClass::Data));
}

TEST(TaskGraph, ExpertsAreReducedOverTheirOwnGroup)
{
    // ep = 4 of dp = 16: dense parameters over 16 ranks; of the experts a quarter,
    // over 4. DDP all-reduces both: 2 x 4 bytes (n-1)/n.
    const ModelSpec model = SmallMoe();
    auto plan = PlanOf(2, 1, 4, 1, 16);
    plan.sharding = Sharding("ddp");
    uint64_t experts = 0;
    for (uint32_t layer = 0; layer < model.layers; layer++)
    {
        experts += model.ExpertParametersOfLayer(layer);
    }
    const uint64_t dense = (model.TotalParameters() - experts) / 2;
    const auto tally = TallyOf(Build(TwoBuildings(model, plan, 2)), 0);
    EXPECT_EQ(Sent(tally, CommClass::Data), 8 * dense * 15 / 16 + 8 * (experts / 2 / 4) * 3 / 4);
}

TEST(TaskGraph, ZeroSendsWhatItDoesNotHold)
{
    // As FSDP that keeps its weights: gathers once, reduce-scatters once (ZeRO-1) or for every one
    // of four microbatches (ZeRO-2). DDP without accumulation all-reduces every one.
    const ModelSpec model = SmallModel();
    auto plan = PlanOf(2, 1, 1, 1, 16);
    const uint64_t part = model.TotalParameters() / 2 * 15 / 16;
    const auto sent = [&model, &plan] {
        return Sent(TallyOf(Build(TwoBuildings(model, plan, 4)), 0), CommClass::Data);
    };
    plan.sharding = Sharding("zero1");
    EXPECT_EQ(sent(), (2 + 4) * part);
    plan.reshard = true; // nothing to give up
    EXPECT_EQ(sent(), (2 + 4) * part);
    plan.sharding = Sharding("zero2");
    EXPECT_EQ(sent(), (2 + 4 * 4) * part);
    plan.sharding = Sharding("ddp");
    plan.reduce = Reduction("microbatch");
    EXPECT_EQ(sent(), 2 * 4 * 4 * part);
    // FSDP either way, with weights kept or given up.
    plan.sharding = Sharding("fsdp");
    plan.reshard = false;
    EXPECT_EQ(sent(), (2 + 4 * 4) * part);
    plan.reduce = Reduction("accumulated");
    plan.reshard = true;
    const auto tally = TallyOf(Build(TwoBuildings(model, plan, 4)), 0);
    EXPECT_EQ(tally.posted[static_cast<size_t>(Stream::Reduce)], 10U);
    // What cannot be is refused: only a shard of the gradients, and all of them adding up.
    plan.sharding = Sharding("zero2");
    EXPECT_EQ(ReasonOf(TwoBuildings(model, plan, 4)), "sharding");
}

TEST(TaskGraph, PrefetchDecidesWhatIsStillThere)
{
    // As above, with depth q: a unit is still there if it is one of the last max(q, 1) used. At the
    // turn to backward, head, 7, 6 ... follow their forward by 1, 3, 5 ... uses: floor((q+1)/2) are
    // there, the head always. At the turn to the next forward, which begins with the embedding,
    // layers 0, 1 ... follow by 2, 4 ...: floor(q/2).
    auto plan = PlanOf(2, 1, 1, 1, 16);
    plan.sharding = Sharding("fsdp");
    plan.reshard = true;
    for (const uint32_t q : {0U, 1U, 2U, 3U, 4U, 7U})
    {
        plan.prefetch = q;
        const auto tally = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
        EXPECT_EQ(tally.posted[static_cast<size_t>(Stream::Gather)],
                  3 * 19 - 3 * std::max(1U, (q + 1) / 2) - 2 * (q / 2))
            << q;
    }
}

TEST(TaskGraph, BucketsJoinUnitsInTheOrderOfBackward)
{
    // Eight layers of 4 h^2 + 3 h f + 2 h parameters between embedding and head (4,096 h each, the
    // head with its norm), tp = 2, gradients of 4 bytes: 8.4 MB a layer, 4.2 MB the others. With
    // buckets of 20 MB: {head, 7, 6}, {5, 4, 3}, {2, 1, 0}, {embedding}.
    auto plan = PlanOf(2, 1, 1, 1, 16);
    plan.sharding = Sharding("fsdp");
    const auto whole = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    plan.bucket = Bytes(20000000);
    auto scenario = TwoBuildings(SmallModel(), plan, 3);
    const auto units = UnitsOf(scenario.Job(), {0, 8, true, true});
    ASSERT_EQ(units.size(), 4U);
    const uint64_t layer = (4 * 512 * 512 + 3 * 512 * 2048 + 2 * 512) / 2;
    EXPECT_EQ(units[0].dense, 4096U * 512 / 2);
    EXPECT_EQ(units[1].dense, 3 * layer);
    EXPECT_EQ(units[3].dense, 2 * layer + (4096 * 512 + 512) / 2);
    EXPECT_EQ(units[3].pieces, 3U);
    const auto joined = TallyOf(Build(scenario), 0);
    EXPECT_EQ(joined.posted[static_cast<size_t>(Stream::Gather)], 4U);
    EXPECT_EQ(joined.posted[static_cast<size_t>(Stream::Reduce)], 4U);
    EXPECT_EQ(Sent(joined, CommClass::Data), Sent(whole, CommClass::Data));
    // Given up and gathered again, the embedding alone is not needed backward: forward 4, backward
    // 3, the last of forward still there; the last of backward, layers 0 to 2, is what comes second
    // in the next forward, and there as well.
    plan.reshard = true;
    const auto again = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    EXPECT_EQ(again.posted[static_cast<size_t>(Stream::Gather)], 3 * (4 + 3) - 3 - 2U);
}

TEST(TaskGraph, AsyncTensorParallelSendsTheSame)
{
    const auto plan = PlanOf(4, 1, 1, 1, 8);
    auto steps = plan;
    steps.asyncTensor = true;
    const auto blocking = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    const auto async = TallyOf(Build(TwoBuildings(SmallModel(), steps, 3)), 0);
    EXPECT_EQ(Sent(async, CommClass::Tensor), Sent(blocking, CommClass::Tensor));
    EXPECT_GT(async.compute, blocking.compute); // GEMMs in parts, see compute-cost-test.cc
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
    const auto plan = PlanOf(2, 1, 4, 1, 16);
    const auto graph = Build(TwoBuildings(SmallMoe(), plan, 2));
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

TEST(TaskGraph, ReshardingGathersEveryUseThatIsNotStillThere)
{
    // One stage, 8 layers, m = 3: forward uses embedding, 8 layers, head; backward head, 8 layers.
    // The head is still there when backward begins; the last layer of backward (0) is not what the
    // next forward begins with (embedding, 0): layer 0 was used two uses ago and is still there.
    // Gathers: m (10 + 9) - m - (m - 1). Reductions: every unit, every microbatch.
    auto plan = PlanOf(2, 1, 1, 1, 16);
    plan.sharding = Sharding("fsdp");
    plan.reshard = true;
    const auto tally = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    EXPECT_EQ(tally.posted[static_cast<size_t>(Stream::Gather)], 3 * 19 - 3 - 2U);
    EXPECT_EQ(tally.posted[static_cast<size_t>(Stream::Reduce)], 3 * 10U);
    // Without resharding once each.
    plan.reshard = false;
    const auto keep = TallyOf(Build(TwoBuildings(SmallModel(), plan, 3)), 0);
    EXPECT_EQ(keep.posted[static_cast<size_t>(Stream::Gather)], 10U);
    EXPECT_EQ(keep.posted[static_cast<size_t>(Stream::Reduce)], 10U);
}

TEST(TaskGraph, ReshardingCrossesBuildingsOnceAnIteration)
{
    // HSDP: reduce-scatters inside for each of three microbatches, one all-reduce across: 4 bytes,
    // shard group of 8.
    const ModelSpec model = SmallModel();
    auto plan = PlanOf(2, 1, 1, 1, 16);
    plan.reshard = true;
    const auto graph = Build(TwoBuildings(model, plan, 3));
    const auto tally = TallyOf(graph, 0);
    const uint64_t held = model.TotalParameters() / 2;
    uint64_t gathered = 0; // bytes that the gathers send, counted from the graph
    for (const Op& op : graph.classes[0].program.ops)
    {
        const auto add = [&graph, &gathered](const Op& posted) {
            if (posted.kind == OpKind::Collective && posted.stream == Stream::Gather)
            {
                for (const auto& phase : graph.collectives[posted.index].phases)
                {
                    gathered += SentBy(phase, phase.group.IndexOf(0)).Count();
                }
            }
        };
        add(op);
        if (op.kind == OpKind::Run)
        {
            for (const Op& inner : graph.bodies[op.index].ops)
            {
                add(inner);
            }
        }
    }
    EXPECT_EQ(Sent(tally, CommClass::Data) - gathered, 3 * 4 * held * 7 / 8 + 4 * held / 8);
}

TEST(TaskGraph, ComputeIsTheSumOfItsParts)
{
    // m times all three passes of the stage's layers, and the optimizer over a shard of 1/8.
    for (const auto schedule : {"1f1b", "zb-h1"})
    {
        auto plan = PlanOf(2, 1, 2, 2, 8);
        plan.schedule = schedule;
        const auto scenario = TwoBuildings(SmallMoe(), plan, 6);
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
            parameters += ShardOf(unit, LayoutOf(scenario));
        }
        const auto tally = TallyOf(Build(scenario), 0);
        EXPECT_EQ(tally.compute, expected * 6 + CostOfOptimizer(parameters, job.workload, gpu));
    }
}

TEST(TaskGraph, GathersComeFirstAndAreAwaitedOnce)
{
    auto plan = PlanOf(2, 1, 1, 2, 8);
    const auto graph = Build(TwoBuildings(SmallModel(), plan, 4));
    const auto& ops = graph.classes[0].program.ops;
    // Stage 0: embedding and four layers.
    for (size_t i = 0; i < 5; i++)
    {
        EXPECT_EQ(ops[i].kind, OpKind::Collective);
        EXPECT_EQ(ops[i].stream, Stream::Gather);
    }
    ASSERT_EQ(ops[5].kind, OpKind::Run);
    const auto waits = [&graph](uint32_t body) {
        uint32_t count = 0;
        for (const Op& op : graph.bodies[body].ops)
        {
            count += op.kind == OpKind::Wait && op.handle >= LayerProgram::kHandles;
        }
        return count;
    };
    EXPECT_EQ(waits(ops[5].index), 5U);
    uint32_t others = 0;
    for (size_t i = 6; i < ops.size(); i++)
    {
        others += ops[i].kind == OpKind::Run ? waits(ops[i].index) : 0;
    }
    EXPECT_EQ(others, 0U);
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
    EXPECT_EQ(with([](JobSpec& job) { job.model.kvHeads = 1; }), "heads");
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
