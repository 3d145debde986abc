// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * What a database keeps of an answer beside its runs: which searches are a sweep, what holds where
 * spans are uncertain, what sentences are about; and that one question does not spoil the answer to
 * another.
 */

#include "commands.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>
#include <string>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StoredAnswer : public Commands
{
  protected:
    /// A search as `show` has it, by its number.
    nlohmann::json Shown(const std::string& search) const
    {
        return RunJson("show a.db --search " + search).at("searches").at(0);
    }
};

/// 4 is what the study says itself, so that the search at it is the one of the study as it is.
TEST_F(StoredAnswer, ASweepOverTheStudysOwnValueKeepsBothAnswers)
{
    RunJson("explore study.yaml --db a.db");
    const auto before = Shown("1");
    RunJson("explore study.yaml --db a.db --sweep cluster.cross.oversubscription=1,4");
    const auto after = Shown("1");
    for (const char* key : {"explanation", "topics", "baselines", "settings", "gap"})
    {
        EXPECT_EQ(after.at(key), before.at(key)) << key;
    }
    const auto sweeps = RunJson("show a.db").at("sweeps");
    ASSERT_EQ(sweeps.size(), 1U);
    EXPECT_THAT(sweeps[0].at("searches"), ElementsAre(2, 1));
    EXPECT_EQ(sweeps[0].at("axes"),
              nlohmann::json::parse(R"([{"key": "cluster.cross.oversubscription",
                                         "values": ["1", "4"], "numbers": [1.0, 4.0], "unit": ""}])"));
    // Again it is the same sweep.
    RunJson("explore study.yaml --db a.db --sweep cluster.cross.oversubscription=1,4");
    EXPECT_EQ(RunJson("show a.db").at("sweeps").size(), 1U);
}

/// The other way round, the point is no change of the study either.
TEST_F(StoredAnswer, AStudyThatWasAPointOfASweepIsTheStudyAsItIs)
{
    RunJson("explore study.yaml --db a.db --sweep cluster.cross.oversubscription=1,4");
    EXPECT_EQ(Shown("1").at("settings"), (nlohmann::json{{"cluster.cross.oversubscription", "1"}}));
    EXPECT_EQ(Shown("2").at("settings"), nlohmann::json::object());
    const auto answer = RunJson("explore study.yaml --db a.db");
    EXPECT_EQ(Shown("2").at("settings"), nlohmann::json::object());
    EXPECT_EQ(Shown("2").at("explanation"), answer.at("explanation"));
    EXPECT_EQ(Shown("2").at("baselines").size(), 2U);
    EXPECT_THAT(RunJson("show a.db").at("sweeps")[0].at("searches"), ElementsAre(1, 2));
}

/// Names have no order but the one they are given in, and nothing flips between them.
TEST_F(StoredAnswer, CategoriesAreNoNumbers)
{
    const std::string sweep =
        "explore study.yaml --db a.db --sweep cluster.buildings.gpu=h100,a100-80g,b200";
    EXPECT_EQ(RunJson(sweep).at("flips").size(), 0U);
    EXPECT_THAT(Run(sweep).out, Not(HasSubstr("flip")));
    const auto axis = RunJson("show a.db").at("sweeps")[0].at("axes")[0];
    EXPECT_THAT(axis.at("values"), ElementsAre("h100", "a100-80g", "b200"));
    EXPECT_EQ(axis.at("numbers"), nullptr);
    EXPECT_EQ(axis.at("unit"), nullptr);
}

TEST_F(StoredAnswer, SweepsHaveNumbersInOneUnit)
{
    RunJson("explore study.yaml --db a.db --sweep cluster.cross.distance=300m,2km");
    const auto axis = RunJson("show a.db").at("sweeps")[0].at("axes")[0];
    EXPECT_THAT(axis.at("numbers"), ElementsAre(0.3, 2));
    EXPECT_EQ(axis.at("unit"), "km");
}

/// One building has no span, so that its search is the same whatever the distance; both have one.
/// Two sweeps that begin alike are two, in one file and in the file that two are merged into, and
/// each again is itself.
TEST_F(StoredAnswer, SweepsThatBeginAlikeAreTwo)
{
    const std::string near = "explore study.yaml --sweep cluster.use=building1,all --set "
                             "cluster.cross.distance=10km --db ";
    const std::string far = "explore study.yaml --sweep cluster.use=building1,all --set "
                            "cluster.cross.distance=300km --db ";
    for (const std::string& sweep : {near + "a.db", far + "a.db", near + "a.db", far + "b.db"})
    {
        RunJson(sweep);
    }
    const auto sweeps = RunJson("show a.db").at("sweeps");
    ASSERT_EQ(sweeps.size(), 2U);
    EXPECT_THAT(sweeps[0].at("searches"), ElementsAre(1, 2));
    EXPECT_THAT(sweeps[1].at("searches"), ElementsAre(1, 3));
    RunJson(near + "c.db");
    EXPECT_EQ(Run("merge bc.db b.db c.db").code, 0);
    const std::string points =
        "SELECT w.hash, position, s.hash FROM sweep_point JOIN sweep AS w ON w.id = sweep_id JOIN "
        "search AS s ON s.id = search_id ORDER BY 1, 2";
    EXPECT_EQ(Sql("bc.db", points), Sql("a.db", points));
    // A sweep again in the merged file changes nothing of it.
    RunJson(far + "bc.db");
    EXPECT_EQ(Sql("bc.db", points), Sql("a.db", points));
}

TEST_F(StoredAnswer, MergeTakesSweepsOver)
{
    RunJson("explore study.yaml --db a.db --sweep cluster.cross.distance=1km,2km");
    RunJson(
        "explore study.yaml --db b.db --set study=other --sweep cluster.cross.distance=2km,3km");
    EXPECT_EQ(Run("merge ab.db a.db b.db").code, 0);
    EXPECT_EQ(Run("merge ba.db b.db a.db").code, 0);
    EXPECT_EQ(Run("merge ab.db b.db").code, 0); // what is there already is there once
    const std::string points =
        "SELECT w.hash, position, s.hash FROM sweep_point JOIN sweep AS w ON w.id = sweep_id JOIN "
        "search AS s ON s.id = search_id ORDER BY 1, 2";
    EXPECT_EQ(Sql("ab.db", points), Sql("ba.db", points));
    EXPECT_EQ(Sql("ab.db", "SELECT count(*) FROM sweep"), "2");
    EXPECT_EQ(Sql("ab.db", "SELECT count(*), count(DISTINCT search_id) FROM sweep_point"), "4|3")
        << "both have the search at 2 km";
}

/// One of the cases is the study as it is, whose answer stays what it was.
TEST_F(StoredAnswer, WhatHoldsUnderUncertaintyIsKept)
{
    const std::string robust = "explore study.yaml --db a.db --robust --set "
                               "'uncertain.distance.values=[10km,300km]'";
    const auto answer = RunJson(robust);
    const auto shown = Shown("1");
    EXPECT_EQ(shown.at("robust"), answer.at("robust"));
    EXPECT_EQ(shown.at("baselines").size(), 2U);
    EXPECT_EQ(shown.at("explanation"), answer.at("explanation"));
    EXPECT_THAT(shown.at("explanation").dump(), HasSubstr("Baseline production"));
    for (const auto& line : answer.at("robust").at("explanation"))
    {
        EXPECT_THAT(Run("show a.db --search 1").out, HasSubstr(line.get<std::string>()));
        EXPECT_THAT(Run(robust).out, HasSubstr(line.get<std::string>()));
    }
    Sql("a.db", "UPDATE search SET robust = '{' WHERE id = 1");
    EXPECT_EQ(Run("show a.db --search 1").code, 2);
    EXPECT_THAT(Run("show a.db --search 1").err, HasSubstr("robust is no JSON"));
}

TEST_F(StoredAnswer, EverySentenceHasATopic)
{
    const auto answer = RunJson("explore study.yaml --db a.db");
    const auto shown = Shown("1");
    EXPECT_EQ(shown.at("topics"), answer.at("topics"));
    ASSERT_EQ(shown.at("topics").size(), shown.at("explanation").size());
    const auto topicOf = [&shown](const std::string& begin) {
        for (size_t i = 0; i < shown.at("topics").size(); i++)
        {
            if (shown.at("explanation")[i].get<std::string>().rfind(begin, 0) == 0)
            {
                return shown.at("topics")[i].get<std::string>();
            }
        }
        return std::string();
    };
    EXPECT_EQ(topicOf("Best: "), "best");
    EXPECT_EQ(topicOf("Stages: "), "stages");
    EXPECT_EQ(topicOf("Placement: "), "placement");
    EXPECT_EQ(topicOf("Baseline megatron"), "baselines");
    EXPECT_EQ(topicOf("Optimal for "), "proof");
    // That of the sentence on the placement, which is told in whole percent.
    const auto& placements = answer.at("placements");
    const auto& other = answer.at("best").at("plan").at("crossing") == "dp" ? placements.at("pp")
                                                                            : placements.at("dp");
    EXPECT_EQ(shown.at("placement_probability"), other.at("probability_slower"));
}

/// An answer with failures is none for who has them run again, whatever baselines it had.
TEST_F(StoredAnswer, WhatIsOpenedAgainIsConcludedAnew)
{
    RunJson("explore study.yaml --db a.db");
    Sql("a.db",
        "INSERT INTO search_count VALUES (1, 'failed', 'timeout', 1, 'one'); UPDATE search SET "
        "explanation = 'another'");
    const auto answer = RunJson("explore study.yaml --db a.db --retry-failed --set baselines=[]");
    EXPECT_EQ(Shown("1").at("explanation"), answer.at("explanation"));
}

/// What `show` says of a plan is what `run` of its study finds.
TEST_F(StoredAnswer, TheStudyOfAPlanRunsToItsTime)
{
    RunJson("explore study.yaml --db a.db --set cluster.cross.distance=20km");
    const auto ranking = Shown("1").at("ranking");
    ASSERT_GE(ranking.size(), 3U);
    for (const size_t rank : {0U, 2U})
    {
        Write("plan.json", ranking[rank].at("study").dump());
        const auto run = RunJson("run plan.json --no-store");
        EXPECT_EQ(run.at("iteration_time_s"), ranking[rank].at("iteration_time_s"));
        // Two stages of two layers of four each, or one stage of all.
        uint64_t layers = 0;
        for (const auto& count : ranking[rank].at("stages").at("layers"))
        {
            layers += count.get<uint64_t>();
        }
        EXPECT_EQ(layers, 4U);
        EXPECT_EQ(ranking[rank].at("fits"), true);
    }
}

/// Links say what they are, so that nobody has to read their names.
TEST_F(StoredAnswer, LinksSayTheirKind)
{
    RunJson("explore study.yaml --db a.db");
    std::set<std::string> kinds;
    const auto shown = Shown("1");
    for (const auto& link : shown.at("ranking")[0].at("resources"))
    {
        kinds.insert(link.at("kind"));
        const std::string name = link.at("name");
        EXPECT_EQ(link.at("kind") == "span", name.find(" to ") != std::string::npos) << name;
        EXPECT_EQ(link.at("family").get<std::string>().find("stage"), std::string::npos) << name;
    }
    EXPECT_THAT(kinds, testing::IsSupersetOf({"NIC", "span"}));
}

TEST_F(StoredAnswer, AFrontIsShownWithItsValues)
{
    const auto answer = RunJson("explore study.yaml --db a.db --pareto time,memory");
    const auto shown = Shown("1").at("pareto");
    ASSERT_EQ(shown.size(), answer.at("pareto").size());
    for (size_t i = 0; i < shown.size(); i++)
    {
        EXPECT_EQ(shown[i].at("label"), answer.at("pareto")[i].at("label"));
        EXPECT_EQ(shown[i].at("values"), answer.at("pareto")[i].at("values"));
    }
}

/// What was started and did not come to its end is no plan that cannot run.
TEST_F(StoredAnswer, PlansThatRanOutOfTimeAreNotSaidToBeUnable)
{
    const Call call = Run("explore study.yaml --db a.db --set engines=[packet] "
                          "--set workload.global_batch=4096 --set baselines=[] --time-limit 1ms");
    EXPECT_EQ(call.code, 1) << call.err;
    const std::string said = Shown("1").at("explanation")[0];
    EXPECT_THAT(said, HasSubstr("No plan has a result: "));
    EXPECT_THAT(said, HasSubstr("timeout"));
    EXPECT_THAT(said, HasSubstr("--time-limit"));
    EXPECT_THAT(said, Not(HasSubstr("can run.")));
}

TEST_F(StoredAnswer, AShardSaysWhatItKeeps)
{
    const auto shard = RunJson("explore study.yaml --shard 1/2 --db a.db");
    const auto shown = Shown("1").at("ranking");
    ASSERT_EQ(shard.at("ranking").size(), shown.size());
    for (size_t i = 0; i < shown.size(); i++)
    {
        EXPECT_EQ(shard.at("ranking")[i].at("label"), shown[i].at("plan").at("label"));
        EXPECT_EQ(shard.at("ranking")[i].at("iteration_time_s"), shown[i].at("iteration_time_s"));
    }
}

TEST_F(StoredAnswer, RunsWithoutASearchAreShown)
{
    RunJson("run study.yaml --db a.db");
    const auto flow = RunJson("run study.yaml --engine flow --db a.db");
    RunJson("run study.yaml --db a.db --set cluster.cross.distance=300km");
    RunJson("run study.yaml --engine flow --db a.db --set cluster.cross.distance=300km");
    const auto runs = RunJson("show a.db").at("runs");
    ASSERT_EQ(runs.size(), 2U) << "of the scenario of the newest";
    EXPECT_LE(runs[0].at("iteration_time_s"), runs[1].at("iteration_time_s"));
    EXPECT_EQ(runs[0].at("study").at("cluster").at("links")[0].at("distance"), "300km");
}

/// The time is printed whatever ranks, and its error with it; only of an order by memory there is
/// no probability.
TEST_F(StoredAnswer, TheErrorOfTimesIsToldWhateverRanks)
{
    const std::string explore = "explore study.yaml --set workload.stack=megatron-core --set "
                                "cluster.buildings.gpu=h100";
    const auto byTime = RunJson(explore + " --db t.db").at("time_error");
    ASSERT_NE(byTime, nullptr);
    const auto byMemory = RunJson(explore + " --objective memory --db m.db");
    EXPECT_EQ(byMemory.at("time_error").at("kind"), byTime.at("kind"));
    EXPECT_EQ(byMemory.at("sure"), nullptr);
    EXPECT_THAT(Run(explore + " --objective memory --db m.db").out,
                Not(HasSubstr("no runs of this kind")));
}

/// Of another kind than the search's: whose the figures are and why is stored and shown.
TEST_F(StoredAnswer, WhoseErrorsAreToldIsShown)
{
    RunJson("explore study.yaml --set 'workload.stack={preset: megatron-core, elementwise: 100}' "
            "--set cluster.buildings.gpu=h100 --db a.db");
    const auto error = Shown("1").at("time_error");
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error.at("validated"), false);
    EXPECT_EQ(error.at("figures_of"), nlohmann::json::array({"MoE on Blackwell"}));
    EXPECT_THAT(error.at("unvalidated").get<std::string>(),
                HasSubstr("values of the stack megatron-core are changed"));
}

/// A file that names a preset and changes nothing is that preset, of which errors are published.
TEST_F(StoredAnswer, AFileWithAPresetAloneIsThePreset)
{
    Write("mine.yaml", "preset: h100\n");
    Write("less.yaml", "preset: h100\nhbm_capacity: 64GiB\n");
    const std::string explore = "explore study.yaml --set workload.stack=megatron-core --set "
                                "cluster.buildings.gpu=";
    const auto preset = RunJson(explore + "h100 --db p.db").at("time_error");
    ASSERT_NE(preset, nullptr);
    EXPECT_EQ(RunJson(explore + "mine.yaml --db m.db").at("time_error"), preset);
    EXPECT_EQ(RunJson(explore + "less.yaml --db l.db").at("time_error"), nullptr);
}

} // namespace

} // namespace scaleacross
