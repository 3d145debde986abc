// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"

#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

TEST(TrafficClasses, AreThoseThatSomethingIsIn)
{
    TrafficClasses classes;
    EXPECT_TRUE(classes.AreOne());
    EXPECT_EQ(classes.Used(), 1U);
    classes.of.fill(3);
    EXPECT_TRUE(classes.AreOne());
    EXPECT_EQ(classes.Used(), 8U);
    classes.of = {2, 0, 0, 1, 0};
    EXPECT_FALSE(classes.AreOne());
    EXPECT_EQ(classes.Used(), 7U);
    EXPECT_EQ(classes.Count(), 3U);
    EXPECT_EQ(classes.Of(CommClass::Tensor), 2U);
    EXPECT_EQ(classes.Of(CommClass::Pipeline), 1U);
}

TEST(TrafficClasses, WeightsReadBack)
{
    EXPECT_EQ(ParseClassWeights("strict"), (ClassWeights{0, 0, 0, 0}));
    EXPECT_EQ(ParseClassWeights("1:3"), (ClassWeights{1, 3, 0, 0}));
    EXPECT_EQ(ParseClassWeights("0:0:5:64"), (ClassWeights{0, 0, 5, 64}));
    EXPECT_EQ(ClassWeightsText({0, 0, 0, 0}), "strict");
    EXPECT_EQ(ClassWeightsText({1, 3, 0, 0}), "1:3");
    EXPECT_EQ(ClassWeightsText({0, 0, 5, 0}), "0:0:5");
    EXPECT_EQ(ClassWeightsText(ParseClassWeights("0:0:0")), "strict");
    for (const char* text : {"", ":", "1:", ":1", "1:65", "1:-1", "1:1:1:1:1", "fair", "1 : 3"})
    {
        EXPECT_THROW(ParseClassWeights(text), ValueError) << text;
    }
}

TEST(TrafficClasses, AreFieldsOfThePlan)
{
    Plan plan;
    EXPECT_EQ(CanonicalText(plan).find("class"), std::string::npos);
    FindPlanField("network.classes.pp")->set(plan, "1");
    FindPlanField("network.class_weights")->set(plan, "1:3");
    EXPECT_EQ(plan.network.classes.Of(CommClass::Pipeline), 1U);
    const std::string text = CanonicalText(plan);
    EXPECT_NE(text.find("classes.pp=1 class_weights=1:3"), std::string::npos) << text;
    EXPECT_EQ(CanonicalText(PlanOfText(text).value()), text);
    plan.network.classes.of[0] = kTrafficClasses;
    EXPECT_THROW(plan.network.Validate(), ConfigError);
}

TEST(TrafficClasses, DoNotGoWithWhatWouldMixThem)
{
    const auto conflict = [](NetworkPlan network) {
        const auto found = network.FindConflict();
        return found ? found->Where() : std::string();
    };
    NetworkPlan network;
    network.ns3Attributes["ns3::RdmaQueuePair::Priority"] = "4";
    EXPECT_EQ(conflict(network), "");
    network.classes.of = {1, 0, 0, 0, 0};
    EXPECT_EQ(conflict(network), "network.classes");
    network.ns3Attributes.clear();
    EXPECT_EQ(conflict(network), "");
    network.transport = Transport("trimming");
    network.recovery = Recovery("selective-repeat");
    EXPECT_EQ(conflict(network), "network.class_weights");
    network.classes.weights = {1, 3};
    EXPECT_EQ(conflict(network), "");
}

} // namespace
} // namespace scaleacross
