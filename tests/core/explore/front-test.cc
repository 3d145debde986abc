// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/explore/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

TEST(Front, IsOfTwoOrThree)
{
    EXPECT_EQ(FrontText({}), "none");
    for (const char* text :
         {"time,memory", "bytes,memory", "bytes,time,memory", "none", "time+0.5,memory"})
    {
        EXPECT_EQ(FrontText(ParseFront(text)), text);
    }
    const auto problem = [](const std::string& text) -> std::string {
        try
        {
            return FrontText(ParseFront(text)) + " is taken";
        }
        catch (const ValueError& error)
        {
            return error.Problem() + "; " + error.Allowed() + "; " + error.Remedy();
        }
    };
    EXPECT_THAT(problem("time,memori"), HasSubstr("did you mean memory"));
    EXPECT_THAT(problem("time"), HasSubstr("is its best plan; two or three of time, "));
    EXPECT_THAT(problem("time,"), HasSubstr("is its best plan"));
    EXPECT_THAT(problem("time,time"), HasSubstr("'time' is given twice"));
    EXPECT_THAT(problem("time,none"), HasSubstr("'none'"));
    EXPECT_EQ(FrontText(ParseFront("time+50%, memory")), "time+0.5,memory");
    EXPECT_THAT(problem("time,memory+50%"), HasSubstr("only the first objective"));
    EXPECT_THAT(problem("time+50,memory"), HasSubstr("did you mean 50%?"));
    EXPECT_THAT(problem("time+,memory"), HasSubstr("neither a fraction nor a percentage"));
    EXPECT_THAT(problem("time+-1%,memory"), HasSubstr("from 0% to below 1000%"));
    EXPECT_THAT(problem("+50%,memory"), HasSubstr("''"));
}

} // namespace

} // namespace scaleacross
