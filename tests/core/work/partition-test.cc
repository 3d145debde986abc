// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/partition.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace scaleacross
{

namespace
{

/// All ways to cut `items` into `parts`, as ends.
void
AllCuts(uint32_t items,
        uint32_t parts,
        std::vector<uint32_t>& ends,
        const std::function<void(const std::vector<uint32_t>&)>& visit)
{
    const uint32_t begin = ends.empty() ? 0 : ends.back();
    if (parts == 1)
    {
        ends.push_back(items);
        visit(ends);
        ends.pop_back();
        return;
    }
    for (uint32_t end = begin + 1; end + (parts - 1) <= items; end++)
    {
        ends.push_back(end);
        AllCuts(items, parts - 1, ends, visit);
        ends.pop_back();
    }
}

TEST(Partition, IsTheBestOfAllWays)
{
    std::mt19937 draw(7);
    for (int trial = 0; trial < 200; trial++)
    {
        const uint32_t items = 1 + draw() % 9;
        const uint32_t parts = 1 + draw() % items;
        std::vector<double> weight(items);
        std::vector<double> speed(parts);
        std::generate(weight.begin(), weight.end(), [&] { return 1 + draw() % 5; });
        std::generate(speed.begin(), speed.end(), [&] { return 1 + draw() % 2; });
        const PartCost cost = [&](uint32_t part, uint32_t first, uint32_t end) {
            return std::accumulate(weight.begin() + first, weight.begin() + end, 0.0) * speed[part];
        };
        const auto valueOf = [&](const std::vector<uint32_t>& ends) {
            double greatest = 0;
            double squares = 0;
            for (uint32_t i = 0; i < parts; i++)
            {
                const double own = cost(i, i == 0 ? 0 : ends[i - 1], ends[i]);
                greatest = std::max(greatest, own);
                squares += own * own;
            }
            return std::make_pair(greatest, squares);
        };
        auto best = std::make_pair(1e9, 1e9);
        std::vector<uint32_t> ends;
        AllCuts(items, parts, ends, [&](const std::vector<uint32_t>& way) {
            best = std::min(best, valueOf(way));
        });
        EXPECT_EQ(valueOf(Partition(items, parts, cost)), best);
    }
}

TEST(DealOut, IsTheBestOfAllWays)
{
    std::mt19937 draw(11);
    for (int trial = 0; trial < 200; trial++)
    {
        const uint32_t total = 1 + draw() % 30;
        const uint32_t least = 1 + draw() % 2;
        std::vector<uint32_t> weights(1 + draw() % 3);
        std::generate(weights.begin(), weights.end(), [&] { return 1 + draw() % 3; });
        std::vector<double> time(weights.size());
        std::generate(time.begin(), time.end(), [&] { return 1 + draw() % 4; });
        const auto cost = [&](uint32_t i, uint32_t n) { return (n + 2.0) * time[i]; };
        double best = 1e9;
        std::vector<uint32_t> numbers(weights.size(), least);
        while (true)
        {
            uint32_t sum = 0;
            double greatest = 0;
            for (size_t i = 0; i < numbers.size(); i++)
            {
                sum += numbers[i] * weights[i];
                greatest = std::max(greatest, cost(static_cast<uint32_t>(i), numbers[i]));
            }
            best = sum == total ? std::min(best, greatest) : best;
            size_t i = 0;
            while (i < numbers.size() && (numbers[i] += least) > total)
            {
                numbers[i++] = least;
            }
            if (i == numbers.size())
            {
                break;
            }
        }
        const auto found = DealOut(total, weights, least, cost);
        if (best == 1e9)
        {
            EXPECT_TRUE(found.empty());
            continue;
        }
        ASSERT_EQ(found.size(), weights.size());
        uint32_t sum = 0;
        double greatest = 0;
        for (size_t i = 0; i < found.size(); i++)
        {
            EXPECT_GE(found[i], least);
            EXPECT_EQ(found[i] % least, 0U);
            sum += found[i] * weights[i];
            greatest = std::max(greatest, cost(static_cast<uint32_t>(i), found[i]));
        }
        EXPECT_EQ(sum, total);
        EXPECT_DOUBLE_EQ(greatest, best);
    }
}

/// Replicas of one size are counted one by one, and of several in what they have in common: not
/// the sequences.
TEST(DealOut, ManySequencesAreNoMoreWork)
{
    // Two buildings of 1,024 replicas, the second half as fast: two thirds and a third of
    // 3 x 2^30 / 1,024 microbatches per replica.
    const auto cost = [](uint32_t i, uint32_t n) { return n * (i + 1.0); };
    EXPECT_EQ(DealOut(3U << 30, {1024, 1024}, 1, cost),
              (std::vector<uint32_t>{2U << 20, 1U << 20}));
    // 3 x 2^30 is no multiple of 1,000: no numbers add up to it.
    EXPECT_TRUE(DealOut(3U << 30, {1000, 1000}, 1, cost).empty());
    // Without a common divisor: 3 a + 2 b = 10^6, a = 2 b: b = 125,000.
    EXPECT_EQ(DealOut(1000000, {3, 2}, 1, cost), (std::vector<uint32_t>{250000, 125000}));
}

} // namespace

} // namespace scaleacross
