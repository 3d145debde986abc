// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/collective.h"
#include "core/program/step-pattern.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// Part i of S bytes as the header defines it: [S i / n, S (i+1) / n).
Bytes
Part(uint64_t s, uint32_t i, uint32_t n)
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

/// Every lane over n members on servers of every size.
std::vector<Phase>
LanesOf(Pattern pattern, uint32_t n)
{
    std::vector<Phase> phases;
    for (uint32_t perServer = 1; perServer <= n; perServer++)
    {
        for (uint32_t lane = 0; n % perServer == 0 && lane < perServer; lane++)
        {
            phases.push_back(PhaseOf(pattern, n, kBytes));
            phases.back().perServer = perServer;
            phases.back().lane = lane;
        }
    }
    return phases;
}

/// All phases of n members that are tested.
std::vector<Phase>
PhasesOf(uint32_t n)
{
    std::vector<Phase> phases;
    for (const auto pattern : {Pattern::RingReduceScatter,
                               Pattern::RingAllGather,
                               Pattern::DirectAllToAll,
                               Pattern::SendToNext,
                               Pattern::TwoWayReduceScatter,
                               Pattern::TwoWayAllGather,
                               Pattern::SwitchAllGather})
    {
        phases.push_back(PhaseOf(pattern, n, kBytes));
    }
    for (const auto pattern : {Pattern::RingReduceScatter, Pattern::RingAllGather})
    {
        const auto lanes = LanesOf(pattern, n);
        phases.insert(phases.end(), lanes.begin(), lanes.end());
    }
    for (const auto pattern : {Pattern::JumpReduceScatter, Pattern::JumpAllGather})
    {
        for (const auto& round : DisseminationRounds(n))
        {
            phases.push_back(PhaseOf(pattern, n, kBytes));
            phases.back().shift = round.shift;
            phases.back().parts = round.parts;
        }
    }
    for (const uint64_t chunk : {1000, 100, 7})
    {
        phases.push_back(PhaseOf(Pattern::DoubleTree, n, kBytes));
        phases.back().chunk = Bytes(chunk);
    }
    return phases;
}

} // namespace

// Every phase is carried out by its flows alone: it ends, every input gets as many messages as it
// expects and in order, and the bytes are those promised.
TEST(Collective, FlowsEndAndAddUp)
{
    for (uint32_t n = 2; n <= 19; n++)
    {
        for (const Phase& phase : PhasesOf(n))
        {
            using Counts = std::array<uint32_t, kMostFlows>;
            std::vector<MemberFlows> flows;
            for (uint32_t i = 0; i < n; i++)
            {
                flows.push_back(FlowsOf(phase, i));
            }
            std::vector<Counts> received(n, Counts{});
            std::vector<Counts> sent(n, Counts{});
            std::vector<Bytes> bytes(n);
            Bytes total;
            bool moved = true;
            while (moved)
            {
                moved = false;
                for (uint32_t i = 0; i < n; i++)
                {
                    for (uint32_t o = 0; o < kMostFlows; o++)
                    {
                        const Outflow& output = flows[i].outputs[o];
                        const uint32_t number = sent[i][o];
                        if (number >= output.Allowed(received[i]))
                        {
                            continue;
                        }
                        const PhaseMessage message = MessageOf(phase, i, o, number);
                        EXPECT_NE(message.to, i);
                        // Some have other messages of the input under way at the same time.
                        if (StepsOf(phase).ChainOf() != Chain::None)
                        {
                            EXPECT_EQ(received[message.to][message.input], number);
                            EXPECT_EQ(message.to, output.to);
                        }
                        received[message.to][message.input]++;
                        sent[i][o]++;
                        // What the network copies is sent once.
                        if (!StepsOf(phase).IsCopied() || number == 0)
                        {
                            bytes[i] += message.bytes;
                            total += message.bytes;
                        }
                        moved = true;
                    }
                }
            }
            for (uint32_t i = 0; i < n; i++)
            {
                Bytes promised;
                for (uint32_t o = 0; o < kMostFlows; o++)
                {
                    EXPECT_EQ(sent[i][o], flows[i].outputs[o].messages);
                    EXPECT_EQ(received[i][o], flows[i].inputs[o]);
                    promised += flows[i].outputs[o].bytes;
                }
                EXPECT_EQ(bytes[i], promised);
                EXPECT_EQ(bytes[i], SentBy(phase, i));
            }
            EXPECT_EQ(total, phase.bytes * TimesSent(phase));
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
                const PhaseMessage step = MessageOf(phase, i, 0, k);
                const uint32_t part = (i + 2 * n - k - 1) % n;
                EXPECT_EQ(step.bytes, Part(kBytes, part, n));
                held[step.to][part].insert(before[i][part].begin(), before[i][part].end());
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
                const PhaseMessage step = MessageOf(phase, i, 0, k);
                const uint32_t part = (i + n - k) % n;
                EXPECT_TRUE(before[i].count(part)) << "sends what it has not got yet";
                EXPECT_EQ(step.bytes, Part(kBytes, part, n));
                held[step.to].insert(part);
            }
        }
        for (uint32_t i = 0; i < n; i++)
        {
            EXPECT_EQ(held[i].size(), n);
        }
    }
}

// A lane's ring goes once through all members, server by server; whoever leaves a server and who is
// entered after it have the same position, but for the last hop of an odd number of servers; and
// all lanes together leave and enter each position equally often.
TEST(Collective, LanesKeepToTheirPositions)
{
    for (uint32_t n = 2; n <= 24; n++)
    {
        std::map<uint32_t, std::vector<Phase>> lanes; // by members of a server
        for (const Phase& phase : LanesOf(Pattern::RingAllGather, n))
        {
            lanes[phase.perServer].push_back(phase);
        }
        for (const auto& [perServer, phases] : lanes)
        {
            const uint32_t servers = n / perServer;
            std::vector<uint32_t> leaves(perServer);
            std::vector<uint32_t> enters(perServer);
            for (const Phase& phase : phases)
            {
                uint32_t at = phase.lane; // where the first server is entered
                std::set<uint32_t> seen;
                for (uint32_t hop = 0; hop < n; hop++)
                {
                    EXPECT_TRUE(seen.insert(at).second);
                    EXPECT_EQ(at / perServer, hop / perServer);
                    const uint32_t next = MessageOf(phase, at, 0, 0).to;
                    if (next / perServer != at / perServer)
                    {
                        leaves[at % perServer]++;
                        enters[next % perServer]++;
                        if (servers % 2 == 0 || hop + 1 < n)
                        {
                            EXPECT_EQ(next % perServer, at % perServer);
                        }
                    }
                    at = next;
                }
                EXPECT_EQ(at, phase.lane);
            }
            if (servers > 1)
            {
                EXPECT_EQ(leaves, std::vector<uint32_t>(perServer, servers));
                EXPECT_EQ(enters, std::vector<uint32_t>(perServer, servers));
            }
        }
    }
}

// By sets of contributions, in any order of the ring: after n-1 steps each member has its own part
// of all, and after gathering each has all parts.
TEST(Collective, LanesReduceAndGatherEverything)
{
    for (uint32_t n = 2; n <= 12; n++)
    {
        for (const Phase& scatter : LanesOf(Pattern::RingReduceScatter, n))
        {
            Phase gather = scatter;
            gather.pattern = Pattern::RingAllGather;
            // Where a message of a ring is from tells what part it is: that which its member's own
            // contribution is in, and whose bytes it has.
            std::vector<uint32_t> place(n); // along the ring
            uint32_t at = 0;
            for (uint32_t i = 0; i < n; i++)
            {
                place[at] = i;
                at = MessageOf(scatter, at, 0, 0).to;
            }
            std::vector<uint32_t> memberAt(n);
            for (uint32_t i = 0; i < n; i++)
            {
                memberAt[place[i]] = i;
            }
            for (uint32_t i = 0; i < n; i++)
            {
                for (uint32_t k = 0; k + 1 < n; k++)
                {
                    // As in a ring whose members are numbered along it.
                    EXPECT_EQ(MessageOf(scatter, i, 0, k).bytes,
                              Part(kBytes, memberAt[(place[i] + 2 * n - k - 1) % n], n));
                    EXPECT_EQ(MessageOf(gather, i, 0, k).bytes,
                              Part(kBytes, memberAt[(place[i] + n - k) % n], n));
                }
            }
        }
    }
}

TEST(Collective, ASwitchAddsUpAndCopies)
{
    const Phase reduce = PhaseOf(Pattern::DirectAllToAll, 8, 800);
    const Phase gather = PhaseOf(Pattern::SwitchAllGather, 8, 800);
    for (uint32_t i = 0; i < 8; i++)
    {
        EXPECT_EQ(SentBy(reduce, i), Bytes(700));
        EXPECT_EQ(SentBy(gather, i), Bytes(100)); // together S: an all-reduce at the rate of a link
    }
}

TEST(Collective, TwoWayAllGatherMeetsHalfWay)
{
    for (uint32_t n = 2; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::TwoWayAllGather, n, kBytes);
        const uint32_t h = n / 2;
        EXPECT_EQ(StepCount(phase), h);
        // Halves of parts: 2 p and 2 p + 1 of part p.
        std::vector<std::set<uint32_t>> held(n);
        for (uint32_t i = 0; i < n; i++)
        {
            held[i] = {2 * i, 2 * i + 1};
        }
        for (uint32_t k = 0; k < h; k++)
        {
            const auto before = held;
            for (uint32_t i = 0; i < n; i++)
            {
                for (uint32_t way = 0; way < 2; way++)
                {
                    const PhaseMessage step = MessageOf(phase, i, way, k);
                    EXPECT_EQ(step.to, (i + (way == 0 ? 1 : n - 1)) % n);
                    const uint32_t part = (i + (way == 0 ? n - k : k)) % n;
                    const bool half = n % 2 == 0 && k == h - 1;
                    uint64_t bytes = 0;
                    for (uint32_t side = 0; side < 2; side++)
                    {
                        if (!half || side == way)
                        {
                            const uint64_t whole = Part(kBytes, part, n).Count();
                            bytes += side == 0 ? whole / 2 : whole - whole / 2;
                            EXPECT_TRUE(before[i].count(2 * part + side));
                            EXPECT_TRUE(held[step.to].insert(2 * part + side).second)
                                << "has it already";
                        }
                    }
                    EXPECT_EQ(step.bytes, Bytes(bytes));
                }
            }
        }
        for (uint32_t i = 0; i < n; i++)
        {
            EXPECT_EQ(held[i].size(), 2 * n);
        }
    }
}

TEST(Collective, TwoWayReduceScatterSumsEveryContributionOnce)
{
    for (uint32_t n = 2; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::TwoWayReduceScatter, n, kBytes);
        const uint32_t h = n / 2;
        // Contributions to halves of parts, on each way by itself; a member's own is added at the
        // end of both.
        std::vector<std::vector<std::multiset<uint32_t>>> held(
            2 * n,
            std::vector<std::multiset<uint32_t>>(2 * n));
        for (uint32_t k = 0; k < h; k++)
        {
            const auto before = held;
            for (uint32_t i = 0; i < n; i++)
            {
                for (uint32_t way = 0; way < 2; way++)
                {
                    const PhaseMessage step = MessageOf(phase, i, way, k);
                    const uint32_t distance = h - k;
                    const uint32_t part = (i + (way == 0 ? distance : n - distance)) % n;
                    const uint64_t whole = Part(kBytes, part, n).Count();
                    uint64_t bytes = 0;
                    for (uint32_t side = 0; side < 2; side++)
                    {
                        if (n % 2 == 1 || k > 0 || side == way)
                        {
                            auto sum = before[2 * i + way][2 * part + side];
                            sum.insert(i);
                            held[2 * step.to + way][2 * part + side] = sum;
                            bytes += side == 0 ? whole / 2 : whole - whole / 2;
                        }
                    }
                    EXPECT_EQ(step.bytes, Bytes(bytes));
                }
            }
        }
        for (uint32_t i = 0; i < n; i++)
        {
            for (uint32_t side = 0; side < 2; side++)
            {
                auto sum = held[2 * i][2 * i + side];
                const auto& other = held[2 * i + 1][2 * i + side];
                sum.insert(other.begin(), other.end());
                sum.insert(i);
                EXPECT_EQ(sum.size(), n) << "member " << i << " of " << n;
                EXPECT_EQ(std::set<uint32_t>(sum.begin(), sum.end()).size(), n);
            }
        }
    }
}

TEST(Collective, TreesAreTreesOfLogarithmicDepth)
{
    for (uint32_t n = 2; n <= 70; n++)
    {
        uint32_t log = 0; // rounded up
        for (; 1U << log < n; log++)
        {
        }
        std::vector<uint32_t> inner(n, 0); // trees in which a member has two children
        uint32_t deepest = 0;
        for (uint32_t tree = 0; tree < 2; tree++)
        {
            uint32_t roots = 0;
            uint32_t edges = 0;
            for (uint32_t i = 0; i < n; i++)
            {
                const TreePlace place = PlaceInTree(tree, i, n);
                for (const uint32_t child : {place.left, place.right})
                {
                    if (child != TreePlace::kNone)
                    {
                        edges++;
                        EXPECT_EQ(PlaceInTree(tree, child, n).parent, i);
                    }
                }
                inner[i] += place.left != TreePlace::kNone && place.right != TreePlace::kNone;
                roots += place.parent == TreePlace::kNone;
                uint32_t depth = 0;
                for (uint32_t at = i; PlaceInTree(tree, at, n).parent != TreePlace::kNone;
                     at = PlaceInTree(tree, at, n).parent)
                {
                    ASSERT_LT(++depth, n);
                }
                deepest = std::max(deepest, depth);
            }
            EXPECT_EQ(roots, 1U);
            EXPECT_EQ(edges, n - 1);
        }
        EXPECT_EQ(deepest, log);
        Phase phase = PhaseOf(Pattern::DoubleTree, n, kBytes);
        EXPECT_EQ(StepCount(phase), 2 * log);
        for (uint32_t i = 0; i < n; i++)
        {
            EXPECT_LE(inner[i], 1U) << "member " << i << " of " << n;
            // Up and down an edge in each tree, and twice to children in one: 4 halves.
            phase.chunk = Bytes(64);
            EXPECT_LE(SentBy(phase, i), Bytes(2 * kBytes + 2));
        }
    }
}

TEST(Collective, TreeOfFour)
{
    const TreePlace place = PlaceInTree(0, 2, 4);
    EXPECT_EQ(place.parent, 0U);
    EXPECT_EQ(place.left, 1U);
    EXPECT_EQ(place.right, 3U);
    EXPECT_EQ(PlaceInTree(0, 0, 4).right, 2U);
    EXPECT_EQ(PlaceInTree(1, 1, 4).parent, 3U);
}

TEST(Collective, DisseminationTakesTheLogarithm)
{
    for (uint32_t n = 1; n <= 100; n++)
    {
        const auto rounds = DisseminationRounds(n);
        uint32_t log = 0;
        for (; 1U << log < n; log++)
        {
        }
        EXPECT_EQ(rounds.size(), log);
        // All-gather, by its rounds as the header defines them: member i ends with all parts.
        uint32_t parts = 1;
        for (const auto& round : rounds)
        {
            EXPECT_LE(round.parts, parts) << "sends what it has not got yet";
            EXPECT_EQ(round.shift, parts) << "what comes is what follows";
            parts += round.parts;
        }
        EXPECT_EQ(parts, n);
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
                const PhaseMessage step = MessageOf(phase, i, 0, k);
                EXPECT_TRUE(reached.insert(step.to).second);
                EXPECT_EQ(step.bytes, Part(kBytes, step.to, n));
            }
            EXPECT_EQ(reached.size(), n);
        }
    }
}

TEST(Collective, SendToNextIsOneStepOfTheWholeBuffer)
{
    for (uint32_t n = 2; n <= 9; n++)
    {
        const Phase phase = PhaseOf(Pattern::SendToNext, n, kBytes);
        EXPECT_EQ(StepCount(phase), 1U);
        for (uint32_t i = 0; i < n; i++)
        {
            const PhaseMessage step = MessageOf(phase, i, 0, 0);
            EXPECT_EQ(step.to, (i + 1) % n);
            EXPECT_EQ(step.bytes, Bytes(kBytes));
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
