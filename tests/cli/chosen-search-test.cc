// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * Which search of a database every command means: the one of the study as its file says it, and
 * where that is not there, or is there several times, none.
 */

#include "commands.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ChosenSearch : public Commands
{
  protected:
    /// All commands that read a search from a database, without --search.
    static std::vector<std::string> Readers()
    {
        return {"show a.db",
                "export a.db --csv",
                "export a.db --format nccl",
                "run --from a.db --no-store --json",
                "schedule --from a.db --json"};
    }

    /// All of them refuse, with these in the list of what is there.
    void ExpectAsked(const std::string& problem, const std::vector<std::string>& listed) const
    {
        for (const std::string& command : Readers())
        {
            const Call call = Run(command);
            EXPECT_EQ(call.code, 2) << command;
            EXPECT_EQ(call.out, "") << command;
            EXPECT_THAT(call.err,
                        AllOf(HasSubstr("a.db: " + problem),
                              HasSubstr("\n  remedy: say which by --search")))
                << command;
            for (const std::string& one : listed)
            {
                EXPECT_THAT(call.err, HasSubstr("\n    --search " + one)) << command;
            }
        }
        // By its number each can be had.
        for (const std::string& one : listed)
        {
            const std::string number = " --search " + one.substr(0, one.find(':'));
            for (const std::string& command : Readers())
            {
                EXPECT_EQ(Run(command + number).code, 0) << command << number;
            }
        }
    }
};

/// 10 km is what the study says; behind its search come a variant and the points of a sweep.
TEST_F(ChosenSearch, IsThatOfTheStudyAsItsFileSaysIt)
{
    const std::string explore = "explore study.yaml --db a.db --verify 0 ";
    ASSERT_EQ(Run(explore).code, 0);
    std::vector<std::string> alone;
    for (const std::string& command : Readers())
    {
        alone.push_back(Run(command).out);
    }
    ASSERT_EQ(Run(explore + "--set network.qps=8").code, 0);
    ASSERT_EQ(Run("explore study.yaml --db a.db --sweep cluster.cross.distance=1km,4000km").code,
              0);
    ASSERT_EQ(Sql("a.db", "SELECT count(*) FROM search"), "4");
    for (size_t i = 1; i < Readers().size(); i++) // show lists the others before
    {
        EXPECT_EQ(Run(Readers()[i]).out, alone[i]) << Readers()[i];
    }
    EXPECT_THAT(Run("show a.db").out,
                AllOf(HasSubstr("search 1 (--search chooses another)"), HasSubstr(alone[0])));
    // A second study makes it a question.
    std::string other = g_smallStudy;
    other.replace(other.find("study: small"), 12, "study: other");
    const size_t layers = other.find("layers: 4");
    other.replace(layers, 9, "layers: 8");
    Write("other.yaml", other);
    ASSERT_EQ(Run("explore other.yaml --db a.db --verify 0").code, 0);
    ExpectAsked("2 searches are stored here of studies as their files say them",
                {"1: small (analytical engine, ",
                 "2: small, network.qps=8 (analytical engine, ",
                 "3: small, cluster.cross.distance=1km (analytical engine, ",
                 "4: small, cluster.cross.distance=4000km (analytical engine, ",
                 "5: other (analytical engine, "});
}

/// Nothing else can be meant; what was set is said of it.
TEST_F(ChosenSearch, IsTheOnlyOneWhateverWasSet)
{
    ASSERT_EQ(Run("explore study.yaml --db a.db --verify 0 --set network.qps=8").code, 0);
    for (const std::string& command : Readers())
    {
        EXPECT_EQ(Run(command).code, 0) << command;
        EXPECT_EQ(Run(command).out, Run(command + " --search 1").out) << command;
    }
    EXPECT_THAT(Run("show a.db").out, HasSubstr("network.qps=8"));
}

TEST_F(ChosenSearch, IsNoPointOfASweepAlone)
{
    ASSERT_EQ(Run("explore study.yaml --db a.db --sweep cluster.cross.distance=1km,4000km").code,
              0);
    ExpectAsked(
        "no search is stored here of a study as its file says it, without --set or --sweep",
        {"1: small, cluster.cross.distance=1km (", "2: small, cluster.cross.distance=4000km ("});
}

/// What else was asked of the same study is another search of it.
TEST_F(ChosenSearch, IsNotOneOfTwoQuestions)
{
    ASSERT_EQ(Run("explore study.yaml --db a.db --verify 0").code, 0);
    ASSERT_EQ(Run("explore study.yaml --db a.db --verify 0 --objective memory").code, 0);
    ExpectAsked("2 searches are stored here",
                {"1: small (analytical", "2: small, objective memory (analytical"});
}

/// Settings that say what the file says, in other words too, change nothing, and are not told; the
/// name, the baselines and who else checks decide nothing that a search finds.
TEST_F(ChosenSearch, IsTheSameWhereASettingChangesNothing)
{
    const std::string explore = "explore study.yaml --db a.db --verify 0 ";
    ASSERT_EQ(Run(explore).code, 0);
    for (const std::string idle : {"--set cluster.cross.distance=10000m",
                                   "--set network.qps=8 --set network.qps=16",
                                   "--set cluster.cross.oversubscription=4.0 --set 'baselines=[]'",
                                   "--set 'engines=[analytical,flow]' --set study=small"})
    {
        const std::string set = "explore study.yaml --db idle.db --verify 0 " + idle;
        ASSERT_EQ(Run(set).code, 0) << idle;
        EXPECT_EQ(Sql("idle.db", "SELECT count(*), max(settings) FROM search"), "1|") << idle;
        EXPECT_EQ(Sql("idle.db", "SELECT hash FROM search"),
                  Sql("a.db", "SELECT hash FROM search"));
    }
}

/// 10 km is the study: one search, whoever asks first.
TEST_F(ChosenSearch, IsTheSweepsOwnPointWhereThatIsTheStudy)
{
    const std::string sweep =
        "explore study.yaml --db a.db --sweep cluster.cross.distance=1km,10km";
    const Call swept = Run(sweep);
    EXPECT_THAT(swept.out,
                StartsWith("small, swept over cluster.cross.distance\n"
                           "cluster.cross.distance=10km is what the study says: this point is its "
                           "search\n"));
    EXPECT_EQ(Sql("a.db", "SELECT id, IFNULL(settings, '-') FROM search ORDER BY id"),
              "1|{\"cluster.cross.distance\":\"1km\"}\n2|-");
    const std::string runs = Sql("a.db", "SELECT engine_runs FROM search WHERE id = 2");
    for (const std::string& command : Readers())
    {
        EXPECT_EQ(Run(command).code, 0) << command;
    }
    EXPECT_THAT(Run("show a.db").out, HasSubstr("search 2 (--search chooses another)"));
    // The study itself adds baselines, and neither a row nor a run of what it searches.
    ASSERT_EQ(Run("explore study.yaml --db a.db --verify 0").code, 0);
    EXPECT_EQ(Sql("a.db", "SELECT count(*) FROM search"), "2");
    EXPECT_EQ(Sql("a.db", "SELECT engine_runs FROM search WHERE id = 2"), runs);
    const auto json = RunJson(sweep);
    EXPECT_EQ(json.at("study"), "small");
    EXPECT_EQ(json.at("settings"), nlohmann::json::object());
    EXPECT_EQ(json.at("as_written"), (nlohmann::json{{"cluster.cross.distance", "10km"}}));
    EXPECT_EQ(json.at("values")[0].at("settings"),
              (nlohmann::json{{"cluster.cross.distance", "1km"}}));
    EXPECT_EQ(json.at("values")[1].at("settings"), nlohmann::json::object());
    // Of a study that is changed beside it is none.
    EXPECT_EQ(RunJson(sweep + " --set network.qps=8").at("as_written"), nullptr);
    EXPECT_THAT(Run(sweep + " --set network.qps=8").out,
                AllOf(StartsWith("small, network.qps=8, swept over cluster.cross.distance\n"),
                      Not(HasSubstr("is what the study says"))));
}

/// Another first engine is another search, beside which the study without it is meant.
TEST_F(ChosenSearch, IsNotThatOfAnotherEngineBesideTheStudy)
{
    const std::string flows = "explore study.yaml --db a.db --verify 0 --set 'engines=[flow]'";
    ASSERT_EQ(Run(flows).code, 0);
    EXPECT_THAT(Run("show a.db").out, HasSubstr("small, engines=[flow] (flow engine): "));
    ASSERT_EQ(Run("explore study.yaml --db a.db --verify 0").code, 0);
    EXPECT_THAT(Run("show a.db").out,
                AllOf(HasSubstr("search 2 (--search chooses another)"),
                      HasSubstr("small (analytical engine): ")));
}

/// Text, JSON and rows alike.
TEST_F(ChosenSearch, IsToldWithWhatWasSet)
{
    const std::string set = " --set cluster.cross.distance=20km --set network.qps=16 ";
    const std::string title = "small, cluster.cross.distance=20km";
    const nlohmann::json settings = {{"cluster.cross.distance", "20km"}};
    EXPECT_THAT(Run("explore study.yaml --db a.db --csv rows.csv" + set).out,
                StartsWith(title + ": tiny on 16 GPUs"));
    EXPECT_THAT(Read("rows.csv"),
                AllOf(StartsWith("changes,"), HasSubstr("\ncluster.cross.distance=20km,")));
    EXPECT_EQ(RunJson("explore study.yaml --db a.db" + set).at("settings"), settings);
    EXPECT_THAT(Run("explore study.yaml --db s.db --shard 1/2" + set).out,
                StartsWith(title + ": shard 1/2"));
    EXPECT_EQ(RunJson("explore study.yaml --db s.db --shard 1/2" + set).at("settings"), settings);
    for (const std::string command : {"require study.yaml --loss 50% --of distance",
                                      "sensitivity study.yaml --of cluster.cross.distance"})
    {
        const Call call = Run(command + set);
        EXPECT_THAT(call.out, StartsWith(title + ": ")) << call.err;
    }
    EXPECT_THAT(Run("show a.db --search 1").out, StartsWith(title + " (analytical engine): "));
}

class Wildcards : public Commands
{
  protected:
    /// Three buildings, with a span of its own between each two: 100, 200 and 400 km.
    Wildcards()
    {
        std::string study = g_smallStudy;
        const size_t cluster = study.find("cluster:");
        size_t end = study.find('\n', cluster) + 1;
        while (study[end] == ' ')
        {
            end = study.find('\n', end) + 1;
        }
        study.replace(cluster,
                      end - cluster,
                      "cluster:\n"
                      "  buildings:\n"
                      "    - {name: a, gpus: 8, gpu: h100}\n"
                      "    - {name: b, gpus: 8, gpu: h100}\n"
                      "    - {name: c, gpus: 16, gpu: h100}\n"
                      "  links:\n"
                      "    - {between: [a, b], distance: 100km, oversubscription: 4}\n"
                      "    - {between: [b, c], distance: 200km, oversubscription: 4}\n"
                      "    - {between: [a, c], distance: 400 km, oversubscription: 4}\n");
        Write("study.yaml", study);
    }

    /// The distances of the spans.
    std::vector<std::string> Distances(const std::string& set) const
    {
        std::vector<std::string> distances;
        const auto study = RunJson("show study.yaml " + set);
        for (const auto& link : study.at("scenario").at("cluster").at("links"))
        {
            distances.push_back(link.at("distance"));
        }
        return distances;
    }
};

/// Hand count: 0.5 x (100, 200, 400) = (50, 100, 200), 3 x = (300, 600, 1200).
TEST_F(Wildcards, MultiplyWhatTheStudySays)
{
    const auto plain = Distances("");
    ASSERT_EQ(plain.size(), 3U);
    EXPECT_EQ(Distances("--set 'cluster.links.*.distance=1x'"), plain);
    EXPECT_EQ(Distances("--set 'cluster.links.*.distance=0.5x'"),
              Distances("--set cluster.links.0.distance=50km --set cluster.links.1.distance=100km "
                        "--set cluster.links.2.distance=200km"));
    EXPECT_EQ(Distances("--set 'cluster.links.*.distance=3x'"),
              Distances("--set cluster.links.0.distance=300km --set cluster.links.1.distance=600km "
                        "--set cluster.links.2.distance=1200km"));
    // A value is set as it is; what was set before is multiplied.
    EXPECT_EQ(Distances("--set 'cluster.links.*.distance=7km'"),
              Distances("--set cluster.links.0.distance=7km --set cluster.links.1.distance=7km "
                        "--set cluster.links.2.distance=7km"));
    EXPECT_EQ(
        Distances("--set cluster.links.2.distance=4000km --set 'cluster.links.*.distance=2x'"),
        Distances("--set cluster.links.0.distance=200km --set cluster.links.1.distance=400km "
                  "--set cluster.links.2.distance=8000km"));
}

TEST_F(Wildcards, SweepSpansInStep)
{
    const std::string sweep =
        "explore study.yaml --db a.db --sweep 'cluster.links.*.distance=0.5x,1x,2x' ";
    const Call call = Run(sweep);
    ASSERT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out,
                StartsWith("small, swept over cluster.links.*.distance\n"
                           "cluster.links.*.distance=1x is what the study says: this point is its "
                           "search\n"));
    EXPECT_EQ(Sql("a.db", "SELECT IFNULL(settings, '-') FROM search ORDER BY id"),
              "{\"cluster.links.*.distance\":\"0.5x\"}\n-\n{\"cluster.links.*.distance\":\"2x\"}");
    EXPECT_EQ(RunJson("show a.db").at("sweeps")[0].at("axes"),
              nlohmann::json::parse(R"([{"key": "cluster.links.*.distance",
                                         "values": ["0.5x", "1x", "2x"],
                                         "numbers": [0.5, 1.0, 2.0], "unit": "x"}])"));
    const auto own = RunJson("explore study.yaml --db own.db --set cluster.links.0.distance=200km "
                             "--set cluster.links.1.distance=400km --set "
                             "cluster.links.2.distance=800km");
    EXPECT_EQ(RunJson(sweep).at("values")[2].at("best").at("iteration_time_s"),
              own.at("best").at("iteration_time_s"));
}

TEST_F(Wildcards, AreRefusedWhereTheyHaveNothingToMultiply)
{
    for (const auto& [set, says] : std::vector<std::pair<std::string, std::string>>{
             {"cluster.cross.*.distance=2x",
              "there is nothing for * to stand for: the study has no cluster.cross with elements"},
             {"cluster.links.*.loss=2x", "the study has no cluster.links.0.loss to multiply"},
             {"cluster.buildings.*.name=2x", "cluster.buildings.0.name is 'a', and no quantity"},
             {"cluster.links.*.between=2x", "cluster.links.0.between is a list, and no quantity"},
             {"cluster.links.*.distance=0x",
              "the factor '0x' is not above 0\n  allowed: a number above 0 with x behind it"},
             {"cluster.links.*.distance=-1x", "the factor '-1x' is not above 0"},
             {"cluster.links.*.distance=1e99x", "the factor: "},
             {"cluster.links.*.distance=fast", "fast"}})
    {
        for (const std::string option : {"--set", "--sweep"})
        {
            const Call call = Run("explore study.yaml " + option + " '" + set + "'");
            EXPECT_EQ(call.code, 2) << set;
            EXPECT_THAT(call.err, HasSubstr(says)) << set;
        }
    }
    EXPECT_THAT(Run("explore study.yaml --set 'cluster.links.*.distance=2x' --set "
                    "'cluster.links.*.distance=3x'")
                    .err,
                HasSubstr("another --set is of cluster.links.*.distance"));
    EXPECT_THAT(Run("explore study.yaml --sweep 'cluster.links.*.distance=1x,1.0x'").err,
                HasSubstr("'1x' and '1.0x' make the same study"));
    EXPECT_THAT(Files(), testing::ElementsAre("study.yaml"));
}

} // namespace

} // namespace scaleacross
