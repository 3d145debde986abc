// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/spec/plan-fields.h"
#include "core/spec/recompute.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

std::vector<const RecomputeFacts*>
Modules()
{
    std::vector<const RecomputeFacts*> modules;
    for (const auto* row : RecomputeWord::Rows())
    {
        if (row->module != nullptr)
        {
            modules.push_back(row);
        }
    }
    return modules;
}

TEST(Recompute, WordsThatStandAloneAreReadBack)
{
    for (const auto* row : RecomputeWord::Rows())
    {
        EXPECT_EQ(ToString(Recompute(row->word)), row->word);
    }
    EXPECT_EQ(Recompute(), Recompute("none"));
    EXPECT_TRUE(Recompute("alternate")->linears);
    EXPECT_TRUE(Recompute("full-but-qkv")->keepsProjections);
}

TEST(Recompute, AnyModulesInAnyOrderAreTheirParts)
{
    std::mt19937 random(1);
    const auto modules = Modules();
    for (uint32_t subset = 1; subset < 1U << modules.size(); subset++)
    {
        std::vector<std::string> words;
        std::string ordered;
        for (size_t i = 0; i < modules.size(); i++)
        {
            if ((subset >> i & 1) != 0)
            {
                words.push_back(modules[i]->word);
                ordered += (ordered.empty() ? "" : "+") + modules[i]->word;
            }
        }
        std::shuffle(words.begin(), words.end(), random);
        std::string text;
        for (const auto& word : words)
        {
            text += (text.empty() ? "" : "+") + word;
        }
        const Recompute recompute(text);
        for (size_t i = 0; i < modules.size(); i++)
        {
            EXPECT_EQ(*recompute.*modules[i]->module, (subset >> i & 1) != 0) << text;
        }
        EXPECT_FALSE(recompute->linears || recompute->layers) << text;
        EXPECT_EQ(ToString(recompute), ordered == "norm+activation" ? "selective" : ordered);
        EXPECT_EQ(Recompute(ToString(recompute)), recompute);
        // A label and a canonical text say it.
        Plan plan;
        plan.parallel.recompute = recompute;
        EXPECT_THAT(Label(plan), testing::HasSubstr(" recompute=" + ToString(recompute)));
        EXPECT_THAT(CanonicalText(plan), testing::HasSubstr("recompute=" + ToString(recompute)));
    }
}

TEST(Recompute, WhatIsWrongIsNamedWithWhatIsAllowed)
{
    const auto error = [](const char* text) {
        try
        {
            return ToString(Recompute(text));
        }
        catch (const ValueError& refused)
        {
            EXPECT_THAT(refused.Allowed(), testing::HasSubstr("mla-up-proj")) << text;
            EXPECT_THAT(refused.Allowed(), testing::HasSubstr("full-but-qkv")) << text;
            return refused.Problem() + "; " + refused.Remedy();
        }
    };
    EXPECT_EQ(error("mlp+full"), "'mlp+full': full stands alone; say full, or leave it out");
    EXPECT_EQ(error("none+mlp"), "'none+mlp': none stands alone; say none, or leave it out");
    EXPECT_EQ(error("mlp+moe+mlp"), "'mlp+moe+mlp': mlp is there twice; name it once");
    EXPECT_EQ(error("mlp+mo"), "'mlp+mo': 'mo' is not known; did you mean moe?");
    EXPECT_EQ(error("mlq"), "'mlq' is not known; did you mean mlp?");
    EXPECT_EQ(ToString(Recompute("mla-up-proj+mlp")), "mla-up-proj+mlp");
    EXPECT_THAT(error("mlp+"), testing::HasSubstr("'' is not known"));
    EXPECT_THAT(error(""), testing::HasSubstr("'' is not known"));
}

} // namespace

} // namespace scaleacross
