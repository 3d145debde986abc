// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/collective.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace scaleacross
{

namespace
{

/// Part i of S bytes as the header defines it: [S i / n, S (i+1) / n).
Bytes
PartOf(uint64_t s, uint32_t i, uint32_t n)
{
    return Bytes(s * (i + 1) / n - s * i / n);
}

Phase
PhaseOf(Pattern pattern, uint32_t n, uint64_t bytes)
{
    return {pattern, RankGroup({{1, n}}), Bytes(bytes)};
}

/// What one member holds of each part: the members whose contribution is in it.
using Parts = std::vector<std::set<uint32_t>>;

constexpr uint64_t kBytes = 1003; // divisible by none of the sizes but 1 and 17

} // namespace

TEST(Collective, StepsMatchAtBothEnds)
{
    for (const auto pattern :
         {Pattern::RingReduceScatter, Pattern::RingAllGather, Pattern::DirectAllToAll})
    {
        for (uint32_t n = 1; n <= 9; n++)
        {
            const Phase phase = PhaseOf(pattern, n, kBytes);
            EXPECT_EQ(StepCount(phase), n - 1);
            for (uint32_t i = 0; i < n; i++)
            {
                Bytes sent;
                for (uint32_t k = 0; k < StepCount(phase); k++)
                {
                    const PhaseStep step = StepOf(phase, i, k);
                    const PhaseStep there = StepOf(phase, step.sendTo, k);
                    EXPECT_NE(step.sendTo, i);
                    EXPECT_EQ(there.receiveFrom, i);
                    EXPECT_EQ(there.receive, step.send);
                    sent += step.send;
                }
                EXPECT_EQ(SentBy(phase, i), sent);
            }
        }
    }
}

TEST(Collective, RingReduceScatterLeavesEachMemberItsPartOfAll)
{
    for (uint32_t n = 1; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::RingReduceScatter, n, kBytes);
        std::vector<Parts> held(n, Parts(n));
        for (uint32_t i = 0; i < n; i++)
        {
            held[i].assign(n, {i});
        }
        for (uint32_t k = 0; k + 1 < n; k++)
        {
            const auto before = held;
            for (uint32_t i = 0; i < n; i++)
            {
                const PhaseStep step = StepOf(phase, i, k);
                const uint32_t part = (i + 2 * n - k - 1) % n;
                EXPECT_EQ(step.send, PartOf(kBytes, part, n));
                held[step.sendTo][part].insert(before[i][part].begin(), before[i][part].end());
            }
        }
        for (uint32_t i = 0; i < n; i++)
        {
            EXPECT_EQ(held[i][i].size(), n) << "member " << i << " of " << n;
        }
    }
}

TEST(Collective, RingAllGatherBringsEveryPartToEverybody)
{
    for (uint32_t n = 1; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::RingAllGather, n, kBytes);
        std::vector<std::set<uint32_t>> held(n);
        for (uint32_t i = 0; i < n; i++)
        {
            held[i] = {i};
        }
        for (uint32_t k = 0; k + 1 < n; k++)
        {
            const auto before = held;
            for (uint32_t i = 0; i < n; i++)
            {
                const PhaseStep step = StepOf(phase, i, k);
                const uint32_t part = (i + n - k) % n;
                EXPECT_TRUE(before[i].count(part)) << "sends what it has not got yet";
                EXPECT_EQ(step.send, PartOf(kBytes, part, n));
                held[step.sendTo].insert(part);
            }
        }
        for (uint32_t i = 0; i < n; i++)
        {
            EXPECT_EQ(held[i].size(), n);
        }
    }
}

TEST(Collective, AllToAllSendsEveryOtherMemberItsPart)
{
    for (uint32_t n = 1; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::DirectAllToAll, n, kBytes);
        for (uint32_t i = 0; i < n; i++)
        {
            std::set<uint32_t> reached{i};
            for (uint32_t k = 0; k + 1 < n; k++)
            {
                const PhaseStep step = StepOf(phase, i, k);
                EXPECT_TRUE(reached.insert(step.sendTo).second);
                EXPECT_EQ(step.send, PartOf(kBytes, step.sendTo, n));
            }
            EXPECT_EQ(reached.size(), n);
        }
    }
    EXPECT_FALSE(StepsDepend(Pattern::DirectAllToAll));
}

TEST(Collective, SendToNextIsOneStepOfTheWholeBuffer)
{
    for (uint32_t n = 2; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::SendToNext, n, kBytes);
        EXPECT_EQ(StepCount(phase), 1U);
        for (uint32_t i = 0; i < n; i++)
        {
            const PhaseStep step = StepOf(phase, i, 0);
            EXPECT_EQ(step.sendTo, (i + 1) % n);
            EXPECT_EQ(step.receiveFrom, (i + n - 1) % n);
            EXPECT_EQ(step.send, Bytes(kBytes));
            EXPECT_EQ(step.receive, Bytes(kBytes));
            EXPECT_EQ(SentBy(phase, i), Bytes(kBytes));
        }
    }
}

TEST(Collective, PartsOfAHugeBufferAddUp)
{
    // 2^62 + 1 bytes over 1,000,003 members: products of the two would not fit 64 bits.
    const uint64_t bytes = (1ULL << 62) + 1;
    const uint32_t n = 1000003;
    const Phase phase = PhaseOf(Pattern::RingAllGather, n, bytes);
    // All of the buffer but the part that the successor started from, which has S/n bytes to one.
    const uint64_t kept = bytes - SentBy(phase, 7).Count();
    EXPECT_GE(kept, bytes / n);
    EXPECT_LE(kept, bytes / n + 1);
}

TEST(Collective, ClassesHaveNames)
{
    EXPECT_EQ(ToString(CommClass::Tensor), "tp");
    EXPECT_EQ(ToString(CommClass::Context), "cp");
    EXPECT_EQ(ToString(CommClass::Expert), "ep");
    EXPECT_EQ(ToString(CommClass::Pipeline), "pp");
    EXPECT_EQ(ToString(CommClass::Data), "dp");
}

} // namespace scaleacross
