// SPDX-License-Identifier: GPL-2.0-only

// What `explore` has a better engine check, asked and unasked.

#include "commands.h"

#include <gmock/gmock.h>
#include <set>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;
using testing::Not;

using CheckRanking = Commands;

/// Two plans that the analytical engine does not tell apart, and has in another order than packets.
const char* const g_close = R"yaml(study: close
model: {name: dense, layers: 6, hidden: 1024, heads: 8, dense_ffn: 4096, vocabulary: 8192}
workload: {stack: megatron-core, sequence: 4096, global_batch: 48}
cluster:
  buildings:
    - {name: old, gpus: 32, gpu: {preset: h100, gemm_efficiency: 0.6}, nic_rate: 200Gbps}
    - {name: new, gpus: 16, gpu: {preset: h100, gemm_efficiency: 0.6}, nic_rate: 400Gbps}
  cross: {distance: 60km, capacity: 400Gbps}
plan: {tp: 2, sharding: fsdp}
search:
  plan: {pp: [2, 3], crossing: [dp, pp]}
)yaml";

/// The times of the checked plans by an engine, in the order of the ranking.
std::vector<std::pair<std::string, double>>
TimesBy(const nlohmann::json& answer, const std::string& engine)
{
    std::vector<std::pair<std::string, double>> times;
    for (const auto& check : answer.at("checks"))
    {
        if (check.at("engine") == engine)
        {
            times.emplace_back(check.at("plan").at("label"), check.at("iteration_time_s"));
        }
    }
    return times;
}

std::set<std::string>
EnginesOf(const nlohmann::json& answer)
{
    std::set<std::string> engines;
    for (const auto& check : answer.at("checks"))
    {
        engines.insert(check.at("engine").get<std::string>());
    }
    return engines;
}

/// Packets are the oracle: flows tell the order that they have, and `explore` says so unasked.
TEST_F(CheckRanking, WhereNoEngineIsNamedFlowsSayWhetherTheOrderChanges)
{
    Write("close.yaml", g_close);
    const auto json = RunJson("explore close.yaml");
    EXPECT_TRUE(json.at("not_checked").is_null());
    const auto ranked = TimesBy(json, "analytical");
    const auto flows = TimesBy(json, "flow");
    ASSERT_EQ(ranked.size(), 2U);
    ASSERT_EQ(flows.size(), 2U);
    const auto packets =
        TimesBy(RunJson("explore close.yaml --set 'engines=[analytical, packet]'"), "packet");
    ASSERT_EQ(packets.size(), 2U);
    ASSERT_LT(ranked[0].second, ranked[1].second);
    ASSERT_GT(packets[0].second, packets[1].second) << "or it takes another study to show this";
    EXPECT_GT(flows[0].second, flows[1].second);
    const Call call = Run("explore close.yaml");
    EXPECT_EQ(call.code, 0);
    EXPECT_EQ(call.err, "");
    EXPECT_THAT(call.out, HasSubstr("\nThe best by analytical and flow, of those that the first"));
    EXPECT_THAT(call.out,
                HasSubstr("\nBy the flow engine " + flows[1].first +
                          " is the fastest of these 2; the best plan takes "));
    // As it runs in this process.
    const auto compared = RunJson("compare close.yaml --engines flow --db other.db").at("rows");
    size_t found = 0;
    for (const auto& row : compared)
    {
        for (const auto& [label, time] : flows)
        {
            const bool same = row.at("plan").at("label") == label;
            found += same ? 1 : 0;
            EXPECT_TRUE(!same || row.at("iteration_time_s") == time) << label;
        }
    }
    EXPECT_EQ(found, 2U);
}

TEST_F(CheckRanking, ItIsNotForWhoeverSaysWhatHeWants)
{
    EXPECT_EQ(EnginesOf(RunJson("explore study.yaml")),
              (std::set<std::string>{"analytical", "flow"}));
    // One engine that is named is the only one that runs.
    for (const char* options : {"--set engines=[analytical]", "--verify 0", "--objective memory"})
    {
        const std::string explore = "explore study.yaml --db alone.db " + std::string(options);
        const auto json = RunJson(explore);
        EXPECT_TRUE(json.at("checks").empty()) << options;
        EXPECT_TRUE(json.at("not_checked").is_null()) << options;
        EXPECT_THAT(Run(explore).out, Not(HasSubstr("hecked"))) << options;
    }
    Run("explore study.yaml --db alone.db --sweep cluster.cross.distance=10km,20km");
    Run("explore study.yaml --db alone.db --shard 1/2");
    EXPECT_EQ(Sql("alone.db", "SELECT count(*) FROM run WHERE engine <> 'analytical'"), "0");
}

/// Of more than 1,024 GPUs flows go where they are expected to: here 2 x 516.
TEST_F(CheckRanking, FlowsThatHaveNoPathsOfTheirOwnCheckNothing)
{
    const auto json = RunJson("explore study.yaml --set cluster.buildings.gpus=516 --set "
                              "workload.global_batch=1032");
    ASSERT_FALSE(json.at("best").is_null());
    EXPECT_TRUE(json.at("checks").empty());
    EXPECT_TRUE(json.at("not_checked").is_null());
}

/// Stored as if it had taken that long, so that nothing follows from how fast this machine is.
TEST_F(CheckRanking, ARunThatTakesTooLongIsToldAndNoFailure)
{
    const std::string explore = "explore study.yaml --verify 1 --set search={} ";
    Run(explore);
    Sql("small.db",
        "UPDATE run SET status = 'failed', reason = 'timeout', time_limit_s = 0.3, "
        "iteration_time_s = NULL, detail = 'not done after 300 ms of wall clock' WHERE engine = "
        "'flow'");
    const Call call = Run(explore + "--time-limit 300ms");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_EQ(call.err, "");
    EXPECT_THAT(call.out,
                HasSubstr("\nNot checked by flow: no time of the best plan, not done after 300 ms "
                          "of wall clock.\n\nStored in "));
    const auto json = RunJson(explore + "--time-limit 300ms");
    ASSERT_EQ(json.at("checks").size(), 2U);
    EXPECT_EQ(json.at("checks")[1].at("failed").at("reason"), "timeout");
    EXPECT_EQ(json.at("not_checked"),
              "no time of the best plan, not done after 300 ms of wall clock");
    EXPECT_TRUE(json.at("failed").empty()) << "of the search";
    EXPECT_EQ(Sql("small.db", "SELECT engine, time_limit_s FROM run WHERE status = 'failed'"),
              "flow|0.3");
    // As any run that has had less time, it is repeated where there is more.
    EXPECT_EQ(TimesBy(RunJson(explore), "flow").size(), 1U);
    EXPECT_EQ(Sql("small.db", "SELECT count(*) FROM run WHERE status = 'failed'"), "0");
}

/// Stored as if it had taken 20 seconds, so that nobody waits for them here.
TEST_F(CheckRanking, TheLimitOfItsOwnIsNotThatOfEnginesThatAreNamed)
{
    Write("close.yaml", g_close);
    // The best plan, which has three stages, or the other one.
    const auto cut = [this](const std::string& stages) {
        Sql("close.db",
            "UPDATE run SET status = 'failed', reason = 'timeout', time_limit_s = 20, "
            "iteration_time_s = NULL, detail = 'not done after 20 s of wall clock' WHERE engine = "
            "'flow' AND plan_id IN (SELECT id FROM plan WHERE pp = " +
                stages + ")");
    };
    const std::string more =
        "\nWith --set 'engines=[analytical, flow]' flow then has all of --time-limit.\n";
    Run("explore close.yaml");
    cut("2");
    const std::string some = Run("explore close.yaml").out;
    EXPECT_THAT(some, HasSubstr("on flow: timeout: not done after 20 s of wall clock\n"));
    EXPECT_THAT(some, HasSubstr(more));
    cut("3");
    EXPECT_THAT(
        Run("explore close.yaml").out,
        HasSubstr("\nNot checked by flow: no time of the best plan, not done after 20 s of wall "
                  "clock." +
                  more));
    EXPECT_EQ(
        TimesBy(RunJson("explore close.yaml --set 'engines=[analytical, flow]'"), "flow").size(),
        2U);
    cut("3");
    EXPECT_EQ(TimesBy(RunJson("explore close.yaml --retry-failed"), "flow").size(), 2U);
}

/// Of three plans the second fails and the third takes too long.
TEST_F(CheckRanking, MoreTimeServesWhicheverPlanRanOutOfIt)
{
    Write("close.yaml", g_close);
    const std::string explore = "explore close.yaml --set 'search.plan.sharding=[fsdp, hsdp]'";
    Run(explore);
    ASSERT_EQ(TimesBy(RunJson(explore), "flow").size(), 3U);
    const auto fail = [this](const std::string& reason, const std::string& plans) {
        Sql("close.db",
            "UPDATE run SET status = 'failed', reason = '" + reason +
                "', time_limit_s = 20, iteration_time_s = NULL, detail = 'so' WHERE engine = "
                "'flow' AND plan_id IN (SELECT id FROM plan WHERE pp = 2 AND sharding = '" +
                plans + "')");
    };
    const std::string more = "flow then has all of --time-limit";
    fail("error", "fsdp");
    EXPECT_THAT(Run(explore).out, Not(HasSubstr(more)));
    fail("timeout", "hsdp");
    EXPECT_THAT(Run(explore).out, HasSubstr(more));
}

TEST_F(CheckRanking, TakesWhatIsLeftOfStopAfter)
{
    RunJson("explore study.yaml --verify 0"); // so that there is a best plan at once
    const Call call = Run("explore study.yaml --stop-after 1us");
    EXPECT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out,
                HasSubstr("\nNot checked by flow: 1 of 1 plans, the time of --stop-after"
                          " is used up.\n"));
    const auto json = RunJson("explore study.yaml --stop-after 1us");
    EXPECT_TRUE(json.at("checks").empty());
    EXPECT_EQ(json.at("not_checked"), "1 of 1 plans, the time of --stop-after is used up");
    EXPECT_EQ(Sql("small.db", "SELECT count(*) FROM run WHERE engine = 'flow'"), "0");
    EXPECT_EQ(TimesBy(RunJson("explore study.yaml --stop-after 1h"), "flow").size(), 1U);
}

/// Where flows are known to be far from packets, their check says so, and what to do; packets need
/// no such word.
TEST_F(CheckRanking, WhereItProvesLittleItSaysSo)
{
    const std::string explore = "explore study.yaml --set cluster.cross.loss=1e-4 --verify 2 ";
    const std::string warning = "Warning: packets that are lost between buildings: of 39 drawn "
                                "studies with it one in ten took flow less than ";
    const std::string remedy = "So this check proves little; --set 'engines=[analytical, packet]' "
                               "has packets check these plans.\n";
    const auto json = RunJson(explore);
    size_t flows = 0;
    for (const auto& check : json.at("checks"))
    {
        EXPECT_THAT(check.at("warnings").dump(), HasSubstr("packets that are lost"));
        flows += check.at("engine") == "flow" ? 1 : 0;
    }
    EXPECT_EQ(flows, 2U);
    for (const char* engines : {"", "--set 'engines=[analytical, flow]'"})
    {
        const std::string text = Run(explore + engines).out;
        EXPECT_THAT(text, HasSubstr("\n" + warning)) << engines;
        EXPECT_EQ(text.find(warning), text.rfind(warning)) << "once for all plans";
        EXPECT_THAT(text, HasSubstr(remedy)) << engines;
    }
    EXPECT_THAT(Run(explore + "--set 'engines=[analytical, flow, packet]'").out,
                Not(HasSubstr(remedy)));
    EXPECT_THAT(Run("explore study.yaml").out, Not(HasSubstr("proves little")));
}

} // namespace

} // namespace scaleacross
