// SPDX-License-Identifier: GPL-2.0-only

// What ranks gather of the parameters and reduce of the gradients, how often and when.

#include "../built-graph.h"
#include "../schedule-scenario.h"
#include "core/work/collectives/parameter-units.h"
#include "core/work/graph/layer-program.h"
#include "core/work/graph/task-graph-builder.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace scaleacross
{

TEST(ParameterTraffic, DataVolume)
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

TEST(ParameterTraffic, GradientsOnTheNetworkMayBeHalfAsWide)
{
    auto scenario = TwoBuildings(SmallModel(), PlanOf(2, 1, 1, 1, 16), 4);
    scenario.Job().plan.sharding = Sharding("ddp");
    const auto wide = TallyOf(Build(scenario), 0);
    scenario.Job().workload.gradientBytes = 2;
    const auto narrow = TallyOf(Build(scenario), 0);
    EXPECT_EQ(Sent(wide, CommClass::Data), 2 * Sent(narrow, CommClass::Data));
}

TEST(ParameterTraffic, ExpertsAreReducedOverTheirOwnGroup)
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

TEST(ParameterTraffic, ZeroSendsWhatItDoesNotHold)
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
    const auto scenario = TwoBuildings(model, plan, 4);
    const auto refused = CheckJob(scenario, LayoutOf(scenario));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason, "sharding");
}

TEST(ParameterTraffic, PrefetchDecidesWhatIsStillThere)
{
    // As in the test of resharding below, with depth q: a unit is still there if it is one of the
    // last max(q, 1) used. At the turn to backward, head, 7, 6 ... follow their forward by 1, 3, 5
    // ... uses: floor((q+1)/2) are there, the head always. At the turn to the next forward, which
    // begins with the embedding, layers 0, 1 ... follow by 2, 4 ...: floor(q/2).
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

TEST(ParameterTraffic, BucketsJoinUnitsInTheOrderOfBackward)
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

TEST(ParameterTraffic, ReshardingGathersEveryUseThatIsNotStillThere)
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

TEST(ParameterTraffic, ReshardingCrossesBuildingsOnceAnIteration)
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

TEST(ParameterTraffic, GathersComeFirstAndAreAwaitedOnce)
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

} // namespace scaleacross
