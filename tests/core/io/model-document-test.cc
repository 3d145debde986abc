// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/io/model-document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

TEST(ModelAnswer, IsReadToThePicosecond)
{
    const ModelAnswer answer =
        ParseModelAnswer(" {\"iteration_time_s\": 2e-12, \"bubble_s\": 1e-12}\n", false);
    EXPECT_EQ(answer.time, Duration::Picoseconds(2));
    EXPECT_EQ(answer.bubble, Duration::Picoseconds(1));
    EXPECT_FALSE(answer.compute.has_value());
    EXPECT_EQ(ParseModelAnswer("{\"time_s\": 3}", true).time, Duration::Seconds(3));
    EXPECT_EQ(ParseModelAnswer("{\"infeasible\": \"a\\nb\"}", true).infeasible, "a | b");
    // Of a collective nothing but the time is asked.
    EXPECT_THROW(ParseModelAnswer("{\"time_s\": 3, \"compute_s\": 1}", true), ValueError);
    // Parts that were rounded may be a little longer than the whole.
    EXPECT_NO_THROW(ParseModelAnswer("{\"iteration_time_s\": 1, \"compute_s\": 1.0005}", false));
    EXPECT_THROW(ParseModelAnswer("{\"iteration_time_s\": 1, \"compute_s\": 1.01}", false),
                 ValueError);
}

TEST(Excerpt, IsOneLineOfUtf8)
{
    EXPECT_EQ(Excerpt("one\ntwo\n\n", 100), "one | two");
    EXPECT_EQ(Excerpt("a\tb\x1b[1m", 100), "a b [1m");
    EXPECT_EQ(Excerpt("M\xc3\xbcnchen", 100), "M\xc3\xbcnchen");
    EXPECT_EQ(Excerpt("M\xfcnchen", 100), "M?nchen");
    // A cut through a letter leaves none of it.
    EXPECT_EQ(Excerpt("M\xc3\xbcnchen", 2), "M?...");
    EXPECT_EQ(Excerpt("0123456789", 3), "012...");
    EXPECT_EQ(Excerpt("0123456789", 3, true), "...789");
    EXPECT_EQ(Excerpt("", 3), "");
}

} // namespace

} // namespace scaleacross
