// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// What an answer counts, whatever part of its search is done.
class Counts : public ProgramTest
{
  protected:
    static uint64_t SumOf(const nlohmann::json& counts)
    {
        uint64_t sum = 0;
        for (const auto& count : counts)
        {
            sum += count.get<uint64_t>();
        }
        return sum;
    }

    /// Every distinct plan that is decided has run, is ruled out, cannot run or failed; what is
    /// looked at is that and what means the same as another, no more than there is. No plan is
    /// ranked that has not run, nor twice.
    static void ExpectSums(const nlohmann::json& answer, const std::string& what)
    {
        const uint64_t ran = answer.at("ran");
        EXPECT_EQ(answer.at("space").get<uint64_t>(),
                  ran + answer.at("pruned").get<uint64_t>() + SumOf(answer.at("rejected")) +
                      SumOf(answer.at("failed")))
            << what;
        EXPECT_LE(answer.at("space"), answer.at("looked_at")) << what;
        EXPECT_LE(answer.at("looked_at"), answer.at("combinations")) << what;
        EXPECT_LE(answer.at("ranking").size(), ran) << what;
        std::set<std::string> labels;
        for (const auto& plan : answer.at("ranking"))
        {
            labels.insert(plan.contains("label") ? plan.at("label").get<std::string>()
                                                 : plan.at("plan").at("label").get<std::string>());
        }
        EXPECT_EQ(labels.size(), answer.at("ranking").size()) << what;
    }
};

/// A list of some of these values, at least one.
std::string
SomeOf(std::mt19937& random, const std::vector<std::string>& values)
{
    std::string text;
    for (const std::string& value : values)
    {
        if (random() % 2 == 0)
        {
            text += (text.empty() ? "" : ", ") + value;
        }
    }
    return "[" + (text.empty() ? values.front() : text) + "]";
}

/// Studies of a small model whose axes are drawn, with baselines that lie in them or not; each is
/// searched for longer and longer until it is done, every call taking up where the last has left
/// off. What is shown of the file adds up at every step too.
TEST_F(Counts, AddUpHoweverFarASearchHasCome)
{
    const char* drawn = std::getenv("SCALEACROSS_SEED");
    const auto seed = static_cast<uint32_t>(drawn != nullptr ? std::stoul(drawn) : 1);
    std::mt19937 random(seed);
    uint64_t unfinished = 0;
    for (int draw = 0; draw < 4; draw++)
    {
        const std::string axes =
            "search:\n  plan:\n    tp: " + SomeOf(random, {"1", "2", "4"}) +
            "\n    pp: " + SomeOf(random, {"1", "2", "4"}) +
            "\n    crossing: " + SomeOf(random, {"dp", "pp"}) +
            "\n    sharding: " + SomeOf(random, {"fsdp", "hsdp", "zero1"}) +
            "\n    schedule: " + SomeOf(random, {"1f1b", "interleaved", "dorapp"}) +
            "\n    chunks: [1, 2, 4]\n    microbatch: [1, 2, 4]\n    async_tp: [true, false]"
            "\n    recompute: " +
            SomeOf(random, {"none", "selective", "full"}) +
            "\n  network: {qps: [4, 16], collective: [ring, hierarchical]}\n"
            "baselines: [production, megatron]\n";
        const std::string name = "drawn-" + std::to_string(draw);
        Write(name + ".yaml", "study: " + name + "\n" + g_smallPair + axes);
        const std::string what = "seed " + std::to_string(seed) + "\n" + axes;
        const std::string explore = "explore " + name + ".yaml --keep 30 --top 1000 --json" +
                                    (draw % 2 == 0 ? "" : " --exhaustive");
        bool done = false;
        for (const char* time : {"1us", "60ms", "150ms", "400ms", "1s", "3600s"})
        {
            const Call call = Run(explore + " --stop-after " + time);
            ASSERT_LE(call.code, 1) << call.err << what;
            const auto answer = nlohmann::json::parse(call.out);
            ExpectSums(answer, time + ("\n" + what));
            const uint64_t ran = answer.at("ran");
            EXPECT_EQ(answer.at("ranking").size(), std::min<uint64_t>(ran, 30)) << what;
            done = !answer.at("out_of_time");
            unfinished += done ? 0 : 1;
            const auto shown = RunJson("show " + name + ".db --top 1000").at("searches")[0];
            EXPECT_EQ(shown.at("finished"), done) << what;
            // Of what an unfinished search has looked at, the file has what ran.
            ExpectSums(shown, time + ("\n" + what));
            EXPECT_LE(shown.at("ran"), ran) << what;
            EXPECT_TRUE(done || shown.at("ranking").size() == shown.at("ran")) << what;
            if (done)
            {
                EXPECT_EQ(answer.at("looked_at"), answer.at("combinations")) << what;
                break;
            }
        }
        EXPECT_TRUE(done);
    }
    EXPECT_GT(unfinished, 0);
}

/// A first SIGTERM ends the search in order: what it has is printed, adds up, and stays.
TEST_F(Counts, ATerminatedSearchPrintsWhatItHas)
{
    Write("long.yaml", g_longStudy);
    Write("go.sh",
          ": >told.txt\n'" + ProgramPath() +
              "' explore long.yaml --exhaustive --jobs 1 --keep 1000 --top 1000 --progress 50ms "
              "\"$@\" 2>told.txt & child=$!\n"
              "until grep -q ', best ' told.txt; do\n" // something has run
              "kill -0 $child || exit 1\nsleep 0.05\ndone\n"
              "kill -TERM $child\nwait $child; code=$?\ncat told.txt >&2\nexit $code\n");
    const Call call = Run("--version >/dev/null && sh go.sh --json");
    ASSERT_EQ(call.code, 130) << call.err;
    EXPECT_THAT(call.err, HasSubstr("what has run is kept, and the same command goes on"));
    const auto answer = nlohmann::json::parse(call.out);
    EXPECT_EQ(answer.at("interrupted"), true);
    EXPECT_GT(answer.at("ran"), 0);
    ExpectSums(answer, "terminated");
    EXPECT_EQ(answer.at("ranking").size(), answer.at("ran"));
    const auto kept = RunJson("show many.db --top 1000").at("searches")[0];
    for (const char* key : {"interrupted", "looked_at", "ran", "gap", "explanation", "warnings"})
    {
        EXPECT_EQ(kept.at(key), answer.at(key)) << key;
    }
    const Call again = Run("--version >/dev/null && sh go.sh");
    EXPECT_EQ(again.code, 130);
    EXPECT_THAT(again.out, HasSubstr("stopped by a signal: so far, "));
    EXPECT_THAT(Run("show many.db").out, HasSubstr("stopped by a signal: so far, "));
    const auto shown = RunJson("show many.db --top 1000").at("searches")[0];
    ExpectSums(shown, "shown");
    EXPECT_GE(shown.at("ran"), answer.at("ran"));
}

/// Without a terminal there are lines, a minute apart unless said; none says how long it will take.
TEST_F(Counts, ProgressIsToldWithoutATerminal)
{
    Write("long.yaml", g_longStudy);
    const std::string explore = "explore long.yaml --exhaustive --stop-after ";
    EXPECT_EQ(Run(explore + "400ms").err, "");
    const Call call = Run(explore + "2s --progress 100ms");
    const std::string first = call.err.substr(0, call.err.find('\n'));
    EXPECT_THAT(first,
                MatchesRegex("scaleacross: [0-9]+ s: explore [0-9]+ s left, [0-9.]+ % of [0-9]+ "
                             "combinations decided, [0-9]+ plans run.*"));
    EXPECT_THAT(call.err, ContainsRegex(", best (so far|\\(proven\\)): [0-9.]+ s by TP"));
    EXPECT_THAT(call.err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(Run("explore long.yaml --progress 10ms --db whole.db").err,
                Not(HasSubstr(" left")));
    EXPECT_EQ(Run("explore long.yaml --progress 5").code, 2);
}

/// The study holds its schedule: the answer says so in every form, also where it is not done, and a
/// baseline that schedules otherwise lies outside by that.
TEST_F(Counts, WhatIsHeldIsSaid)
{
    Write("study.yaml", g_smallStudy);
    const std::string held = "no `search` names it: schedule 1f1b. ";
    const std::string explore = "explore study.yaml --set baselines=[production] ";
    EXPECT_THAT(Run(explore + "--db cut.db --stop-after 1us").out, HasSubstr(held));
    const auto cut = RunJson("show cut.db").at("searches")[0];
    EXPECT_THAT(cut.at("held_text").get<std::string>(), HasSubstr(held));
    const Call call = Run(explore);
    EXPECT_THAT(call.out, HasSubstr(held));
    EXPECT_THAT(Run("show small.db").out, HasSubstr(held));
    const auto json = RunJson(explore);
    ASSERT_EQ(json.at("held").size(), 1U);
    EXPECT_EQ(json.at("held")[0], nlohmann::json({{"key", "plan.schedule"}, {"value", "1f1b"}}));
    // What it has of production: HSDP, DP-out and a schedule of its own (dorapp).
    const auto& outside = json.at("baselines").at("production").at("outside");
    bool schedule = false;
    for (const auto& field : outside)
    {
        schedule = schedule || (field.at("key") == "plan.schedule" && field.at("held"));
    }
    EXPECT_TRUE(schedule) << outside;
    EXPECT_THAT(call.out, HasSubstr("the search space does not hold this plan: "));
    EXPECT_THAT(call.out, HasSubstr("(held at 1f1b)"));
    // Named as the text says, it is held no more.
    EXPECT_THAT(Run(explore + "--set search.plan.schedule=[1f1b,dorapp]").out,
                Not(HasSubstr("Held, since")));
}

} // namespace

} // namespace scaleacross
