// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/explore/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::HasSubstr;

TEST(Objective, BoundsWhatItMeasures)
{
    RunReport report;
    report.iterationTime = Duration::Microseconds(3);
    report.memoryMax = Bytes(40);
    report.crossBuildingBytes = Bytes(50);
    const ClosedForm known{report.iterationTime, report.memoryMax, report.crossBuildingBytes};
    for (const auto* row : Objective::Rows())
    {
        EXPECT_EQ(row->least(known), row->value(report)) << row->word;
        EXPECT_EQ(row->least(ClosedForm()), 0) << row->word;
        EXPECT_NE(row->unit, "") << row->word;
    }
    EXPECT_DOUBLE_EQ(Objective("time")->value(report), 3e-6);
    EXPECT_EQ(Objective("memory")->value(report), 40);
    EXPECT_EQ(Objective("bytes")->value(report), 50);
}

TEST(Objective, AFrontIsOfTwoOrThree)
{
    EXPECT_EQ(FrontText(UsualFront()), "time,memory");
    for (const char* text : {"time,memory", "bytes,memory", "bytes,time,memory", "none"})
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
}

} // namespace

} // namespace scaleacross
