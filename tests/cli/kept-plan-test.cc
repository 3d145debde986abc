// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

/// What a search keeps can be asked for again by its rank.
class KeptPlan : public ProgramTest
{
  protected:
    KeptPlan()
    {
        std::string study = g_smallStudy;
        const std::string counted = "{count: 2, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: ";
        const size_t at = study.find(counted);
        study.replace(
            at,
            study.find("}}", at) + 2 - at,
            "\n    - {name: oslo, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: {rails: true, "
            "spines: 2}}\n    - {name: bergen, gpus: 8, gpus_per_node: 4, gpu: h100, fabric: "
            "{rails: true, spines: 2}}");
        Write("study.yaml", study + "seed: 7\n");
        explored = RunJson("explore study.yaml --verify 0"); // of one engine
    }

    nlohmann::json explored;
};

TEST_F(KeptPlan, RunsEveryRankAsTheSearchDid)
{
    const auto& ranking = explored.at("ranking");
    ASSERT_GE(ranking.size(), 4U);
    for (size_t i = 0; i < ranking.size(); i++)
    {
        const auto run = RunJson("run --from small.db --no-store --rank " + std::to_string(i + 1));
        EXPECT_EQ(run.at("iteration_time_s"), ranking[i].at("iteration_time_s")) << i;
        EXPECT_EQ(run.at("memory_bytes_max"), ranking[i].at("memory_bytes_max")) << i;
        EXPECT_EQ(run.at("cross_building_bytes"), ranking[i].at("cross_building_bytes")) << i;
    }
    EXPECT_EQ(RunJson("run --from small.db --no-store").at("plan"), explored.at("best").at("plan"));
}

/// By another engine it is stored beside the search, under the names and the seed of its study.
TEST_F(KeptPlan, StoresInTheSameFileWithNamesAndSeed)
{
    const auto run = RunJson("run --from small.db --engine packet");
    EXPECT_EQ(run.at("seed"), 7);
    EXPECT_THAT(run.dump(), HasSubstr("oslo"));
    EXPECT_EQ(Sql("small.db", "SELECT count(DISTINCT scenario_id) FROM run"), "1");
    const auto shown = RunJson("show small.db");
    ASSERT_EQ(shown.at("searches").at(0).at("checks").size(), 1U);
    EXPECT_EQ(shown.at("searches").at(0).at("checks").at(0).at("engine"), "packet");
}

/// What is changed comes on top of the plan; dp follows from the other degrees.
TEST_F(KeptPlan, IsChangedLikeAStudy)
{
    const auto run = RunJson("run --from small.db --no-store --set plan.tp=2 --set plan.pp=1 "
                             "--set plan.crossing=dp --set cluster.cross.distance=100km --seed 3");
    EXPECT_EQ(run.at("plan").at("dp"), 8);
    const Call wrong = Run("run --from small.db --set plan.tq=2");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("plan.tq"));
}

TEST_F(KeptPlan, RefusesWhatIsNotKept)
{
    const size_t kept = explored.at("ranking").size();
    for (const auto& [arguments, says] : std::vector<std::pair<std::string, std::string>>{
             {"run --from small.db --rank " + std::to_string(kept + 1),
              "search 1 keeps " + std::to_string(kept) + " plans that can run"},
             {"run --from small.db --search 9", "no such search"},
             {"run --from none.db", "none.db"},
             {"run study.yaml --from small.db", "excludes"},
             {"run study.yaml --rank 2", "--from"},
             {"run", "no plan is named"},
             {"run small.db", "name it with --from for a plan that it keeps"},
             {"run --from small.db --trace small.db", "--trace"},
             {"schedule --from small.db --stages 2", "the plan says this"},
             {"schedule --stages 2", "--name: is not given"},
             {"schedule --name 1f1b --stages 2 --microbatches 2 --forward 1ms --input-grad 1ms "
              "--weight-grad 1ms --seed 2",
              "there is no plan"},
             {"schedule --from small.db -o small.db", "ends in .svg"}})
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, HasSubstr(says)) << arguments;
    }
}

/// What a stage's rank spends adds up to the iteration, and the means over stages are the report's.
/// Where ranks go on by themselves, an iteration is the slowest one's, and a stage's figures are of
/// one rank of several, which are apart by what they wait for each other at the span: 1 %.
TEST_F(KeptPlan, IsDrawnWithWhatItsStagesDo)
{
    for (const auto& [engine, part] :
         {std::pair<std::string, double>("analytical", 1e-9), {"flow", 0.01}, {"packet", 0.01}})
    {
        const auto drawn = RunJson("schedule --from small.db --set plan.pp=2 --set plan.tp=4 --set "
                                   "plan.crossing=pp --engine " +
                                   engine);
        const auto& report = drawn.at("report");
        const double apart = part * report.at("iteration_time_s").get<double>();
        ASSERT_EQ(drawn.at("stages").size(), 2U);
        double compute = 0;
        double layers = 0;
        double most = 0;
        for (const auto& stage : drawn.at("stages"))
        {
            compute += stage.at("compute_s").get<double>() / 2;
            layers += stage.at("layers").get<double>();
            most = std::max(most, stage.at("memory_bytes").get<double>());
            EXPECT_NEAR(stage.at("compute_s").get<double>() + stage.at("bubble_s").get<double>() +
                            stage.at("exposed_s").get<double>(),
                        report.at("iteration_time_s").get<double>(),
                        apart);
        }
        EXPECT_NEAR(compute, report.at("compute_s").get<double>(), apart);
        EXPECT_EQ(layers, 4);
        EXPECT_EQ(most, report.at("memory_bytes_max").get<double>());
        EXPECT_EQ(drawn.at("stages").at(0).at("buildings"), nlohmann::json({"oslo"}));
        EXPECT_EQ(drawn.at("stages").at(1).at("buildings"), nlohmann::json({"bergen"}));
        // 16 samples, dp 2 and one a microbatch: 8 forward and 8 backward passes of each stage.
        size_t passes = 0;
        for (const auto& pass : drawn.at("timeline"))
        {
            passes += pass.at("action") != "O" ? 1 : 0;
        }
        EXPECT_EQ(passes, 2U * 2 * 8);
    }
    EXPECT_EQ(Run("schedule --from small.db -o drawn.svg").code, 0);
    EXPECT_THAT(Read("drawn.svg"), HasSubstr("</svg>"));
    const Call text = Run("schedule study.yaml --width 60");
    EXPECT_EQ(text.code, 0);
    EXPECT_THAT(text.out, HasSubstr("microbatches held"));
}

} // namespace

} // namespace scaleacross
