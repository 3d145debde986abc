// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/baselines/choose-baseline.h"
#include "core/explore/fit-check.h"
#include "core/io/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// Everything fits that has the number of GPUs and, if given, that `fits`.
Filter
DegreesFit(const std::function<bool(const ParallelPlan&)>& fits = nullptr)
{
    return [fits](const Scenario& scenario,
                  const IsWorthMore& /* isWorthMore */) -> std::variant<ClosedForm, Infeasible> {
        const ParallelPlan& plan = scenario.Job().plan;
        if (plan.Ranks() != scenario.cluster.Gpus() || plan.dp % plan.ep != 0)
        {
            return Infeasible{"degrees", "they do not fit"};
        }
        if (fits && !fits(plan))
        {
            return Infeasible{"memory", "needs 99 GiB"};
        }
        return ClosedForm();
    };
}

std::variant<Plan, Infeasible>
Choice(const std::string& name, const Study& study, const FakeEngine::Time& time, Filter filter)
{
    SearchOptions options;
    options.jobs = 1;
    options.filter = std::move(filter);
    if (IsReference(name))
    {
        const auto sites = std::get<std::vector<OneSite>>(Baseline(name)->sites(study));
        return ChooseOnSite(name, sites.front().study, FakeEngine(time), options);
    }
    return ChooseBaseline(name, study, FakeEngine(time), options);
}

Plan
Choose(const std::string& name,
       const Study& study,
       const FakeEngine::Time& time,
       const Filter& filter = DegreesFit())
{
    const auto chosen = Choice(name, study, time, filter);
    if (const auto* none = std::get_if<Infeasible>(&chosen))
    {
        ADD_FAILURE() << none->reason << ": " << none->detail;
        return {};
    }
    return std::get<Plan>(chosen);
}

/// |a - b| in microseconds, from 1: least at the target.
Duration
Away(uint32_t a, uint32_t b)
{
    return Duration::Seconds(1000.0 + (a > b ? a - b : b - a)); // above any bound
}

TEST(Baselines, KeepTheirRuleWhateverTheStudySays)
{
    const Study study = TwoBuildings("plan: {tp: 1, crossing: pp, sharding: ddp, schedule: gpipe}\n"
                                     "network: {qps: 2, collective: ring}\n");
    const auto alike = [](const ParallelPlan& /* plan */) { return Duration::Microseconds(1); };
    const Plan production = Choose("production", study, alike);
    // llama3-8b has 8 KV heads, a server 8 GPUs.
    EXPECT_EQ(production.parallel.tp, 8);
    EXPECT_EQ(production.parallel.crossing, Crossing::Data);
    EXPECT_EQ(production.parallel.sharding, Sharding("hsdp"));
    EXPECT_FALSE(production.parallel.reshard);
    EXPECT_EQ(production.network.qps, 16);
    EXPECT_EQ(production.network.multipath, Multipath("e-ecmp"));
    EXPECT_EQ(production.network.collective, CollectiveAlgorithm("hierarchical"));
    const Plan megatron = Choose("megatron", study, alike);
    EXPECT_EQ(megatron.parallel.sharding, Sharding("fsdp"));
    EXPECT_FALSE(megatron.parallel.reshard);
    EXPECT_EQ(megatron.parallel.crossing, Crossing::Pipeline);
    EXPECT_EQ(megatron.network.qps, 2);
    EXPECT_EQ(megatron.network.collective, CollectiveAlgorithm("ring"));
}

/// Whatever value of a tuned field is the fastest, that is the one: over complete sets of values.
/// llama3-8b has 32 layers: chunks divide 32 or 34; 64 GPUs; the batch is 64.
TEST(Baselines, TuneWhatTheirSchoolTunes)
{
    const Study study = TwoBuildings("plan: {tp: 8}\n");
    for (const std::string name : {"production", "megatron"})
    {
        for (const uint32_t chunks : {4U, 16U})
        {
            EXPECT_EQ(Choose(name,
                             study,
                             [chunks](const ParallelPlan& plan) {
                                 return Away(plan.chunks, chunks) + Away(plan.pp, 2);
                             })
                          .parallel.chunks,
                      chunks)
                << name;
        }
        const auto chosen = [&](const FakeEngine::Time& time) {
            return Choose(name, study, time).parallel;
        };
        EXPECT_EQ(chosen([](const ParallelPlan& plan) { return Away(plan.pp, 4); }).pp, 4) << name;
        EXPECT_EQ(chosen([](const ParallelPlan& plan) { return Away(plan.cp, 2); }).cp, 2) << name;
        EXPECT_EQ(
            chosen([](const ParallelPlan& plan) { return Away(plan.microbatch, 4); }).microbatch,
            4)
            << name;
    }
    EXPECT_EQ(Choose("megatron", study, [](const ParallelPlan& plan) { return Away(plan.tp, 2); })
                  .parallel.tp,
              2);
}

/// Whatever would be the fastest. A stage of llama3-70b on 64 GPUs keeps more of a microbatch than
/// it has memory for; that of llama3-8b does not.
TEST(Baselines, RecomputeTheLeastThatFits)
{
    const auto fullest = [](const ParallelPlan& plan) {
        return Away(plan.recompute == Recompute("full") ? 0 : 1, 0) + Away(plan.microbatch, 8);
    };
    for (const std::string model : {"llama3-8b", "llama3-70b"})
    {
        Study study = TwoBuildings("plan: {tp: 8}\n");
        study.scenario.Job().model = ModelPreset(model);
        for (const std::string name : {"production", "megatron"})
        {
            const Plan chosen = Choose(name, study, fullest, ClosedFormFilter());
            Scenario scenario = study.scenario;
            scenario.Job().plan = chosen.parallel;
            scenario.network = chosen.network;
            scenario.Job().plan.recompute = Recompute("none");
            const bool fits = !CheckFit(scenario);
            EXPECT_EQ(fits, chosen.parallel.recompute == Recompute("none")) << name;
            EXPECT_EQ(fits, model == "llama3-8b") << name;
            scenario.Job().plan.recompute = Recompute("selective");
            EXPECT_TRUE(CheckFit(scenario) || chosen.parallel.recompute != Recompute("full"))
                << name;
        }
    }
}

TEST(Baselines, TuneExperts)
{
    // 16 experts.
    Study study = TwoBuildings("plan: {tp: 8}\n");
    study.scenario.Job().model = ModelPreset("llama4-scout");
    for (const uint32_t ep : {4U})
    {
        for (const std::string name : {"production", "megatron"})
        {
            EXPECT_EQ(
                Choose(name, study, [ep](const ParallelPlan& plan) { return Away(plan.ep, ep); })
                    .parallel.ep,
                ep)
                << name;
        }
    }
}

TEST(Baselines, MegatronTunesTheSplitOfExpertsWhereAStudyNamesIt)
{
    // The fastest plan of all has whole experts.
    const auto time = [](const ParallelPlan& plan) {
        return Duration::Microseconds(plan.etp == 1 ? 1 : 100);
    };
    const auto choose = [&time](const std::string& name, const std::string& rest) {
        Study study = TwoBuildings("plan: {tp: 8}\n" + rest);
        study.scenario.Job().model = ModelPreset("llama4-scout");
        return Choose(name, study, time).parallel.etp;
    };
    EXPECT_EQ(choose("megatron", ""), 0U);
    EXPECT_EQ(choose("megatron", "search: {plan: {etp: [0, 2]}}\n"), 1U);
    EXPECT_EQ(choose("production", "search: {plan: {etp: [0, 2]}}\n"), 0U);
}

TEST(Baselines, MegatronFallsBackToDataParallelOutside)
{
    // DP-out counts only where no plan of PP-out can run, however fast it would be.
    const auto time = [](const ParallelPlan& plan) {
        return Duration::Microseconds(plan.crossing == Crossing::Data ? 1 : 100);
    };
    const Study study = TwoBuildings("plan: {tp: 8}\n");
    EXPECT_EQ(Choose("megatron", study, time).parallel.crossing, Crossing::Pipeline);
    const auto inside =
        DegreesFit([](const ParallelPlan& plan) { return plan.crossing != Crossing::Pipeline; });
    EXPECT_EQ(Choose("megatron", study, time, inside).parallel.crossing, Crossing::Data);
}

TEST(Baselines, SayWhyThereIsNone)
{
    const auto never = DegreesFit([](const ParallelPlan& /* plan */) { return false; });
    const auto time = [](const ParallelPlan& /* plan */) { return Duration::Microseconds(1); };
    for (const BaselineFacts* baseline : Baseline::Rows())
    {
        const auto chosen = Choice(baseline->word, TwoBuildings("plan: {tp: 8}\n"), time, never);
        ASSERT_TRUE(std::holds_alternative<Infeasible>(chosen)) << baseline->word;
        EXPECT_EQ(std::get<Infeasible>(chosen).reason, "memory");
        EXPECT_THAT(std::get<Infeasible>(chosen).detail, testing::HasSubstr("needs 99 GiB"));
        EXPECT_FALSE(baseline->tunes.empty());
        EXPECT_FALSE(baseline->untouched.empty());
    }
}

TEST(Baselines, FitARealStudy)
{
    const Study study = TwoBuildings("plan: {tp: 8}\n");
    for (const BaselineFacts* baseline : Baseline::Rows())
    {
        const bool isReference = baseline->sites != nullptr;
        const Study own = isReference
                              ? std::get<std::vector<OneSite>>(baseline->sites(study)).front().study
                              : study;
        const auto chosen = isReference ? ChooseOnSite(*baseline, own, AnalyticalEngine(), {})
                                        : ChooseBaseline(*baseline, study, AnalyticalEngine(), {});
        ASSERT_TRUE(std::holds_alternative<Plan>(chosen)) << std::get<Infeasible>(chosen).detail;
        Scenario scenario = own.scenario;
        scenario.Job().plan = std::get<Plan>(chosen).parallel;
        scenario.network = std::get<Plan>(chosen).network;
        EXPECT_FALSE(CheckFit(scenario));
    }
}

} // namespace

} // namespace scaleacross
