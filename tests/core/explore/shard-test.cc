// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/explore/shard.h"

#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// Shards are stretches that follow each other, and none is longer than another by more than a
/// family.
TEST(Shard, EveryFamilyIsInOne)
{
    for (const uint64_t family : {1, 3})
    {
        for (uint64_t families = 0; families < 20; families++)
        {
            for (uint64_t count = 1; count < 25; count++)
            {
                uint64_t next = 0;
                for (Shard shard{0, count}; shard.index < count; shard.index++)
                {
                    EXPECT_EQ(shard.Begin(families * family, family), next);
                    const uint64_t positions = shard.Positions(families * family, family);
                    EXPECT_EQ(positions % family, 0);
                    EXPECT_LE(positions * count, (families + count) * family);
                    EXPECT_GE((positions + family) * count, families * family);
                    next += positions;
                }
                EXPECT_EQ(next, families * family) << count;
            }
        }
    }
}

TEST(Shard, SizesOfTheLargestSpaces)
{
    // 2^63 = 3 x 3074457345618258602 + 2.
    const uint64_t size = uint64_t{1} << 63;
    EXPECT_EQ((Shard{0, 3}.Positions(size, 1)), 3074457345618258603U);
    EXPECT_EQ((Shard{1, 3}.Positions(size, 1)), 3074457345618258603U);
    EXPECT_EQ((Shard{2, 3}.Positions(size, 1)), 3074457345618258602U);
    EXPECT_EQ((Shard{2, 3}.Begin(size, 1)), 6148914691236517206U);
}

TEST(Shard, ReadsWhatItWrites)
{
    const Shard shard = ParseShard("2/4");
    EXPECT_EQ(shard.index, 1U);
    EXPECT_EQ(shard.count, 4U);
    EXPECT_EQ(ToString(shard), "2/4");
    EXPECT_TRUE(ParseShard("1/1").IsWhole());
    for (const char* wrong :
         {"", "1", "/", "1/", "/4", "0/4", "5/4", "1/0", "a/b", "-1/4", "1/4/4", " 1/4", "1/10001"})
    {
        EXPECT_THROW(ParseShard(wrong), ValueError) << wrong;
    }
}

} // namespace

} // namespace scaleacross
