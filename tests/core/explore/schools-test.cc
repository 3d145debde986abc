// SPDX-License-Identifier: GPL-2.0-only
//
// Schools of planning that are reconstructed from papers, and the best of one dimension alone.

#include "../explore-fakes.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/baselines/choose-baseline.h"
#include "core/explore/baselines/one-dimension.h"
#include "core/explore/fit-check.h"
#include "core/io/presets.h"
#include "core/io/text-file.h"
#include "core/pipeline/pipeline-schedule.h"
#include "places.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace scaleacross
{

namespace
{

using school::IsOf;
using school::SearchDimension;

/// Schools of one dimension, and which.
const std::map<std::string, SearchDimension> g_alone = {
    {"placement-only", SearchDimension::Placement},
    {"schedule-only", SearchDimension::Schedule},
    {"parallelism-only", SearchDimension::Parallelism},
    {"network-only", SearchDimension::Network},
};

std::vector<const BaselineFacts*>
Schools()
{
    std::vector<const BaselineFacts*> schools;
    for (const BaselineFacts* row : Baseline::Rows())
    {
        if (row->sites == nullptr)
        {
            schools.push_back(row);
        }
    }
    return schools;
}

std::vector<Study>
ShippedStudies()
{
    std::vector<Study> studies;
    for (const auto& entry : std::filesystem::directory_iterator(SourcePath("examples")))
    {
        if (std::filesystem::exists(entry.path() / "study.yaml"))
        {
            studies.push_back(ReadStudy(entry.path() / "study.yaml"));
        }
    }
    return studies;
}

/// 16 GPUs in two buildings, of which every plan takes well under a millisecond to run.
Study
Small(const std::string& rest)
{
    return ParseStudy("study: small\n"
                      "model: {name: tiny, layers: 4, hidden: 512, heads: 8, head_dim: 64, "
                      "dense_ffn: 2048, vocabulary: 4096}\n"
                      "workload: {sequence: 512, global_batch: 16}\n"
                      "cluster:\n"
                      "  buildings: {count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, "
                      "fabric: {rails: true, spines: 2}}\n"
                      "  cross: {distance: 10km, oversubscription: 4}\n"
                      "plan: {tp: 4, pp: 2, crossing: dp, sharding: hsdp, schedule: 1f1b}\n" +
                          rest,
                      "small/study.yaml");
}

Plan
Fixed(const Study& study)
{
    return SearchSpace(study).Fixed();
}

/// Values of the fields of `network` that a rule leaves to the study.
bool
HasNetworkOf(const Study& study, const Plan& plan, const std::set<std::string>& but = {})
{
    const Plan fixed = Fixed(study);
    const auto& fields = PlanFields();
    return std::all_of(fields.begin(), fields.end(), [&](const PlanField& field) {
        return field.key.rfind("network.", 0) != 0 || but.count(field.key) > 0 ||
               field.get(plan) == field.get(fixed);
    });
}

/// Whether a plan is one of the school, by what its source says and not by its axes. Of a school
/// that begins at the plan of another one, `study` has that.
bool
KeepsRule(const std::string& name, const Study& study, const Plan& plan)
{
    const ParallelPlan& p = plan.parallel;
    const ModelSpec& model = study.scenario.Job().model;
    const uint32_t server = study.scenario.cluster.buildings.front().gpusPerNode;
    const bool inServer = server % p.tp == 0 && model.heads % p.tp == 0;
    const bool whole = p.sharding == Sharding("ddp") || p.sharding == Sharding("zero1");
    const bool pipelineOut = p.crossing == Crossing::Pipeline;
    if (name == "atlas-like")
    {
        return pipelineOut && whole && p.schedule == Schedule("1f1b") && p.cp == 1 && inServer &&
               p.apportion == Apportion("even") && plan.network.qps == 16 &&
               HasNetworkOf(study, plan, {"network.qps"});
    }
    if (name == "sailor-like")
    {
        return pipelineOut && whole && p.schedule == Schedule("1f1b") && p.cp == 1 && inServer &&
               HasNetworkOf(study, plan);
    }
    if (name == "crosspipe-like")
    {
        return pipelineOut && p.sharding == Sharding("fsdp") && !p.reshard && p.cp == 1 &&
               (p.inFlight == 0 || p.inFlight == 2 * p.pp) && inServer &&
               !p.schedule->Facts().overlapsPasses && HasNetworkOf(study, plan);
    }
    if (name == "madmax-like")
    {
        return p.pp == 1 && p.chunks == 1 && !pipelineOut &&
               (p.crossing == Crossing::Data || model.IsMoe()) && p.schedule == Schedule() &&
               HasNetworkOf(study, plan);
    }
    if (name == "fsdp-only")
    {
        return p.tp == 1 && p.pp == 1 && p.crossing == Crossing::Data && p.sharding->parameters &&
               !p.asyncTensor && HasNetworkOf(study, plan);
    }
    const auto alone = g_alone.find(name);
    if (alone != g_alone.end())
    {
        const Plan fixed = Fixed(study);
        const auto& fields = PlanFields();
        return std::all_of(fields.begin(), fields.end(), [&](const PlanField& field) {
            return IsOf(field.key, alone->second) || field.get(plan) == field.get(fixed) ||
                   // Without the other they mean nothing, and are set to what is usual.
                   (alone->second == SearchDimension::Parallelism &&
                    field.get(plan) == field.get({}));
        });
    }
    return true; // tested in baselines-test.cc
}

/// In the order of the header's text.
TEST(Schools, EveryFieldIsInOneDimensionAndTheMicrobatchInTwo)
{
    std::map<SearchDimension, std::set<std::string>> keys;
    for (const auto& field : PlanFields())
    {
        int of = 0;
        for (const auto& [name, dimension] : g_alone)
        {
            if (IsOf(field.key, dimension))
            {
                of++;
                keys[dimension].insert(field.key);
            }
        }
        EXPECT_EQ(of, field.key == "plan.microbatch" ? 2 : 1) << field.key;
    }
    EXPECT_EQ(keys[SearchDimension::Placement],
              (std::set<std::string>{"plan.crossing",
                                     "plan.apportion",
                                     "plan.layers",
                                     "plan.embedding_as_layer",
                                     "plan.loss_as_layer"}));
    EXPECT_EQ(keys[SearchDimension::Schedule],
              (std::set<std::string>{"plan.schedule",
                                     "plan.microbatch",
                                     "plan.chunks",
                                     "plan.round",
                                     "plan.in_flight"}));
    EXPECT_THAT(keys[SearchDimension::Network], testing::Each(testing::StartsWith("network.")));
    EXPECT_THAT(keys[SearchDimension::Parallelism], testing::Each(testing::StartsWith("plan.")));
    EXPECT_EQ(keys[SearchDimension::Parallelism].count("plan.dp"), 1U);
    EXPECT_EQ(keys[SearchDimension::Parallelism].count("plan.microbatch"), 1U);
}

TEST(Schools, ThePageHasTheRowsOfTheRegistry)
{
    const std::string page = ReadTextFile(SourcePath("contrib/scaleacross/doc/explorer.md"));
    for (const BaselineFacts* row : Baseline::Rows())
    {
        EXPECT_THAT(page,
                    testing::HasSubstr("\n| `" + row->word + "` | " + row->tunes + " | " +
                                       row->untouched + " | " + row->source + " |\n"));
    }
}

/// Drawn over all shipped studies; 300 of every space.
TEST(Schools, HaveNoPlanButTheirRules)
{
    std::mt19937_64 random(7);
    for (const Study& study : ShippedStudies())
    {
        for (const BaselineFacts* baseline : Schools())
        {
            size_t plans = 0;
            for (const Study& within : baseline->spaces(study))
            {
                EXPECT_EQ(within.scenario.cluster, study.scenario.cluster);
                const SearchSpace space(within);
                for (int i = 0; i < 300; i++)
                {
                    const auto drawn = space.At(random() % space.Size());
                    const Plan* plan = std::get_if<Plan>(&drawn);
                    if (plan != nullptr &&
                        (baseline->isOf == nullptr || baseline->isOf(plan->parallel)))
                    {
                        plans++;
                        EXPECT_TRUE(KeepsRule(baseline->word, study, *plan))
                            << baseline->word << " of " << study.name << ": "
                            << CanonicalText(*plan);
                    }
                }
            }
            EXPECT_GT(plans, 0U) << baseline->word << " of " << study.name;
        }
    }
}

TEST(Schools, OfOneDimensionHaveTheStudysValuesOrAll)
{
    for (const Study& study : ShippedStudies())
    {
        for (const auto& [name, dimension] : g_alone)
        {
            const auto spaces = Baseline(name)->spaces(study);
            ASSERT_EQ(spaces.size(), 1U);
            EXPECT_EQ(Fixed(spaces[0]).parallel, Fixed(study).parallel);
            std::map<std::string, std::vector<std::string>> axes;
            for (const auto& axis : spaces[0].search)
            {
                EXPECT_TRUE(IsOf(axis.key, dimension)) << name << " " << axis.key;
                axes[axis.key] = axis.values;
            }
            for (const auto& axis : study.search)
            {
                if (IsOf(axis.key, dimension))
                {
                    std::set<std::string> values(axis.values.begin(), axis.values.end());
                    values.insert(FindPlanField(axis.key)->get(Fixed(study)));
                    EXPECT_THAT(axes[axis.key], testing::UnorderedElementsAreArray(values))
                        << name << " " << axis.key;
                }
            }
        }
    }
}

/// The complete sets, where a study varies nothing. 64 GPUs in servers of 8, llama3-8b with 32
/// layers and 8 KV heads; tp 8 and pp 2 leave dp 4 and 16 sequences to a replica.
TEST(Schools, OfOneDimensionHaveCompleteSetsWhereNothingIsVaried)
{
    const Study study = TwoBuildings("plan: {tp: 8, pp: 2, sharding: fsdp}\n");
    const auto axes = [&study](const std::string& name) {
        std::map<std::string, std::vector<std::string>> found;
        const auto spaces = Baseline(name)->spaces(study);
        for (const auto& axis : spaces[0].search)
        {
            found[axis.key] = axis.values;
        }
        return found;
    };
    using testing::ElementsAre;
    using testing::UnorderedElementsAre;
    auto placement = axes("placement-only");
    EXPECT_EQ(placement.size(), 4U);
    EXPECT_THAT(placement["plan.crossing"], ElementsAre("dp", "pp")); // no experts
    auto schedule = axes("schedule-only");
    EXPECT_EQ(schedule.size(), 5U);
    EXPECT_THAT(schedule["plan.schedule"], testing::UnorderedElementsAreArray(Schedule::Names()));
    // 32 or 34 = 2 x 17 are divided by them, up to 16.
    EXPECT_THAT(schedule["plan.chunks"], ElementsAre("1", "2", "4", "8", "16"));
    EXPECT_THAT(schedule["plan.microbatch"], ElementsAre("1", "2", "4", "8"));
    // 0 is pp = 2; the other divisors of 16 above, and doublings of it.
    EXPECT_THAT(schedule["plan.round"], ElementsAre("0", "4", "8", "16"));
    EXPECT_THAT(schedule["plan.in_flight"], ElementsAre("0", "4", "8", "16"));
    auto parallelism = axes("parallelism-only");
    EXPECT_EQ(parallelism.size(), 10U); // no etp
    EXPECT_THAT(parallelism["plan.tp"], UnorderedElementsAre("1", "2", "4", "8"));
    EXPECT_EQ(parallelism["plan.tp"].front(), "8"); // the fixed one
    EXPECT_THAT(parallelism["plan.microbatch"], ElementsAre("1", "2", "4", "8"));
    EXPECT_THAT(parallelism["plan.pp"], UnorderedElementsAre("1", "2", "4", "8", "16", "32"));
    EXPECT_THAT(parallelism["plan.sharding"],
                testing::UnorderedElementsAreArray(Sharding::Names()));
    auto network = axes("network-only");
    EXPECT_EQ(network.size(), 5U);
    EXPECT_THAT(network["network.collective"],
                testing::UnorderedElementsAreArray(CollectiveAlgorithm::Names()));
}

TEST(Schools, ADpThatIsGivenIsOfParallelism)
{
    const Study study = TwoBuildings("plan: {tp: 8, pp: 2, dp: 4}\n");
    ASSERT_TRUE(study.dpGiven);
    EXPECT_TRUE(Baseline("schedule-only")->spaces(study)[0].dpGiven);
    EXPECT_FALSE(Baseline("parallelism-only")->spaces(study)[0].dpGiven);
    const Study varied = TwoBuildings("plan: {tp: 8, pp: 2}\nsearch: {plan: {dp: [2, 4]}}\n");
    EXPECT_TRUE(Baseline("parallelism-only")->spaces(varied)[0].dpGiven);
}

/// A study with the plan at which a school begins: its own, or that of another school.
Study
AtBeginning(const BaselineFacts& baseline,
            const Study& study,
            const Engine& engine = AnalyticalEngine(),
            const SearchOptions& options = {})
{
    if (!baseline.beginsAtAnother)
    {
        return study;
    }
    const auto begin = ChooseBaseline("production", study, engine, options);
    return BeginningAt(std::get<Plan>(begin), study);
}

/// Everything but the recomputation that a plan does not need, the oracle: all plans of the first
/// space with one that runs, one after the other.
std::optional<Duration>
FastestOf(const BaselineFacts& baseline, const Study& study)
{
    const AnalyticalEngine engine;
    for (const Study& within : baseline.spaces(study))
    {
        const SearchSpace space(within);
        std::optional<Duration> least;
        for (uint64_t i = 0; i < space.Size(); i++)
        {
            const auto at = space.At(i);
            const Plan* plan = std::get_if<Plan>(&at);
            // All of a tiny model fits without recomputation.
            if (plan == nullptr || CheckFit(space.With(*plan)) ||
                (baseline.isOf != nullptr && !baseline.isOf(plan->parallel)) ||
                plan->parallel.recompute != Recompute("none"))
            {
                continue;
            }
            const auto result = engine.Run(space.With(*plan), {});
            const auto* report = std::get_if<RunReport>(&result);
            if (report != nullptr && (!least || report->iterationTime < *least))
            {
                least = report->iterationTime;
            }
        }
        if (least)
        {
            return least;
        }
    }
    return std::nullopt;
}

Duration
TimeOf(const Study& study, const Plan& plan)
{
    const auto result = AnalyticalEngine().Run(SearchSpace(study).With(plan), {});
    return std::get<RunReport>(result).iterationTime;
}

TEST(Schools, ChooseTheFastestOfAllTheirPlans)
{
    const Study study = Small("search: {plan: {tp: [2, 4]}, network: {collective: [ring]}}\n");
    for (const BaselineFacts* baseline : Schools())
    {
        const auto chosen = ChooseBaseline(*baseline, study, AnalyticalEngine(), {});
        ASSERT_TRUE(std::holds_alternative<Plan>(chosen)) << baseline->word;
        const Plan& plan = std::get<Plan>(chosen);
        const Study begin = AtBeginning(*baseline, study);
        EXPECT_EQ(baseline->beginsAtAnother, g_alone.count(baseline->word) > 0);
        EXPECT_TRUE(KeepsRule(baseline->word, begin, plan))
            << baseline->word << ": " << CanonicalText(plan);
        EXPECT_EQ(TimeOf(study, plan), FastestOf(*baseline, begin)) << baseline->word;
        if (g_alone.count(baseline->word) > 0)
        {
            EXPECT_LE(TimeOf(study, plan), TimeOf(study, Fixed(begin))) << baseline->word;
        }
    }
}

/// Whoever may choose what any school has chosen, field by field, is as fast as each of them.
TEST(Schools, AreNoFasterThanAllTogether)
{
    const Study study = Small("search: {}\n");
    std::map<std::string, std::set<std::string>> values;
    std::map<std::string, Duration> times;
    for (const BaselineFacts* baseline : Schools())
    {
        const auto chosen = ChooseBaseline(*baseline, study, AnalyticalEngine(), {});
        const Plan& plan = std::get<Plan>(chosen);
        times[baseline->word] = TimeOf(study, plan);
        for (const auto& field : PlanFields())
        {
            values[field.key].insert(field.get(plan));
        }
    }
    Study together = study;
    for (const auto& [key, texts] : values)
    {
        if (texts.size() > 1 && key != "plan.dp")
        {
            together.search.push_back({key, {texts.begin(), texts.end()}});
        }
    }
    const SearchSpace space(together);
    ASSERT_LT(space.Size(), 300'000U);
    Duration least = Duration::Max();
    const AnalyticalEngine engine;
    for (uint64_t i = 0; i < space.Size(); i++)
    {
        const auto at = space.At(i);
        const Plan* plan = std::get_if<Plan>(&at);
        if (plan != nullptr && !CheckFit(space.With(*plan)))
        {
            const auto result = engine.Run(space.With(*plan), {});
            if (const auto* report = std::get_if<RunReport>(&result))
            {
                least = std::min(least, report->iterationTime);
            }
        }
    }
    for (const auto& [name, time] : times)
    {
        EXPECT_GE(time, least) << name;
    }
}

/// All plans take equally long: that of production is as good as any.
TEST(Schools, ChangeNothingThatBuysNothing)
{
    const Study study = Small("");
    SearchOptions options;
    options.jobs = 1;
    options.filter = FitsAlways;
    const FakeEngine alike([](const ParallelPlan& /* plan */) { return Duration::Seconds(2); });
    for (const auto& [name, dimension] : g_alone)
    {
        const auto chosen = ChooseBaseline(name, study, alike, options);
        const Study begin = AtBeginning(*Baseline(name), study, alike, options);
        EXPECT_EQ(CanonicalText(std::get<Plan>(chosen)), CanonicalText(Fixed(begin))) << name;
    }
}

/// Llama 3 405B needs 16 bytes and more for each of 4.06e11 parameters: 6.5e12 on 64 GPUs of
/// 80e9, 5.1e12.
TEST(Schools, OfOneDimensionSayWhyThereIsNothingToBeginAt)
{
    Study study = TwoBuildings("plan: {tp: 8, pp: 2}\n");
    study.scenario.Job().model = ModelPreset("llama3-405b");
    const auto production = ChooseBaseline("production", study, AnalyticalEngine(), {});
    const auto& why = std::get<Infeasible>(production);
    EXPECT_EQ(why.reason, "memory");
    for (const auto& [name, dimension] : g_alone)
    {
        const auto chosen = ChooseBaseline(name, study, AnalyticalEngine(), {});
        ASSERT_TRUE(std::holds_alternative<Infeasible>(chosen)) << name;
        EXPECT_EQ(std::get<Infeasible>(chosen).reason, why.reason);
        EXPECT_EQ(std::get<Infeasible>(chosen).detail,
                  name + " begins at the plan of production, but " + why.detail);
    }
}

/// A school that others begin at is chosen once, and they choose as by themselves.
TEST(Schools, BeginAtWhatIsChosenAlready)
{
    const Study study = Small("search: {plan: {tp: [2, 4]}, network: {collective: [ring]}}\n");
    const AnalyticalEngine engine;
    ChosenBaselines chosen;
    for (const auto& [name, dimension] : g_alone)
    {
        const auto& plan = std::get<Plan>(ChooseBaseline(name, study, engine, {}, chosen));
        EXPECT_EQ(CanonicalText(plan),
                  CanonicalText(std::get<Plan>(ChooseBaseline(name, study, engine, {}))));
    }
    EXPECT_EQ(chosen.size(), g_alone.size() + 1);
    // What is there is taken: all of them begin at another plan then.
    Plan other = std::get<Plan>(chosen.at("production"));
    other.parallel.sharding = "fsdp";
    ChosenBaselines given = {{"production", other}};
    const auto& beside = std::get<Plan>(ChooseBaseline("network-only", study, engine, {}, given));
    EXPECT_EQ(beside.parallel.sharding, Sharding("fsdp"));
}

/// What their sources tune is tuned over complete sets: whatever is the fastest value is found.
TEST(Schools, PlannersTuneWhatTheirSourcesTune)
{
    Study study = Small("");
    ModelSpec& model = study.scenario.Job().model;
    model.experts = 4;
    model.topK = 1;
    model.expertFfn = 2048;
    model.moeEvery = 1;
    SearchOptions options;
    options.jobs = 1;
    options.filter =
        [](const Scenario& scenario,
           const IsWorthMore& /* isWorthMore */) -> std::variant<ClosedForm, Infeasible> {
        if (const auto infeasible = CheckFit(scenario);
            infeasible && infeasible->reason != "memory")
        {
            return *infeasible;
        }
        return ClosedForm();
    };
    const auto fastest = [&](const std::string& name, const FakeEngine::Time& time) {
        const auto chosen = ChooseBaseline(name, study, FakeEngine(time), options);
        EXPECT_TRUE(std::holds_alternative<Plan>(chosen)) << name;
        return std::get<Plan>(chosen).parallel;
    };
    const auto likes = [](bool liked) { return Duration::Seconds(liked ? 1000 : 1001); };
    for (const std::string name : {"atlas-like", "crosspipe-like", "sailor-like"})
    {
        EXPECT_EQ(fastest(name, [&](const auto& plan) { return likes(plan.pp == 4); }).pp, 4U);
        EXPECT_EQ(fastest(name, [&](const auto& plan) { return likes(plan.tp == 2); }).tp, 2U);
        EXPECT_EQ(fastest(name, [&](const auto& plan) { return likes(plan.ep == 4); }).ep, 4U);
        EXPECT_EQ(
            fastest(name, [&](const auto& plan) { return likes(plan.microbatch == 4); }).microbatch,
            4U);
    }
    for (const std::string schedule : {"1f1b", "interleaved", "zb-h1", "zbv", "latency-aware"})
    {
        EXPECT_EQ(
            fastest("crosspipe-like",
                    [&](const auto& plan) { return likes(plan.schedule == Schedule(schedule)); })
                .schedule,
            Schedule(schedule));
    }
    EXPECT_EQ(fastest("crosspipe-like",
                      [&](const auto& plan) {
                          return likes(plan.schedule->Facts().limitsHeld && plan.inFlight == 8);
                      })
                  .inFlight,
              8U);
    EXPECT_EQ(
        fastest("sailor-like", [&](const auto& plan) { return likes(plan.apportion->byTime); })
            .apportion,
        Apportion("time"));
    for (const std::string sharding : {"ddp", "fsdp", "hsdp"})
    {
        EXPECT_EQ(
            fastest("madmax-like",
                    [&](const auto& plan) { return likes(plan.sharding == Sharding(sharding)); })
                .sharding,
            Sharding(sharding));
    }
    EXPECT_EQ(fastest("madmax-like",
                      [&](const auto& plan) { return likes(plan.crossing == Crossing::Expert); })
                  .crossing,
              Crossing::Expert);
    EXPECT_EQ(fastest("madmax-like",
                      [&](const auto& plan) { return likes(plan.tp > 1 && plan.etp == 1); })
                  .etp,
              1U);
    EXPECT_EQ(fastest("fsdp-only", [&](const auto& plan) { return likes(plan.cp == 4); }).cp, 4U);
    EXPECT_EQ(fastest("fsdp-only",
                      [&](const auto& plan) { return likes(plan.reshard && plan.prefetch == 4); })
                  .prefetch,
              4U);
    EXPECT_EQ(fastest("fsdp-only", [&](const auto& plan) { return likes(plan.shardRanks == 4); })
                  .shardRanks,
              4U);
}

/// Where whole replicas fit, they are whole, however fast others would be. Llama 3 8B holds 16
/// bytes and more for each of its 8.0e9 parameters: more than 80 GB for a rank where tp pp is 1,
/// less than 20 where it is 16.
TEST(Schools, ReplicasAreWholeWhereTheyFit)
{
    for (const std::string name : {"atlas-like", "sailor-like"})
    {
        const Study study = TwoBuildings("plan: {tp: 8}\n");
        const auto chosen = ChooseBaseline(name, study, AnalyticalEngine(), {});
        EXPECT_EQ(std::get<Plan>(chosen).parallel.sharding, Sharding("ddp"));
        SearchOptions options;
        options.jobs = 1;
        options.filter =
            [](const Scenario& scenario,
               const IsWorthMore& /* isWorthMore */) -> std::variant<ClosedForm, Infeasible> {
            if (scenario.Job().plan.sharding == Sharding("ddp"))
            {
                return Infeasible{"memory", "too large"};
            }
            return ClosedForm();
        };
        const auto sharded = ChooseBaseline(
            name,
            study,
            FakeEngine([](const ParallelPlan& /* plan */) { return Duration::Seconds(1); }),
            options);
        EXPECT_EQ(std::get<Plan>(sharded).parallel.sharding, Sharding("zero1"));
    }
}

} // namespace

} // namespace scaleacross
