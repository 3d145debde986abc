// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/objective.h"
#include "core/io/text-file.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/event-spec.h"
#include "core/spec/fabric-shape-words.h"
#include "core/spec/network-plan.h"
#include "core/spec/plan-words.h"
#include "core/spec/recompute.h"
#include "core/spec/stack-words.h"
#include "places.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace scaleacross
{

namespace
{

const std::filesystem::path g_pages = SourcePath("contrib/scaleacross/doc");

/// The pages that have the word in backticks.
std::vector<std::string>
PagesThatName(const std::string& word)
{
    std::vector<std::string> pages;
    for (const auto& entry : std::filesystem::directory_iterator(g_pages))
    {
        if (ReadTextFile(entry.path().string()).find("`" + word + "`") != std::string::npos)
        {
            pages.push_back(entry.path().filename().string());
        }
    }
    return pages;
}

} // namespace

/// What holds of every registry of words.
template <class Value>
class Vocabulary : public testing::Test
{
};

using Vocabularies = testing::Types<Transport,
                                    Multipath,
                                    CongestionControl,
                                    Recovery,
                                    Balance,
                                    QpScheduler,
                                    Copy,
                                    CollectiveAlgorithm,
                                    AllToAllAlgorithm,
                                    Sharding,
                                    Reduction,
                                    RecomputeWord,
                                    Apportion,
                                    Receives,
                                    GraphScope,
                                    Schedule,
                                    EventKind,
                                    Shape,
                                    NcclAlgorithm,
                                    NcclProtocol,
                                    Architecture,
                                    Baseline,
                                    Objective>;
TYPED_TEST_SUITE(Vocabulary, Vocabularies);

TYPED_TEST(Vocabulary, EveryWordIsExplainedAndNamedByAPage)
{
    std::set<std::string> seen;
    for (const auto* row : TypeParam::Rows())
    {
        const std::string& word = row->Name();
        EXPECT_TRUE(seen.insert(word).second) << word << " is there twice";
        EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
                  std::string::npos)
            << word;
        EXPECT_GT(row->Help().size(), 10U) << word << " has no line of help";
        EXPECT_LE(row->Help().size(), 200U) << word << ": " << row->Help();
        EXPECT_FALSE(PagesThatName(word).empty()) << "no page of doc/ has `" << word << "`";
    }
}

TYPED_TEST(Vocabulary, AWordIsFoundByItsNameAndNoOther)
{
    for (const auto* row : TypeParam::Rows())
    {
        const TypeParam value(row->Name());
        EXPECT_EQ(&*value, row);
        EXPECT_EQ(ToString(value), row->Name());
        try
        {
            const TypeParam other(row->Name() + "q");
            FAIL() << other.Name();
        }
        catch (const ValueError& error)
        {
            EXPECT_THAT(error.Problem(), testing::HasSubstr(row->Name() + "q"));
            EXPECT_EQ(error.Allowed(), AnyOf(TypeParam::Names()));
            EXPECT_THAT(error.Remedy(), testing::HasSubstr("did you mean "));
        }
    }
}

/// What other software calls a word is refused like any other, and told what to say.
TYPED_TEST(Vocabulary, AWordOfOtherSoftwareNamesOurs)
{
    if constexpr (!std::is_same_v<TypeParam, Schedule>) // whose rows have none
    {
        for (const auto* row : TypeParam::Rows())
        {
            for (const OtherName& other : row->others)
            {
                EXPECT_THAT(TypeParam::Names(), testing::Not(testing::Contains(other.name)));
                EXPECT_THAT(other.here, testing::HasSubstr(row->Name()));
                try
                {
                    const TypeParam value(other.name);
                    FAIL() << other.name << " is " << value.Name();
                }
                catch (const ValueError& error)
                {
                    EXPECT_EQ(error.Problem(), "'" + other.name + "' is said otherwise here");
                    EXPECT_EQ(error.Allowed(), AnyOf(TypeParam::Names()));
                    EXPECT_EQ(error.Remedy(), "say " + other.here);
                }
            }
        }
    }
}

TYPED_TEST(Vocabulary, OneIsWhatHoldsUnlessSaid)
{
    // A study names no baseline, or those it wants; when gradients are reduced follows from
    // sharding.
    if constexpr (!std::is_same_v<TypeParam, Baseline> && !std::is_same_v<TypeParam, Reduction>)
    {
        size_t usual = 0;
        for (const auto* row : TypeParam::Rows())
        {
            usual += row->IsUsual() ? 1 : 0;
        }
        EXPECT_EQ(usual, 1U);
        EXPECT_TRUE(TypeParam()->IsUsual());
    }
}

/// Each can be had, with something else: no fact rules a word out for good.
TEST(Vocabularies, EveryControlAndMultipathServesSomePlan)
{
    NetworkPlan plan;
    plan.recovery = "selective-repeat";
    for (const auto* control : CongestionControl::Rows())
    {
        plan.control = *control;
        EXPECT_FALSE(plan.FindConflict()) << control->word;
    }
    plan.control = CongestionControl();
    for (const auto* multipath : Multipath::Rows())
    {
        plan.multipath = *multipath;
        EXPECT_FALSE(plan.FindConflict()) << multipath->word;
    }
    plan.multipath = Multipath();
    for (const auto* transport : Transport::Rows())
    {
        plan.transport = *transport;
        EXPECT_FALSE(plan.FindConflict()) << transport->word;
    }
}

TEST(Pages, AreAllInTheIndex)
{
    const std::string index = ReadTextFile((g_pages / "README.md").string());
    for (const auto& entry : std::filesystem::directory_iterator(g_pages))
    {
        const std::string name = entry.path().filename().string();
        EXPECT_TRUE(name == "README.md" || index.find("](" + name + ")") != std::string::npos)
            << "doc/README.md does not list " << name;
    }
}

} // namespace scaleacross
