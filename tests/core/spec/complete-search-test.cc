// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"
#include "core/io/read-study.h"
#include "core/spec/complete-search.h"
#include "core/spec/plan-depth.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

/// 48 GPUs in two buildings; 6 layers, 12 heads, 4 KV heads, 6 experts.
Study
Read(const std::string& rest)
{
    return ParseStudy("study: open\n"
                      "model: {name: m, layers: 6, hidden: 768, heads: 12, kv_heads: 4, head_dim: "
                      "64, experts: 6, top_k: 2, expert_ffn: 512, moe_every: 1, vocabulary: 4096}\n"
                      "workload: {sequence: 1024, global_batch: 12}\n"
                      "cluster:\n"
                      "  buildings: {count: 2, gpus: 24, gpus_per_node: 8, gpu: h100, fabric: "
                      "{spines: 1}}\n"
                      "  cross: {distance: 30km, oversubscription: 4}\n" +
                          rest,
                      "open/study.yaml");
}

Values
ValuesOf(const Study& study, const std::string& key)
{
    for (const SearchAxis& axis : study.search)
    {
        if (axis.key == key)
        {
            return axis.values;
        }
    }
    return {};
}

TEST(CompleteSearch, HasEveryDivisorOfWhatItSplits)
{
    const Study study = Read("search: auto\n");
    // Divisors of 12 heads that divide the 4 KV heads; 12, a multiple of them, does not divide the
    // (12 + 2 x 4) 64 = 1,280 columns of queries, keys and values. gcd(512, 48) = 16 halves of the
    // sequence.
    EXPECT_THAT(ValuesOf(study, "plan.tp"), ElementsAre("1", "2", "4"));
    EXPECT_THAT(ValuesOf(study, "plan.cp"), ElementsAre("1", "2", "4", "8", "16"));
    EXPECT_THAT(ValuesOf(study, "plan.ep"), ElementsAre("1", "2", "3", "6"));
    EXPECT_THAT(ValuesOf(study, "plan.pp"), ElementsAre("1", "2", "3", "4", "6"));
    EXPECT_THAT(ValuesOf(study, "plan.microbatch"), ElementsAre("1", "2", "3", "4", "6", "12"));
    // Of 6 layers, or 8 with the ends, at most half of the layers.
    EXPECT_THAT(ValuesOf(study, "plan.chunks"), ElementsAre("1", "2", "3"));
    EXPECT_THAT(ValuesOf(study, "plan.crossing"), ElementsAre("dp", "pp", "ep"));
    EXPECT_THAT(ValuesOf(study, "plan.recompute_layers"),
                ElementsAre("0", "1", "2", "3", "4", "5"));
    EXPECT_EQ(ValuesOf(study, "plan.schedule"), Schedule::Names());
    EXPECT_EQ(ValuesOf(study, "plan.sharding"), Sharding::Names());
}

TEST(CompleteSearch, TakesWhatIsGivenAsGiven)
{
    const std::string plan = "plan: {tp: 2, schedule: 1f1b}\nnetwork: {collective: ring}\n";
    const Study study = Read(plan + "search: {plan: {pp: [1, 2]}, rest: auto}\n");
    for (const char* key : {"plan.tp", "plan.schedule", "network.collective"})
    {
        EXPECT_TRUE(ValuesOf(study, key).empty()) << key;
    }
    EXPECT_THAT(ValuesOf(study, "plan.pp"), ElementsAre("1", "2"));
    EXPECT_FALSE(ValuesOf(study, "plan.ep").empty());
    EXPECT_TRUE(Read(plan + "search: {}\n").search.empty());
    EXPECT_FALSE(Read(plan + "search:\n").search.empty()); // left empty, as left out
    EXPECT_TRUE(Read(plan + "search: {rest: fixed}\n").search.empty());
    EXPECT_EQ(Read(plan + "search: {plan: {pp: [1, 2]}}\n").search.size(), 1U);
}

/// Axes are the same by key, in the same order, with the same values.
TEST(CompleteSearch, IsThatOfAStudyWithoutASearch)
{
    for (const std::string plan :
         {"", "plan: {tp: 2, schedule: 1f1b}\n", "network: {qps: 4}\n", "plan: {tp: 2, dp: 24}\n"})
    {
        const auto axes = Read(plan).search;
        const auto complete = Read(plan + "search: auto\n").search;
        ASSERT_EQ(axes.size(), complete.size());
        for (size_t i = 0; i < axes.size(); i++)
        {
            EXPECT_EQ(axes[i].key, complete[i].key);
            EXPECT_EQ(axes[i].values, complete[i].values);
        }
    }
}

TEST(CompleteSearch, HasMoreTensorRanksThanKvHeadsWhereTheSoftwareRepeatsThem)
{
    const auto degreesOf = [](const std::string& stack) {
        Study study = Read("search: auto\n");
        study.scenario.Job().model.heads = 32; // (32 + 2 x 4) 64 = 2,560 columns
        study.scenario.Job().workload.stack = PresetNamed<SoftwareStack>(stack);
        return CompleteValues(study, "plan.tp");
    };
    // 32 does not divide 48 GPUs.
    EXPECT_THAT(degreesOf("megatron-core"), ElementsAre("1", "2", "4", "8", "16"));
    EXPECT_THAT(degreesOf("torch-compile"), ElementsAre("1", "2", "4"));
}

TEST(CompleteSearch, HasValuesThatTheirFieldsTakeTheUsualOneAmongThem)
{
    const Study study = Read("search: auto\n");
    for (const PlanField& field : PlanFields())
    {
        const Values values = CompleteValues(study, field.key);
        Plan plan;
        for (const std::string& value : values)
        {
            EXPECT_NO_THROW(field.set(plan, value)) << field.key << " " << value;
            EXPECT_EQ(std::count(values.begin(), values.end(), value), 1) << field.key;
        }
        const bool usual =
            std::find(values.begin(), values.end(), field.get(Plan())) != values.end();
        EXPECT_TRUE(values.empty() || usual) << field.key;
        EXPECT_GE(DepthOf(field.key), PlanDepth::Degrees); // every field has one
    }
}

TEST(CompleteSearch, RefusesOtherWords)
{
    const auto message = [](const std::string& text) {
        try
        {
            Read(text);
        }
        catch (const ConfigError& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(message("search: all\n"), HasSubstr("'all' is no search"));
    EXPECT_THAT(message("search: {rest: open}\n"), HasSubstr("auto or fixed"));
    EXPECT_THAT(message("plan: {tp: 4, pp: 5}\nsearch: {plan: {cp: [1, 2]}}\n"),
                HasSubstr("tp 4 x pp 5 does not divide"));
}

} // namespace
} // namespace scaleacross
