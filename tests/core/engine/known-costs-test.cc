// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/engine/known-costs.h"
#include "core/engine/network-model.h"
#include "core/explore/search-space.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

std::vector<double>
Figures(const TransferCost& cost)
{
    std::vector<double> figures(cost.ports.begin(), cost.ports.end());
    figures.insert(figures.end(), cost.portBytes.begin(), cost.portBytes.end());
    figures.insert(figures.end(),
                   {cost.least,
                    static_cast<double>(cost.latency.Ps()),
                    cost.slots.Seconds(),
                    cost.losses.chains,
                    static_cast<double>(cost.losses.steps),
                    static_cast<double>(cost.losses.rounds.size())});
    for (const CutUse& use : cost.cuts)
    {
        figures.insert(figures.end(),
                       {static_cast<double>(use.cut),
                        use.seconds,
                        use.demand,
                        use.flows,
                        use.pairs,
                        static_cast<double>(use.links),
                        use.wire,
                        use.bytes,
                        use.detours});
    }
    return figures;
}

/// What all phases of a job cost its classes, by all of a stage and by the class alone, each asked
/// of a model.
std::vector<std::vector<double>>
CostsOf(const PreparedRun& run, const std::function<const NetworkModel&()>& model)
{
    std::vector<std::vector<double>> costs;
    for (const RankClass& rankClass : run.graph.classes)
    {
        for (const Collective& collective : run.graph.collectives)
        {
            for (const Phase& phase : collective.phases)
            {
                const Rank one = rankClass.representative;
                costs.push_back(Figures(model().PhaseCost(phase, one)));
                costs.push_back(Figures(model().PhaseCost(phase, one, {{one, rankClass.ranks}})));
            }
        }
    }
    return costs;
}

/// Plans that share what they find out, on more networks and layouts than are kept, have the costs
/// that a model finds which has been asked for nothing else.
TEST(KnownCosts, AreThoseOfAPlanAlone)
{
    const Study study = TwoBuildings(
        "search:\n"
        "  plan: {tp: [1, 2, 4, 8], cp: [1, 2], pp: [1, 2, 4], crossing: [dp, pp], "
        "sharding: [ddp, fsdp], recompute: [none, full]}\n"
        "  network: {qps: [1, 16], multipath: [e-ecmp, spray-rr], recovery: [selective-repeat], "
        "collective: [ring, hierarchical, halving-doubling], mtu: [1KiB, 4KiB]}\n");
    const SearchSpace space(study);
    const auto facts = std::make_shared<const NetworkFacts>(space.With(space.Fixed()));
    std::mt19937 random(1);
    uint32_t compared = 0;
    while (compared < 150)
    {
        const auto plan = space.PlanAt(random() % space.Size());
        if (!plan)
        {
            continue;
        }
        const Scenario scenario = space.With(*plan);
        const auto prepared = PrepareRun(scenario);
        const auto* run = std::get_if<PreparedRun>(&prepared);
        if (run == nullptr)
        {
            continue;
        }
        compared++;
        const NetworkModel shared(scenario, run->layout, facts);
        std::optional<NetworkModel> fresh;
        ASSERT_EQ(
            CostsOf(*run, [&]() -> const NetworkModel& { return shared; }),
            CostsOf(*run,
                    [&]() -> const NetworkModel& { return fresh.emplace(scenario, run->layout); }))
            << CanonicalText(*plan);
    }
}

/// Phases that differ in anything are not taken for each other, nor where they are done.
TEST(KnownCosts, AreOfOnePlacedPhase)
{
    const PlacedPhase usual{{Pattern::RingAllGather, RankGroup({{1, 4}}), Bytes(64)}, 0, {}};
    std::vector<PlacedPhase> all(15, usual);
    all[1].phase.pattern = Pattern::RingReduceScatter;
    all[2].phase.group = RankGroup({{2, 4}});
    all[3].phase.bytes = Bytes(65);
    all[4].phase.shift = 2;
    all[5].phase.parts = 2;
    all[6].phase.chunk = Bytes(8);
    all[7].phase.perServer = 2;
    all[8].phase.lane = 1;
    all[9].phase.inside = StepCost();
    all[10].phase.between.perByte = 1;
    all[11].phase.occupied = 2;
    all[12].phase.slots.slots = 8;
    all[13].phase.width = 2;
    all[14].members = {{0, 4}};
    all.push_back(usual);
    all.back().representative = 1;
    PhaseCosts costs;
    for (uint32_t round = 0; round < 2; round++)
    {
        for (size_t i = 0; i < all.size(); i++)
        {
            const auto find = [&] {
                TransferCost cost;
                cost.least = round == 0 ? static_cast<double>(i) : -1;
                return cost;
            };
            EXPECT_EQ(costs.Of(all[i], find).least, i);
        }
    }
}

/// As many as five buildings have, 8 blocks of 16 stages with 60 phases each, are there when they
/// are asked for again in the same order.
TEST(KnownCosts, HoldThePhasesOfALargeLayout)
{
    PhaseCosts costs;
    uint32_t found = 0;
    for (uint32_t i = 0; i < 2 * 128 * 60; i++)
    {
        const uint32_t number = i % (128 * 60);
        const PlacedPhase placed{
            {Pattern::RingAllGather, RankGroup({{1, 4}}), Bytes(1 + number % 60)},
            number / 60,
            {}};
        costs.Of(placed, [&] {
            found++;
            return TransferCost();
        });
    }
    EXPECT_EQ(found, 128U * 60);
    EXPECT_EQ(costs.Size(), 128U * 60);
}

/// More phases than are kept are found again.
TEST(KnownCosts, AreFoundAgainWhenTheyAreTooMany)
{
    PhaseCosts costs;
    uint32_t found = 0;
    for (const uint32_t bytes : {1, 1, 2, 1})
    {
        const PlacedPhase placed{{Pattern::RingAllGather, RankGroup({{1, 4}}), Bytes(bytes)},
                                 0,
                                 {}};
        const auto find = [&] {
            found++;
            TransferCost cost;
            cost.least = bytes;
            return cost;
        };
        EXPECT_EQ(costs.Of(placed, find).least, bytes);
    }
    EXPECT_EQ(found, 2U);
    for (uint32_t round = 0; round < 2; round++)
    {
        for (uint32_t bytes = 0; bytes < 50000; bytes++)
        {
            const PlacedPhase placed{{Pattern::RingAllGather, RankGroup({{1, 4}}), Bytes(bytes)},
                                     round,
                                     {{0, bytes}}};
            const auto find = [&] {
                TransferCost cost;
                cost.least = bytes + 0.5 * round;
                return cost;
            };
            ASSERT_EQ(costs.Of(placed, find).least, bytes + 0.5 * round);
        }
    }
}

} // namespace

} // namespace scaleacross
