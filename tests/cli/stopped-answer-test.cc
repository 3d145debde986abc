// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * What a search knows whose time was up: `show` tells it as `explore` has told it.
 */

#include "commands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::Not;

class StoppedAnswer : public Commands
{
  protected:
    /// Has a.db hold a search of the study that was stopped before its first block of plans was
    /// done: the runs are there, and nothing is decided but these.
    void Stop() const
    {
        RunJson("explore study.yaml --db a.db --verify 0");
        Sql("a.db",
            "UPDATE search SET finished = 0, next_plan = 0, evaluated = 0, bound_s = NULL, "
            "ruled_out_least = NULL, proven_after = NULL, explanation = NULL, gap = NULL; DELETE "
            "FROM "
            "search_count; UPDATE search_run SET rank = NULL");
    }

    nlohmann::json Shown() const
    {
        return RunJson("show a.db").at("searches").at(0);
    }

    const std::string m_explore = "explore study.yaml --db a.db --stop-after 1us";
};

TEST_F(StoppedAnswer, IsShownAsItWasTold)
{
    Stop();
    const auto answer = RunJson(m_explore);
    ASSERT_EQ(answer.at("out_of_time"), true);
    ASSERT_FALSE(answer.at("best").is_null());
    const auto shown = Shown();
    for (const char* key : {"explanation",
                            "topics",
                            "gap",
                            "optimal",
                            "bound_slack",
                            "sure",
                            "time_error",
                            "placement_probability",
                            "warnings",
                            "checked",
                            "out_of_time",
                            "interrupted",
                            "combinations",
                            "looked_at",
                            "ran",
                            "pruned",
                            "rejected"})
    {
        EXPECT_EQ(shown.at(key), answer.at(key)) << key;
    }
    EXPECT_EQ(shown.at("finished"), false);
    EXPECT_EQ(shown.at("concluded"), false);
    EXPECT_EQ(shown.at("ranking")[0].at("probability_best"),
              answer.at("best").at("probability_best"));
    for (const auto& [crossing, placement] : answer.at("placements").items())
    {
        EXPECT_EQ(shown.at("placements").contains(crossing), !placement.is_null()) << crossing;
    }
    const std::string text = Run("show a.db").out;
    EXPECT_THAT(text, HasSubstr("time is up: so far, "));
    EXPECT_THAT(text, HasSubstr("\nPlacement: the best "));
    EXPECT_THAT(text, HasSubstr(" plan so far ("));
    EXPECT_THAT(text, HasSubstr("that are not found"));
    EXPECT_THAT(text, HasSubstr("\nNot searched to the end: "));
    EXPECT_THAT(text, HasSubstr("\nNot checked by flow: "));
}

/// Behind the table, in which baselines are by name, all that is said is the same words.
TEST_F(StoppedAnswer, HasTheSameWords)
{
    Stop();
    const auto behind = [](const std::string& text) {
        EXPECT_THAT(text, HasSubstr("\nWhat differs"));
        const size_t begin = std::min(text.size(), text.find("\nWhat differs"));
        return text.substr(begin, text.find("\n\nStored in") - begin);
    };
    const std::string told = behind(Run(m_explore).out);
    const std::string shown = behind(Run("show a.db").out);
    EXPECT_EQ(shown, told + "\n");
}

/// An answer so far is one until more is known.
TEST_F(StoppedAnswer, GoesWithTheEndOfTheSearch)
{
    Stop();
    RunJson(m_explore);
    const auto answer = RunJson("explore study.yaml --db a.db --verify 0");
    const auto shown = Shown();
    EXPECT_EQ(shown.at("explanation"), answer.at("explanation"));
    EXPECT_EQ(shown.at("out_of_time"), false);
    EXPECT_EQ(shown.at("progress_text"), "");
    EXPECT_EQ(shown.at("concluded"), true);
    EXPECT_TRUE(shown.at("checked").empty());
    EXPECT_EQ(Sql("a.db", "SELECT so_far IS NULL FROM search"), "1");
    EXPECT_THAT(Run("show a.db").out, Not(HasSubstr("so far")));
}

/// Who goes on hears where the search stands, and that it looks at that again first.
TEST_F(StoppedAnswer, IsWhereTheNextCallBegins)
{
    Stop();
    const auto answer = RunJson(m_explore);
    const double share =
        answer.at("looked_at").get<double>() / answer.at("combinations").get<double>();
    std::array<char, 16> percent{};
    std::snprintf(percent.data(), percent.size(), "%.1f", 100 * share);
    const std::string err = Run("explore study.yaml --db a.db --verify 0 --progress 1us").err;
    EXPECT_THAT(err.substr(0, err.find('\n')),
                testing::MatchesRegex("scaleacross: 0 s: explore " + std::string(percent.data()) +
                                      " % of 16 combinations decided, " + answer.at("ran").dump() +
                                      " plans run \\(before; looked at again first, [0-9.]+ % so "
                                      "far\\).*"));
    EXPECT_THAT(err, HasSubstr("100.0 % of 16 combinations decided, 10 plans run, best "));
}

TEST_F(StoppedAnswer, WithoutAPlanSaysSo)
{
    Write("long.yaml", g_longStudy);
    ASSERT_EQ(Run("explore long.yaml --db a.db --stop-after 1us --set baselines=[]").code, 1);
    EXPECT_THAT(Run("show a.db").out, HasSubstr("\nNo plan has run in this time.\n"));
}

/// A file in which it is no JSON, or has more decided than there is, was edited.
TEST_F(StoppedAnswer, IsRefusedWhereItIsDamaged)
{
    Stop();
    RunJson(m_explore);
    for (const char* edit : {"so_far = json_set(so_far, '$.evaluated', 1000000000)",
                             "so_far = '{\"end\": \"time\"}'",
                             "so_far = '{'"})
    {
        Sql("a.db", "UPDATE search SET " + std::string(edit));
        const Call call = Run("show a.db");
        EXPECT_EQ(call.code, 2) << edit;
        EXPECT_THAT(call.err, HasSubstr("so_far of a search")) << edit;
    }
}

/// What warns of the best plan, and what better engines made of it, is shown as it was told.
TEST_F(StoppedAnswer, WarningsAndChecksAreShownOfFinishedSearchesToo)
{
    const std::string lossy =
        "explore study.yaml --db a.db --set cluster.cross.loss=1e-4 --set "
        "network.multipath=spray-adaptive --set network.recovery=selective-repeat ";
    const auto answer = RunJson(lossy);
    const auto shown = Shown();
    ASSERT_FALSE(answer.at("warnings").empty());
    ASSERT_FALSE(answer.at("checked").empty());
    EXPECT_EQ(shown.at("warnings"), answer.at("warnings"));
    EXPECT_EQ(shown.at("checked"), answer.at("checked"));
    const std::string text = Run("show a.db").out;
    for (const auto& warning : answer.at("warnings"))
    {
        EXPECT_THAT(text, HasSubstr("\nWarning: " + warning.get<std::string>() + ".\n"));
    }
    for (const auto& line : answer.at("checked"))
    {
        EXPECT_THAT(text, HasSubstr("\n" + line.get<std::string>() + "\n"));
    }
}

} // namespace

} // namespace scaleacross
