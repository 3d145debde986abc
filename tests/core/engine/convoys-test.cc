// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/convoys.h"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace scaleacross
{

namespace
{

Collective
Cut(uint32_t phases, uint32_t chunks, uint32_t channels)
{
    Collective collective;
    collective.phases.resize(phases);
    collective.chunks = chunks;
    collective.channels = channels;
    return collective;
}

/// Lets every phase take one second, and gives when each convoy entered each phase.
std::map<uint32_t, std::vector<uint32_t>>
EntriesOf(const Collective& collective)
{
    Convoys convoys(collective);
    std::map<uint32_t, std::vector<uint32_t>> entries;
    std::vector<uint32_t> inside;
    const auto enter = [&](const Convoys::Entering& entering, uint32_t now) {
        for (const uint32_t convoy : entering)
        {
            entries[convoy].push_back(now);
            inside.push_back(convoy);
        }
    };
    enter(convoys.Start(), 0);
    for (uint32_t now = 1; !convoys.Done(); now++)
    {
        const std::vector<uint32_t> leaving = std::move(inside);
        inside.clear();
        for (const uint32_t convoy : leaving)
        {
            enter(convoys.Leave(convoy), now);
        }
    }
    return entries;
}

} // namespace

TEST(Convoys, FollowEachOtherThroughThePhases)
{
    // The worked case: 10 chunks on 4 channels.
    const Collective collective = Cut(2, 10, 4);
    const Convoys convoys(collective);
    ASSERT_EQ(convoys.Count(), 3U);
    EXPECT_EQ(convoys.ChunksOf(0), 4U);
    EXPECT_EQ(convoys.ChunksOf(1), 4U);
    EXPECT_EQ(convoys.ChunksOf(2), 2U);
    const auto entries = EntriesOf(collective);
    EXPECT_EQ(entries.at(0), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(entries.at(1), (std::vector<uint32_t>{1, 2}));
    EXPECT_EQ(entries.at(2), (std::vector<uint32_t>{2, 3}));
}

TEST(Convoys, AreFewWhateverTheChannels)
{
    // Work follows chunks / channels: 4,096 chunks at a time are one volume, not 4,096.
    EXPECT_EQ(Convoys(Cut(3, 4096, 1024)).Count(), 4U);
    EXPECT_EQ(Convoys(Cut(3, 1025, 1024)).Count(), 2U);
    EXPECT_EQ(Convoys(Cut(3, 16, 1024)).Count(), 1U);
    EXPECT_EQ(Convoys(Cut(3, 16, 1)).Count(), 16U);
}

TEST(Convoys, AreDoneAtOnceWithoutPhases)
{
    Convoys convoys(Cut(0, 1, 1));
    EXPECT_TRUE(convoys.Done());
    EXPECT_EQ(convoys.Start().count, 0U);
}

TEST(Convoys, OneBehindWaitsUntilThePhaseIsFree)
{
    // The first is slow in phase 1: the second leaves phase 0 and may not follow, the third may
    // enter phase 0.
    Convoys convoys(Cut(2, 3, 1));
    convoys.Start();
    EXPECT_EQ(convoys.Leave(0).count, 2U); // itself into phase 1, the second into phase 0
    const auto third = convoys.Leave(1);
    ASSERT_EQ(third.count, 1U);
    EXPECT_EQ(third.convoys[0], 2U);
    EXPECT_EQ(convoys.Leave(2).count, 0U);
    const auto second = convoys.Leave(0);
    ASSERT_EQ(second.count, 1U);
    EXPECT_EQ(second.convoys[0], 1U);
    EXPECT_FALSE(convoys.IsEnd(1));
    const auto last = convoys.Leave(1);
    ASSERT_EQ(last.count, 1U);
    EXPECT_EQ(last.convoys[0], 2U);
    EXPECT_TRUE(convoys.IsEnd(2));
    convoys.Leave(2);
    EXPECT_TRUE(convoys.Done());
}

} // namespace scaleacross
