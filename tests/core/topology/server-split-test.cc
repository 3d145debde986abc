// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/server-split.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// Of a group over servers of 8 GPUs.
ServerSplit
SplitOf(const RankGroup& group)
{
    RankLayout layout;
    layout.gpusPerNode = 8;
    return ServerSplit(group, layout);
}

TEST(ServerSplit, MembersOfAServerAndTheirCounterparts)
{
    // The worked case: every second GPU of two servers.
    const ServerSplit split = SplitOf(RankGroup({{2, 8}}));
    EXPECT_EQ(split.inner, RankGroup({{2, 4}}));
    EXPECT_EQ(split.outer, RankGroup({{8, 2}}));
    EXPECT_EQ(split.Servers(), 2U);
    // All within one, and one on each.
    EXPECT_EQ(SplitOf(RankGroup({{1, 8}})).Servers(), 1U);
    EXPECT_EQ(SplitOf(RankGroup({{8, 4}})).Servers(), 4U);
    EXPECT_EQ(SplitOf(RankGroup({{8, 4}})).inner.Size(), 1U);
}

TEST(ServerSplit, WhatServersCutUnevenlyIsOnOneEach)
{
    // Three members that are 4 apart: a server ends after the second one.
    const RankGroup group({{4, 3}});
    const ServerSplit split = SplitOf(group);
    EXPECT_EQ(split.inner.Size(), 1U);
    EXPECT_EQ(split.outer, group);
    EXPECT_EQ(split.Servers(), 3U);
}

} // namespace
} // namespace scaleacross
