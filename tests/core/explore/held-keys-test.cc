// SPDX-License-Identifier: GPL-2.0-only

#include "../explore-fakes.h"
#include "core/explore/held-keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string>
Keys(const Study& study)
{
    std::vector<std::string> keys;
    for (const HeldKey& held : HeldKeys(study))
    {
        keys.push_back(held.key + "=" + held.value);
    }
    return keys;
}

std::vector<std::string>
Outside(const Study& study, const Plan& plan)
{
    std::vector<std::string> keys;
    for (const FieldOutside& field : FieldsOutside(study, SearchSpace(study), plan))
    {
        keys.push_back(field.key);
    }
    return keys;
}

/// `search: auto` is what a study has without the key, which WithSearch() would fill in.
TEST(HeldKeys, AreWhatThePlanGivesAndNoSearchNames)
{
    const Study rest = TwoBuildings("plan: {tp: 1, pp: 2}\nsearch: auto\n");
    EXPECT_THAT(Keys(rest), ElementsAre("plan.tp=1", "plan.pp=2"));
    // A value that is as usual is held like any other, and what the search names is not.
    const Study listed = TwoBuildings("plan: {tp: 4, pp: 1, cp: 1}\nnetwork: {qps: 4}\n"
                                      "search: {plan: {tp: [2, 4], sharding: [fsdp]}}\n");
    EXPECT_THAT(Keys(listed), ElementsAre("plan.cp=1", "plan.pp=1", "network.qps=4"));
    const Study beside = TwoBuildings("plan: {tp: 4, pp: 1}\n"
                                      "search: {plan: {tp: [2, 4]}, rest: auto}\n");
    EXPECT_THAT(Keys(beside), ElementsAre("plan.pp=1"));
    EXPECT_THAT(Keys(TwoBuildings("search: {plan: {tp: [4, 8]}}\n")), IsEmpty());
    EXPECT_EQ(HeldText(TwoBuildings("search: {plan: {tp: [4, 8]}}\n")), "");
}

/// What is said to be written frees the first of the keys, and holds the others as before.
TEST(HeldKeys, AreFreeOnceWrittenAsTheTextSays)
{
    for (const std::string& search : {std::string("auto"), std::string("{plan: {cp: [1, 2]}}")})
    {
        const std::string plan = "plan: {tp: 1, pp: 2}\n";
        const Study study = TwoBuildings(plan + "search: " + search + "\n");
        const std::string text = HeldText(study);
        EXPECT_THAT(text, HasSubstr("no `search` names them: tp 1 and pp 2."));
        const size_t at = text.find("search: {");
        ASSERT_NE(at, std::string::npos) << text;
        const std::string written = text.substr(at, text.rfind('.') - at);
        const Study freed = TwoBuildings(plan + written + "\n");
        EXPECT_THAT(Keys(freed), ElementsAre("plan.pp=2")) << written;
        EXPECT_EQ(freed.searchesRest, search == "auto");
    }
    const std::string network =
        HeldText(TwoBuildings("network: {tiers: {cross: {qps: 4}}}\nsearch: {plan: {tp: [4]}}\n"));
    EXPECT_THAT(network, HasSubstr("network.tiers.cross.qps 4"));
    EXPECT_THAT(network, HasSubstr("search: {network: {tiers: {cross: {qps: [4, ...]}}}}."));
}

/// 64 GPUs: a plan of tp 4, pp 2 and dp 8 beside a space that has pp 1 alone and other tp. That dp
/// is 8 follows.
TEST(HeldKeys, APlanLiesOutsideInTheFieldsThatKeepItOut)
{
    const Study study = TwoBuildings("plan: {pp: 1}\nsearch: {plan: {tp: [1, 2, 8], crossing: [dp, "
                                     "pp], sharding: [fsdp, hsdp]}}\n");
    Plan plan = SearchSpace(study).Fixed();
    plan.parallel.tp = 8;
    plan.parallel.dp = 8;
    plan.parallel.sharding = "fsdp";
    EXPECT_THAT(Outside(study, plan), IsEmpty());
    plan.parallel.tp = 4;
    plan.parallel.dp = 16;
    EXPECT_THAT(Outside(study, plan), ElementsAre("plan.tp"));
    plan.parallel.pp = 2;
    plan.parallel.dp = 8;
    plan.parallel.microbatch = 2;
    EXPECT_THAT(Outside(study, plan), ElementsAre("plan.tp", "plan.pp", "plan.microbatch"));
    const auto fields = FieldsOutside(study, SearchSpace(study), plan);
    ASSERT_EQ(fields.size(), 3U);
    EXPECT_EQ(fields[0].why, FieldOutside::Why::Listed);
    EXPECT_EQ(fields[1].why, FieldOutside::Why::Held);
    EXPECT_EQ(fields[2].why, FieldOutside::Why::Unnamed);
    EXPECT_EQ(OutsideText(fields),
              "tp 4 (search has 1, 2, 8), pp 2 (held at 1) and microbatch 2 (not searched: 1)");
}

/// Four are named, and of an axis with more values the first four.
TEST(HeldKeys, TheTextNamesTheFirstFew)
{
    using Why = FieldOutside::Why;
    const FieldOutside many{"plan.tp", "32", Why::Listed, {"1", "2", "4", "8", "16"}};
    const FieldOutside held{"network.qps", "1", Why::Held, {"16"}};
    EXPECT_EQ(OutsideText({many, held, held, held, held, held}),
              "tp 32 (search has 1, 2, 4, 8, ...), network.qps 1 (held at 16), network.qps 1 (held "
              "at 16), network.qps 1 (held at 16) and 2 more");
    EXPECT_EQ(OutsideText({}), "");
}

} // namespace

} // namespace scaleacross
