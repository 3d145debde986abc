// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/spec/crossing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

std::string
RefusalOf(const std::string& text)
{
    try
    {
        Crossing::Parse(text);
    }
    catch (const ValueError& error)
    {
        EXPECT_EQ(error.Allowed(), kCrossingAllowed);
        return error.Problem();
    }
    return "accepted";
}

TEST(Crossing, NamedOnesAreOrders)
{
    EXPECT_EQ(Crossing::Parse("tp-cp-ep-pp-dp"), Crossing::Data);
    EXPECT_EQ(Crossing::Parse("tp-cp-ep-dp-pp"), Crossing::Pipeline);
    EXPECT_EQ(Crossing::Parse("tp-cp-pp-dp-ep"), Crossing::Expert);
    for (const char* name : {"dp", "pp", "ep"})
    {
        EXPECT_TRUE(Crossing::Parse(name).IsNamed());
        EXPECT_EQ(ToString(Crossing::Parse(name)), name);
    }
    EXPECT_EQ(NameOf(Crossing::Expert), "EP-out");
}

TEST(Crossing, OrdersAreReadBack)
{
    for (const char* text : {"tp-pp-cp-ep-dp", "tp-cp-ep-pp4-dp-pp", "tp2-ep-tp-cp-pp2-dp16-pp-dp"})
    {
        const Crossing crossing = Crossing::Parse(text);
        EXPECT_EQ(ToString(crossing), text);
        EXPECT_EQ(NameOf(crossing), text);
        EXPECT_FALSE(crossing.IsNamed());
    }
    const Crossing mixed = Crossing::Parse("tp-cp-ep-pp4-dp-pp");
    EXPECT_EQ(mixed.size, 6U);
    EXPECT_EQ(mixed.parts[3].count, 4U);
    EXPECT_EQ(mixed.Outermost(), Dimension::Pipeline);
    EXPECT_NE(mixed, Crossing::Parse("tp-cp-ep-pp2-dp-pp"));
}

TEST(Crossing, RefusesWhatIsNoOrder)
{
    EXPECT_THAT(RefusalOf(""), HasSubstr("'' is no dimension"));
    EXPECT_THAT(RefusalOf("tp"), HasSubstr("cp without a count is missing"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-pp-fsdp"), HasSubstr("'fsdp' is no dimension"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-dp"), HasSubstr("pp without a count is missing"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-pp4-dp"), HasSubstr("pp without a count is missing"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-pp-dp-pp"), HasSubstr("pp stands there 2 times"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-pp1-dp-pp"), HasSubstr("'pp1' is not a whole number from 2"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-ppx-dp-pp"), HasSubstr("'ppx' is not a whole number from 2"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-pp4-pp-dp"), HasSubstr("pp follows itself"));
    EXPECT_THAT(RefusalOf("tp-cp-ep-pp-dp-"), HasSubstr("'' is no dimension"));
    EXPECT_THAT(RefusalOf("tp2-cp2-tp3-cp3-tp-cp-ep-pp-dp"), HasSubstr("more than 8 parts"));
}

} // namespace

} // namespace scaleacross
