// SPDX-License-Identifier: GPL-2.0-only

#include "../../draws.h"
#include "../explore-fakes.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/search-space.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/plan-depth.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

namespace scaleacross
{

namespace
{

/// Texts of the plans that are no duplicates; checks that they are distinct.
std::vector<Plan>
Distinct(const SearchSpace& space)
{
    std::vector<Plan> plans;
    std::set<std::string> texts;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto made = space.At(i);
        if (const auto* plan = std::get_if<Plan>(&made))
        {
            plans.push_back(*plan);
            EXPECT_TRUE(texts.insert(CanonicalText(*plan)).second) << CanonicalText(*plan);
        }
        else
        {
            EXPECT_EQ(std::get<Infeasible>(made).reason, "duplicate");
        }
    }
    return plans;
}

TEST(SearchSpace, CountsInMixedRadixLastAxisFastest)
{
    // 64 GPUs: (tp, pp, dp) = (4,2,8) (4,4,4) (8,2,4) (8,4,2), as the header works out.
    const SearchSpace space(TwoBuildings("search: {plan: {tp: [4, 8], pp: [2, 4]}}\n"));
    ASSERT_EQ(space.Size(), 4);
    const uint32_t expected[4][3] = {{4, 2, 8}, {4, 4, 4}, {8, 2, 4}, {8, 4, 2}};
    for (uint64_t i = 0; i < 4; i++)
    {
        const Plan plan = std::get<Plan>(space.At(i));
        EXPECT_EQ(plan.parallel.tp, expected[i][0]);
        EXPECT_EQ(plan.parallel.pp, expected[i][1]);
        EXPECT_EQ(plan.parallel.dp, expected[i][2]);
    }
}

TEST(SearchSpace, WithoutAxesIsTheFixedPlan)
{
    const SearchSpace space(TwoBuildings("plan: {tp: 8, pp: 2}\n"));
    ASSERT_EQ(space.Size(), 1);
    EXPECT_EQ(std::get<Plan>(space.At(0)).parallel.dp, 4);
}

TEST(SearchSpace, KeepsGivenDataParallelDegree)
{
    const SearchSpace space(
        TwoBuildings("plan: {tp: 8, pp: 2, dp: 4}\nsearch: {plan: {pp: [2, 4]}}\n"));
    // pp 4 x tp 8 x dp 4 = 128: not 64, which the layout will refuse; the space does not mend it.
    EXPECT_EQ(std::get<Plan>(space.At(1)).parallel.dp, 4);
}

TEST(SearchSpace, IgnoresFieldsWithoutEffectAndNamesDuplicates)
{
    const SearchSpace space(TwoBuildings("plan: {tp: 8, pp: 2}\n"
                                         "search: {plan: {schedule: [1f1b, interleaved], "
                                         "chunks: [2, 4], round: [0, 4]}}\n"));
    ASSERT_EQ(space.Size(), 8);
    // 1f1b has one chunk and no round: one plan. interleaved has no round: one plan per chunk
    // count.
    const auto plans = Distinct(space);
    ASSERT_EQ(plans.size(), 3);
    EXPECT_EQ(plans[0].parallel.chunks, 1);
    EXPECT_EQ(plans[1].parallel.chunks, 2);
    EXPECT_EQ(plans[2].parallel.chunks, 4);
    const auto duplicate = std::get<Infeasible>(space.At(1));
    EXPECT_NE(duplicate.detail.find("plan.round 4 means the same as 0"), std::string::npos)
        << duplicate.detail;
}

TEST(SearchSpace, DoraPpInRoundsOfPpIsInterleaved)
{
    // m = 64 / dp 4 = 16 microbatches, pp = 2: round 0 and 2 are interleaved's, 4 is another order.
    const SearchSpace space(TwoBuildings("plan: {tp: 8, pp: 2, chunks: 2}\n"
                                         "search: {plan: {schedule: [interleaved, dorapp], "
                                         "round: [0, 2, 4]}}\n"));
    const auto plans = Distinct(space);
    ASSERT_EQ(plans.size(), 2);
    EXPECT_EQ(plans[0].parallel.schedule, Schedule("interleaved"));
    EXPECT_EQ(plans[1].parallel.schedule, Schedule("dorapp"));
    EXPECT_EQ(plans[1].parallel.round, 4);
}

TEST(SearchSpace, PlansOfOneRankThatDoTheSameAreOnePlan)
{
    // One stage has all layers, whatever counts as one; a rank that awaits nothing runs every split
    // backward with its weight gradient at once.
    const SearchSpace space(TwoBuildings(
        "plan: {tp: 8, pp: 1, apportion: time}\n"
        "search: {plan: {embedding_as_layer: [false, true], loss_as_layer: [false, true], "
        "schedule: [zb-h1, zb-h2, latency-aware, 1f1b], in_flight: [0, 3]}}\n"));
    std::vector<std::string> labels;
    for (const Plan& plan : Distinct(space))
    {
        labels.push_back(Label(plan));
    }
    EXPECT_THAT(labels,
                testing::ElementsAre(testing::HasSubstr("zb-h1"),
                                     testing::Not(testing::HasSubstr("zb-h"))));
}

TEST(SearchSpace, WhatSeveralFieldsMeanTogetherIsOnePlan)
{
    // ZeRO-1 is FSDP that keeps its weights, which reshard says of FSDP only.
    const SearchSpace space(
        TwoBuildings("plan: {tp: 8, pp: 2}\n"
                     "search: {plan: {reshard: [true, false], sharding: [fsdp, zero1]}}\n"));
    ASSERT_EQ(space.Size(), 4);
    std::set<uint64_t> meant;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        meant.insert(space.FirstMeaning(i));
    }
    EXPECT_EQ(meant.size(), 2U);
    EXPECT_EQ(Distinct(space).size(), 2U);
    // All values are named that are others.
    EXPECT_THAT(std::get<Infeasible>(space.At(2)).detail,
                testing::HasSubstr("plan.sharding zero1 and plan.reshard true mean the same as "
                                   "fsdp and false here"));
}

TEST(SearchSpace, ShardingInsideOneBuildingIsOne)
{
    const SearchSpace space(
        TwoBuildings("plan: {tp: 8, pp: 2}\n"
                     "search: {plan: {crossing: [dp, pp], sharding: [fsdp, hsdp]}, "
                     "network: {collective: [ring, hierarchical]}}\n"));
    // DP-out: 2 shardings x 2 collectives. PP-out: data groups stay inside a building: 1.
    EXPECT_EQ(Distinct(space).size(), 5);
}

/// Runs all plans of a space with and without removing duplicates: equal meaning, equal result.
void
ExpectDuplicatesRunAlike(const Study& study, uint64_t duplicates)
{
    const SearchSpace space(study);
    const AnalyticalEngine engine;
    const auto run = [&](const Plan& plan) {
        const auto result = engine.Run(space.With(plan), RunOptions());
        EXPECT_TRUE(std::holds_alternative<RunReport>(result))
            << CanonicalText(plan) << ": " << std::get<Infeasible>(result).detail;
        return std::get<RunReport>(result);
    };
    ASSERT_EQ(study.search.size(), 1);
    const auto& axis = study.search.front();
    uint64_t found = 0;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        if (std::holds_alternative<Plan>(space.At(i)))
        {
            continue;
        }
        found++;
        Plan earlier = std::get<Plan>(space.At(0));
        Plan later = earlier;
        FindPlanField(axis.key)->set(later, axis.values[i]);
        const RunReport a = run(earlier);
        const RunReport b = run(later);
        EXPECT_EQ(a.iterationTime, b.iterationTime) << CanonicalText(later);
        EXPECT_EQ(a.memoryMax, b.memoryMax) << CanonicalText(later);
        EXPECT_EQ(a.crossBuildingBytes, b.crossBuildingBytes) << CanonicalText(later);
    }
    EXPECT_EQ(found, duplicates);
}

TEST(SearchSpace, DuplicatesRunAlike)
{
    const std::string pipeline = "plan: {tp: 8, pp: 2, crossing: pp, sharding: fsdp";
    ExpectDuplicatesRunAlike(
        TwoBuildings(pipeline + "}\nsearch: {plan: {sharding: [fsdp, hsdp]}}\n"),
        1);
    ExpectDuplicatesRunAlike(
        TwoBuildings(pipeline + "}\nsearch: {network: {collective: [ring, hierarchical]}}\n"),
        1);
    ExpectDuplicatesRunAlike(TwoBuildings(pipeline + ", chunks: 2, schedule: interleaved}\n"
                                                     "search: {plan: {schedule: [interleaved, "
                                                     "dorapp]}}\n"),
                             1);
    ExpectDuplicatesRunAlike(TwoBuildings("plan: {tp: 8, pp: 8, crossing: pp}\n"
                                          "search: {plan: {sharding: [ddp, fsdp, hsdp]}}\n"),
                             2);
    ExpectDuplicatesRunAlike(OneBuilding("plan: {tp: 8, pp: 1}\n"
                                         "search: {plan: {crossing: [dp, pp]}}\n"),
                             1);
    ExpectDuplicatesRunAlike(OneBuilding("plan: {tp: 8, pp: 8}\n"
                                         "search: {plan: {crossing: [dp, pp]}}\n"),
                             1);
    ExpectDuplicatesRunAlike(OneBuilding("plan: {tp: 8, pp: 1}\n"
                                         "search: {plan: {crossing: [ep, tp-pp-ep-cp-dp]}}\n"),
                             1);
    ExpectDuplicatesRunAlike(OneBuilding("plan: {tp: 8, pp: 1, chunks: 3, schedule: interleaved}\n"
                                         "search: {plan: {apportion: [even, time]}}\n"),
                             1);
    ExpectDuplicatesRunAlike(TwoBuildings(pipeline +
                                          "}\nsearch: {plan: {embedding_as_layer: [false, "
                                          "true]}}\n"),
                             1);
    ExpectDuplicatesRunAlike(OneBuilding("plan: {tp: 8, pp: 1}\n"
                                         "search: {plan: {loss_as_layer: [false, true]}}\n"),
                             1);
}

TEST(SearchSpace, HoldsWhatMeansTheSameAsOneOfItsPlans)
{
    const Study study =
        TwoBuildings("search: {plan: {tp: [4, 8], pp: [1, 2], crossing: [dp, pp], "
                     "sharding: [ddp, fsdp, hsdp], reshard: [false, true]}, "
                     "network: {collective: [ring, hierarchical], qps: [4, 16]}}\n");
    const SearchSpace space(study);
    for (const Plan& plan : Distinct(space))
    {
        EXPECT_TRUE(space.Holds(plan)) << CanonicalText(plan);
    }
    // Inside a building fsdp is hsdp, and without a pipeline of several stages chunks mean nothing.
    Plan plan = Distinct(space).back();
    plan.parallel.pp = 2;
    plan.parallel.crossing = Crossing::Pipeline;
    plan.parallel.sharding = "hsdp";
    EXPECT_TRUE(space.Holds(plan)) << CanonicalText(plan);
    plan.network.qps = 8;
    EXPECT_FALSE(space.Holds(plan));
    plan.network.qps = 4;
    plan.parallel.tp = 2;
    EXPECT_FALSE(space.Holds(plan));
    plan.parallel.tp = 8;
    plan.parallel.microbatch = 2;
    EXPECT_FALSE(space.Holds(plan)); // of which the study has one value
}

TEST(SearchSpace, RecomputationOfTheSameIsNoOtherPlan)
{
    // Experts in every `every`-th layer, in none with 0.
    const auto study = [](uint32_t every, const std::string& recompute) {
        Study made =
            OneBuilding("plan: {tp: 8, pp: 1}\nsearch: {plan: {recompute: [" + recompute + "]}}\n");
        ModelSpec& model = made.scenario.Job().model;
        model.experts = every > 0 ? 32 : 0;
        model.topK = every > 0 ? 2 : 0;
        model.expertFfn = every > 0 ? 1024 : 0;
        model.sharedFfn = every > 0 ? 1024 : 0;
        model.moeEvery = every > 0 ? every : model.moeEvery;
        return made;
    };
    ExpectDuplicatesRunAlike(
        study(1, "moe, moe+shared-experts, activation+moe, activation+moe+shared-experts"),
        3);
    ExpectDuplicatesRunAlike(study(0, "mlp, activation+mlp"), 1);
    // With layers of both kinds activation functions are done again in those of the other.
    ExpectDuplicatesRunAlike(study(2, "moe, moe+shared-experts, moe+activation"), 1);
    ExpectDuplicatesRunAlike(study(2, "mlp+moe, mlp+moe+activation, mlp+moe+shared-experts"), 2);
}

TEST(SearchSpace, LayersThatAreWhereTheyAreAnywayAreNoOtherPlan)
{
    // How many layers the study's model has is its own affair: 8 over two stages.
    const std::string search = "plan: {tp: 8, pp: 2, crossing: pp, sharding: fsdp}\n"
                               "search: {plan: {layers: [auto, 4+4, 5+3, 3+5], embedding_as_layer: "
                               "[false, true], loss_as_layer: [false, true]}}\n";
    Study study = TwoBuildings(search);
    study.scenario.Job().model.layers = 8;
    const SearchSpace space(study);
    ASSERT_EQ(space.Size(), 16);
    // auto: 4+4 for none and both of (8 + 2) / 2 = 5 less one each. With one of them 9 are 5 + 4:
    // less the embedding 4+4, less the loss 5+3. Said: 4+4 is auto; that 5+3 is what another field
    // says, in exchange, is not looked for. What says layers and counts ends as well, 3 x 3, is
    // refused later, and no duplicate of anything.
    std::vector<std::string> labels;
    size_t refused = 0;
    for (const Plan& plan : Distinct(space))
    {
        if (plan.parallel.FindConflict())
        {
            refused++;
            continue;
        }
        labels.push_back(Label(plan));
    }
    EXPECT_EQ(refused, 9U);
    const std::string common = "TP8 PP2 DP4 PP-out FSDP 1f1b b1";
    EXPECT_EQ(labels,
              (std::vector<std::string>{common,
                                        common + " loss-as-layer",
                                        common + " layers=5+3",
                                        common + " layers=3+5"}));
}

TEST(SearchSpace, ExpertTensorParallelismIsVariedWhereAStudySaysSo)
{
    // tp 4, cp 1: left out and 4 mean the same, so of {0, 1, 2, 4} there are three.
    const auto study = [](const std::string& search) {
        Study made = TwoBuildings("plan: {tp: 4}\nsearch: {plan: {" + search + "}}\n");
        ModelSpec& model = made.scenario.Job().model;
        model.experts = 32;
        model.topK = 2;
        model.expertFfn = 1024;
        model.moeEvery = 1;
        return made;
    };
    const SearchSpace space(study("etp: [0, 1, 2, 4]"));
    ASSERT_EQ(space.Size(), 4);
    const auto same = std::get<Infeasible>(space.At(3));
    EXPECT_EQ(same.reason, "duplicate");
    EXPECT_NE(same.detail.find("plan.etp 4 means the same as 0"), std::string::npos) << same.detail;
    ExpectDuplicatesRunAlike(study("etp: [0, 1, 2, 4]"), 1);
    // Where ep goes over cp, it does not.
    const SearchSpace context(study("cp: [2], ep: [4], etp: [0, 4]"));
    EXPECT_EQ(Distinct(context).size(), 2U);
    // Of a single rank any sharding is one, but not of experts that tensor ranks have copies of.
    const auto alone = [&study](uint32_t etp) {
        Study made = study("sharding: [ddp, fsdp]");
        made.scenario.Job().plan.etp = etp;
        made.scenario.Job().plan.tp = 8;
        made.scenario.Job().plan.pp = 8;
        return Distinct(SearchSpace(made)).size();
    };
    EXPECT_EQ(alone(0), 1U);
    EXPECT_EQ(alone(1), 2U);
}

TEST(SearchSpace, WaysOfAllToAllsThatAreTheSameAreNoOtherPlan)
{
    const auto made = [](Study study, const std::string& words) {
        study.search = {{"network.all_to_all", {}}};
        std::istringstream text(words);
        for (std::string word; text >> word;)
        {
            study.search.front().values.push_back(word);
        }
        ModelSpec& model = study.scenario.Job().model;
        model.experts = 8;
        model.topK = 2;
        model.expertFfn = 1024;
        model.moeEvery = 1;
        return study;
    };
    const auto with = [](const std::string& plan, const std::string& collective) {
        return "plan: {tp: 2, " + plan + "}\nnetwork: {collective: " + collective + "}\n";
    };
    // Only tokens of experts go all to all: none where every rank has all experts.
    std::string all = "direct";
    for (const std::string& word : AllToAllAlgorithm::Names())
    {
        all += word == "direct" ? "" : " " + word;
    }
    const uint64_t others = AllToAllAlgorithm::Names().size() - 1;
    ExpectDuplicatesRunAlike(made(TwoBuildings(with("crossing: dp", "ring")), all), others);
    ExpectDuplicatesRunAlike(made(OneBuilding(with("crossing: dp", "auto")), all), others);
    // Said outright is what it follows anyway.
    const std::string across = "ep: 8, crossing: ep";
    ExpectDuplicatesRunAlike(
        made(TwoBuildings(with(across, "hierarchical")), "building direct rail follow"),
        1);
    for (const char* other : {"ring", "halving-doubling", "bidirectional-ring", "tree"})
    {
        ExpectDuplicatesRunAlike(
            made(TwoBuildings(with(across, other)), "direct building rail follow"),
            1);
    }
    EXPECT_EQ(
        Distinct(SearchSpace(made(TwoBuildings(with(across, "auto")), "follow direct building")))
            .size(),
        3U);
    // Inside one building there is none to make a hop in.
    for (const char* collective : {"ring", "hierarchical"})
    {
        ExpectDuplicatesRunAlike(
            made(OneBuilding(with("ep: 8", collective)), "direct building follow rail"),
            2);
        ExpectDuplicatesRunAlike(made(TwoBuildings(with("ep: 8, pp: 2, crossing: pp", collective)),
                                      "direct building follow rail"),
                                 2);
    }
}

/// 8 experts' ranks of one GPU are a server: no hop is elsewhere. Kernels and copies cost time
/// there, too. Experts of two GPUs each are two servers.
TEST(SearchSpace, ExchangesInsideServersHaveNoHops)
{
    const auto count = [](const std::string& plan, const std::string& collective) {
        Study study = TwoBuildings("plan: {tp: 2, ep: 8, " + plan +
                                   "}\nnetwork: {collective: " + collective + "}\n");
        study.search = {{"network.all_to_all", {"direct", "rail", "building", "once", "deepep"}}};
        ModelSpec& model = study.scenario.Job().model;
        model.experts = 8;
        model.topK = 2;
        model.expertFfn = 1024;
        model.moeEvery = 1;
        return Distinct(SearchSpace(study)).size();
    };
    for (const char* crossing : {"dp", "pp, pp: 2"})
    {
        const std::string across = std::string(", crossing: ") + crossing;
        EXPECT_EQ(count("etp: 1" + across, "ring"), 3U) << across;
        EXPECT_EQ(count("etp: 1" + across, "auto"), 3U) << across;
        EXPECT_GT(count("etp: 2" + across, "ring"), 3U) << across;
    }
    EXPECT_EQ(count("etp: 1, crossing: ep", "ring"), 5U);
}

TEST(SearchSpace, OrdersOfExpertsCountInOneBuilding)
{
    // TP8 DP8 with whole experts, ep 4: within tp, hence nothing of dp is counted as ep. But ep
    // before dp takes neighbours, and dp before ep every sixteenth rank.
    Study study = OneBuilding("plan: {tp: 8}\nsearch: {plan: {crossing: [dp, pp, ep]}}\n");
    ModelSpec& model = study.scenario.Job().model;
    model.experts = 4;
    model.topK = 2;
    model.expertFfn = 1024;
    model.moeEvery = 1;
    study.scenario.Job().plan.ep = 4;
    study.scenario.Job().plan.etp = 1;
    EXPECT_EQ(Distinct(SearchSpace(study)).size(), 2U);
    ExpectDuplicatesRunAlike(study, 1);
}

/// What a search makes of a plan takes the time that the plan takes as it is written: one stage or
/// several, every schedule, whatever has to be gathered again.
TEST(SearchSpace, APlanTakesTheTimeThatItsSearchSays)
{
    uint32_t held = 0;
    uint32_t onOneStage = 0;
    for (const std::string& schedule : Schedule::Names())
    {
        for (const uint32_t pp : {1U, 2U})
        {
            for (const uint32_t chunks : {1U, 2U, 4U})
            {
                for (const std::string sharding : {"ddp", "fsdp, reshard: true", "hsdp"})
                {
                    const Study study = TwoBuildings(
                        "plan: {tp: 8, pp: " + std::to_string(pp) + ", schedule: " + schedule +
                        ", chunks: " + std::to_string(chunks) +
                        ", round: 4, prefetch: 1, sharding: " + sharding + "}\n");
                    Scenario written = study.scenario;
                    written.Job().plan.dp = 8 / pp;
                    const auto result = AnalyticalEngine().Run(written, RunOptions());
                    const auto* report = std::get_if<RunReport>(&result);
                    if (report == nullptr)
                    {
                        continue; // so many chunks are not the schedule's
                    }
                    const SearchSpace space(study);
                    const auto searched =
                        AnalyticalEngine().Run(space.With(std::get<Plan>(space.At(0))),
                                               RunOptions());
                    const auto& other = std::get<RunReport>(searched);
                    const std::string text = CanonicalText({written.Job().plan, written.network});
                    EXPECT_EQ(report->iterationTime, other.iterationTime) << text;
                    EXPECT_EQ(report->memoryMax, other.memoryMax) << text;
                    held++;
                    onOneStage += pp == 1 ? 1 : 0;
                }
            }
        }
    }
    EXPECT_GE(held, 3 * 2 * Schedule::Names().size());
    EXPECT_GE(onOneStage, 3 * Schedule::Names().size());
}

/// A study with some axes of values that may well mean the same, drawn.
Study
DrawStudy(std::mt19937& random)
{
    static const std::vector<std::pair<std::string, std::vector<std::string>>> pool = {
        {"plan.tp", {"1", "2", "8"}},
        {"plan.cp", {"1", "2"}},
        {"plan.ep", {"1", "2", "4"}},
        {"plan.etp", {"0", "1", "2"}},
        {"plan.pp", {"1", "2", "4"}},
        {"plan.crossing", {"dp", "pp", "tp-cp-ep-pp-dp", "tp-cp-ep-dp-pp", "ep"}},
        {"plan.microbatch", {"1", "2", "3"}},
        {"plan.apportion", {"even", "time"}},
        {"plan.schedule", {"1f1b", "interleaved", "dorapp", "zb-h1", "latency-aware"}},
        {"plan.chunks", {"1", "2", "4"}},
        {"plan.round", {"0", "2", "4"}},
        {"plan.in_flight", {"0", "3"}},
        {"plan.layers", {"auto", "7+9+9+7", "8+8+8+8", "16+16"}},
        {"plan.embedding_as_layer", {"false", "true"}},
        {"plan.loss_as_layer", {"true", "false"}},
        {"plan.recompute", {"none", "selective", "full", "norm", "shared-experts"}},
        {"plan.recompute_layers", {"4", "0", "1", "16", "9"}},
        {"plan.offload_layers", {"2", "0"}},
        {"plan.async_tp", {"true", "false"}},
        {"plan.sharding", {"ddp", "zero1", "zero2", "hsdp", "fsdp"}},
        {"plan.shard_ranks", {"8", "0", "2"}},
        {"plan.reshard", {"false", "true"}},
        {"plan.reduce", {"accumulated", "microbatch"}},
        {"plan.prefetch", {"1", "0"}},
        {"plan.bucket", {"0B", "1GiB"}},
        {"network.collective", {"ring", "hierarchical", "tree", "auto"}},
        {"network.all_to_all", {"rail", "building", "follow", "direct", "once"}},
        {"network.qps", {"1", "4"}},
    };
    const bool moe = random() % 2 == 0;
    Study study = random() % 2 == 0 ? OneBuilding("") : TwoBuildings("");
    if (moe)
    {
        study.scenario.Job().model.experts = 8;
        study.scenario.Job().model.topK = 2;
        study.scenario.Job().model.expertFfn = 4096;
        study.scenario.Job().model.moeEvery = 1;
    }
    std::vector<size_t> chosen(pool.size());
    std::iota(chosen.begin(), chosen.end(), 0);
    // Seven are varied, over some of their values in any order, and some others are given.
    Plan plan{study.scenario.Job().plan, study.scenario.network};
    for (size_t i = 0; i < 11; i++)
    {
        std::swap(chosen[i], chosen[i + random() % (chosen.size() - i)]);
        auto [key, values] = pool[chosen[i]];
        for (size_t v = 0; v + 1 < values.size(); v++) // std::shuffle is not the same everywhere
        {
            std::swap(values[v], values[v + random() % (values.size() - v)]);
        }
        if (i >= 7)
        {
            FindPlanField(key)->set(plan, values.front());
            continue;
        }
        values.resize(std::max<size_t>(values.size() - random() % 2, 2));
        study.search.push_back({key, values});
    }
    study.scenario.Job().plan = plan.parallel;
    study.scenario.network = plan.network;
    return study;
}

/// Distinct plans of a family, counted one by one; checks what the space says of it and of all
/// below.
uint64_t
CountFamily(const SearchSpace& space,
            size_t level,
            uint64_t number,
            const std::vector<bool>& isDistinct)
{
    const uint64_t size = space.FamilySize(level);
    const auto begin = isDistinct.begin() + static_cast<ptrdiff_t>(number * size);
    const auto expected =
        static_cast<uint64_t>(std::count(begin, begin + static_cast<ptrdiff_t>(size), true));
    const auto first = space.FirstOf(level, number);
    if (!first)
    {
        EXPECT_EQ(expected, 0) << space.Text() << " level " << level << " family " << number;
        return 0;
    }
    EXPECT_EQ(CanonicalText(space.KnownFirstOf(level, number)), CanonicalText(*first));
    const SearchSpace::Parts& told = space.PartsOf(level, number, *first);
    EXPECT_EQ(told.count, expected) << space.Text() << " level " << level << " family " << number;
    uint64_t sum = level + 1 == space.Levels().size() ? 1 : 0;
    if (sum == 0)
    {
        const uint64_t parts = size / space.FamilySize(level + 1);
        for (uint64_t part = 0; part < parts; part++)
        {
            const uint64_t count = CountFamily(space, level + 1, number * parts + part, isDistinct);
            const auto& known = told.distinct;
            EXPECT_EQ(count > 0, std::find(known.begin(), known.end(), part) != known.end())
                << space.Text() << " level " << level << " family " << number;
            sum += count;
        }
    }
    EXPECT_EQ(sum, expected) << space.Text() << " level " << level << " family " << number;
    return sum;
}

// By hand: 32 layers over two stages. 16+16 is how they lie anyway, where recomputing 16 is
// recomputing all; with 15+17 one of 17 is left out. Whichever comes first, neither is taken for
// the other.
TEST(SearchSpace, LayersThatAreGivenAreNotTakenForThoseThatAreEven)
{
    for (const char* layers : {"[16+16, 15+17]", "[15+17, 16+16]"})
    {
        const SearchSpace space(
            TwoBuildings("plan: {tp: 8, pp: 2, recompute: full, schedule: 1f1b}\n"
                         "search: {plan: {layers: " +
                         std::string(layers) + ", recompute_layers: [0, 16]}}\n"));
        const bool evenFirst = std::string(layers).find("[16") == 0;
        uint64_t sum = 0;
        for (const uint64_t family : {0, 1})
        {
            const auto first = space.FirstOf(0, family);
            const uint64_t count = space.PartsOf(0, family, first.value()).count;
            EXPECT_EQ(count, (family == 0) == evenFirst ? 1U : 2U) << layers;
            sum += count;
        }
        EXPECT_EQ(Distinct(space).size(), sum);
    }
}

TEST(SearchSpace, WhatIsRefusedIsNotTakenForWhatRuns)
{
    // By time, a number of recomputed layers is refused; with one rank, shard_ranks of FSDP are.
    const SearchSpace byTime(TwoBuildings("plan: {tp: 8, pp: 2, recompute: full, apportion: time}\n"
                                          "search: {plan: {recompute_layers: [16, 0]}}\n"));
    EXPECT_TRUE(byTime.PlanAt(1).has_value());
    // On one stage of one building time deals out nothing, and refuses nothing.
    const SearchSpace single(OneBuilding("plan: {tp: 8, pp: 1, recompute: full, apportion: time}\n"
                                         "search: {plan: {recompute_layers: [16, 0]}}\n"));
    EXPECT_EQ(Distinct(single).size(), 2U);
    EXPECT_FALSE(single.PlanAt(0)->parallel.FindConflict());
    const SearchSpace alone(TwoBuildings("plan: {tp: 8, pp: 8}\n"
                                         "search: {plan: {sharding: [fsdp, hsdp], shard_ranks: [8, "
                                         "0]}}\n"));
    EXPECT_TRUE(alone.PlanAt(1).has_value()); // fsdp, 0
}

// What a family counts without looking at its plans is what they are, whatever a study varies.
TEST(SearchSpace, FamiliesHaveTheDistinctPlansOfTheirNumbers)
{
    std::mt19937 random(19);
    const size_t draws = Draws(200);
    for (size_t draw = 0; draw < draws && !testing::Test::HasFailure(); draw++)
    {
        const SearchSpace space(DrawStudy(random));
        std::vector<bool> isDistinct;
        for (uint64_t i = 0; i < space.Size(); i++)
        {
            isDistinct.push_back(space.PlanAt(i).has_value());
        }
        uint64_t sum = 0;
        const uint64_t heads = space.Size() / space.FamilySize(0);
        for (uint64_t head = 0; head < heads; head++)
        {
            sum += CountFamily(space, 0, head, isDistinct);
        }
        EXPECT_EQ(sum,
                  static_cast<uint64_t>(std::count(isDistinct.begin(), isDistinct.end(), true)));
    }
}

// tp {1, 2, 4} and pp {1, 2}: plan 2 is (2, 1), beside (1, 1), (4, 1) and (2, 2).
TEST(SearchSpace, NeighboursDifferInOneAxis)
{
    const SearchSpace space(TwoBuildings("search: {plan: {tp: [1, 2, 4], pp: [1, 2]}}\n"));
    EXPECT_EQ(space.NeighboursOf(2), (std::vector<uint64_t>{0, 4, 3}));
}

// Every number stands for a distinct plan, and every plan is found by what it is.
TEST(SearchSpace, FindsPlansByWhatTheyMean)
{
    std::mt19937 random(23);
    const size_t draws = Draws(20);
    for (size_t draw = 0; draw < draws && !testing::Test::HasFailure(); draw++)
    {
        const SearchSpace space(DrawStudy(random));
        for (uint64_t i = 0; i < space.Size(); i++)
        {
            const uint64_t meant = space.FirstMeaning(i);
            const auto plan = space.PlanAt(meant);
            ASSERT_TRUE(plan) << space.Text() << " " << i;
            EXPECT_EQ(space.PlanAt(i).has_value(), meant == i);
            EXPECT_EQ(space.NumberOf(*plan), meant) << space.Text() << " " << i;
        }
    }
}

/// The plan of a study that has the values of its space's plan `index` and no other.
Plan
PlanOf(Study study, uint64_t index)
{
    const SearchSpace space(study);
    // Axes in the order of the space, the last running fastest.
    std::stable_sort(study.search.begin(), study.search.end(), [](const auto& a, const auto& b) {
        return DepthOf(a.key) < DepthOf(b.key);
    });
    for (size_t i = study.search.size(); i-- > 0;)
    {
        SearchAxis& axis = study.search[i];
        const std::string own = axis.values[index % axis.values.size()];
        index /= axis.values.size();
        axis.values = {own};
    }
    return std::get<Plan>(SearchSpace(study).At(0));
}

// Whatever a study varies: what is left out runs as that of which it is said to mean the same.
TEST(SearchSpace, WhatIsLeftOutRunsAsWhatItIsSaidToMean)
{
    std::mt19937 random(7);
    const size_t draws = Draws(100);
    size_t ran = 0;
    for (size_t draw = 0; draw < draws && !testing::Test::HasFailure(); draw++)
    {
        const Study study = DrawStudy(random);
        const SearchSpace space(study);
        for (size_t tries = 0; tries < 10; tries++)
        {
            const uint64_t index = random() % space.Size();
            const auto made = space.At(index);
            const auto* no = std::get_if<Infeasible>(&made);
            if (no == nullptr)
            {
                continue;
            }
            const Plan left = PlanOf(study, index);
            const Plan kept = PlanOf(study, space.FirstMeaning(index));
            const auto a = AnalyticalEngine().Run(space.With(left), RunOptions());
            const auto b = AnalyticalEngine().Run(space.With(kept), RunOptions());
            const auto* one = std::get_if<RunReport>(&a);
            const auto* other = std::get_if<RunReport>(&b);
            if (one != nullptr) // what is refused may mean something that runs
            {
                ASSERT_NE(other, nullptr) << no->detail;
                EXPECT_EQ(one->iterationTime, other->iterationTime)
                    << no->detail << ": " << space.Text();
                EXPECT_EQ(one->memoryMax, other->memoryMax) << no->detail;
                EXPECT_EQ(one->crossBuildingBytes, other->crossBuildingBytes) << no->detail;
                ran++;
            }
        }
    }
    EXPECT_GE(ran, draws / 4);
}

TEST(SearchSpace, LabelsTellVariedNetworkFields)
{
    const SearchSpace space(
        TwoBuildings("plan: {tp: 8, pp: 2}\nsearch: {network: {qps: [1, 4]}}\n"));
    const Plan plan = std::get<Plan>(space.At(1));
    EXPECT_EQ(space.LabelOf(plan), Label(plan) + " qps=4");
}

TEST(SearchSpace, NamesFixedAndVariedValues)
{
    const SearchSpace space(TwoBuildings("plan: {tp: 8}\nsearch: {plan: {pp: [2, 4]}}\n"));
    EXPECT_EQ(space.ValuesOf("plan.pp"), (std::vector<std::string>{"2", "4"}));
    EXPECT_EQ(space.ValuesOf("plan.crossing"), std::vector<std::string>{"dp"});
}

TEST(SearchSpace, RefusesWrongAxes)
{
    Study study = TwoBuildings("plan: {tp: 8}\n");
    const auto whereOf = [&study](std::vector<SearchAxis> axes) {
        study.search = std::move(axes);
        try
        {
            SearchSpace space(study);
        }
        catch (const ConfigError& error)
        {
            return error.Where();
        }
        return std::string("nothing");
    };
    EXPECT_EQ(whereOf({{"plan.tq", {"1"}}}), "search.plan.tq");
    EXPECT_EQ(whereOf({{"plan.tp", {}}}), "search.plan.tp");
    EXPECT_EQ(whereOf({{"plan.tp", {"eight"}}}), "search.plan.tp");
    EXPECT_EQ(whereOf({{"plan.tp", {"1"}}, {"plan.tp", {"2"}}}), "search.plan.tp");
}

} // namespace

} // namespace scaleacross
