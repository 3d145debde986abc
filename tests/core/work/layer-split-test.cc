// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

std::vector<uint32_t>
CountsOf(uint32_t layers, uint32_t positions)
{
    ModelSpec model;
    model.layers = layers;
    std::vector<uint32_t> counts;
    for (const auto& stage : SplitLayers(model, positions))
    {
        counts.push_back(stage.count);
    }
    return counts;
}

} // namespace

TEST(LayerSplit, Llama405BTakesOneLayerFromFirstAndLast)
{
    // Llama 3 (2407.21783): 126 layers over 16 stages, one removed from the first and the last.
    std::vector<uint32_t> expected(16, 8);
    expected.front() = expected.back() = 7;
    EXPECT_EQ(CountsOf(126, 16), expected);
}

TEST(LayerSplit, LayersAreContiguousAndComplete)
{
    for (uint32_t layers = 1; layers <= 40; layers++)
    {
        ModelSpec model;
        model.layers = layers;
        for (uint32_t positions = 1; positions <= layers; positions++)
        {
            const auto split = SplitLayers(model, positions);
            ASSERT_EQ(split.size(), positions);
            uint32_t next = 0;
            for (size_t i = 0; i < split.size(); i++)
            {
                EXPECT_EQ(split[i].first, next);
                next += split[i].count;
                EXPECT_EQ(split[i].embedding, i == 0);
                EXPECT_EQ(split[i].head, i + 1 == split.size());
                EXPECT_GE(split[i].count, layers / positions);
                EXPECT_LE(split[i].count, (layers + positions - 1) / positions);
            }
            EXPECT_EQ(next, layers);
            // The ends have the fewest wherever two positions can have fewer.
            if (layers % positions != 0 && layers % positions <= positions - 2)
            {
                EXPECT_EQ(split.front().count, layers / positions);
            }
            EXPECT_EQ(split.back().count, layers / positions);
        }
    }
}

TEST(LayerSplit, OneOddShortPositionIsTheLast)
{
    EXPECT_EQ(CountsOf(7, 4), (std::vector<uint32_t>{2, 2, 2, 1}));
    EXPECT_EQ(CountsOf(9, 4), (std::vector<uint32_t>{2, 3, 2, 2}));
}

TEST(LayerSplit, FewerLayersThanPositionsHaveNoSplit)
{
    EXPECT_TRUE(CountsOf(3, 4).empty());
}

} // namespace scaleacross
