// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

ModelSpec
ModelOf(uint32_t layers)
{
    ModelSpec model;
    model.layers = layers;
    return model;
}

ParallelPlan
PlanOf(uint32_t stages, uint32_t chunks = 1)
{
    ParallelPlan plan;
    plan.pp = stages;
    plan.chunks = chunks;
    return plan;
}

ParallelPlan
EndsAsLayers(ParallelPlan plan, bool embedding, bool loss)
{
    plan.embeddingAsLayer = embedding;
    plan.lossAsLayer = loss;
    return plan;
}

ParallelPlan
Given(ParallelPlan plan, const std::string& layers)
{
    plan.layers = LayerLayout::Parse(layers);
    return plan;
}

std::vector<uint32_t>
CountsOf(uint32_t layers, const ParallelPlan& plan)
{
    std::vector<uint32_t> counts;
    for (const auto& stage : SplitLayers(ModelOf(layers), plan))
    {
        counts.push_back(stage.count);
    }
    return counts;
}

/// What is said of a plan that cannot be; "" of others.
std::string
RefusalOf(uint32_t layers, const ParallelPlan& plan)
{
    const auto refused = CheckLayers(ModelOf(layers), plan);
    EXPECT_EQ(refused.has_value(), SplitLayers(ModelOf(layers), plan).empty());
    EXPECT_EQ(refused ? refused->reason : "layers", "layers");
    return refused ? refused->detail : "";
}

} // namespace

TEST(LayerSplit, Llama405BTakesOneLayerFromFirstAndLast)
{
    // Llama 3 (2407.21783): 126 layers over 16 stages, one removed from the first and the last.
    std::vector<uint32_t> expected(16, 8);
    expected.front() = expected.back() = 7;
    EXPECT_EQ(CountsOf(126, PlanOf(16)), expected);
}

TEST(LayerSplit, LayersAreContiguousAndComplete)
{
    for (uint32_t layers = 1; layers <= 40; layers++)
    {
        for (uint32_t positions = 1; positions <= layers; positions++)
        {
            const auto split = SplitLayers(ModelOf(layers), PlanOf(positions));
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
    EXPECT_EQ(CountsOf(7, PlanOf(4)), (std::vector<uint32_t>{2, 2, 2, 1}));
    EXPECT_EQ(CountsOf(9, PlanOf(4)), (std::vector<uint32_t>{2, 3, 2, 2}));
}

TEST(LayerSplit, LayersOnEveryPositionWithChunks)
{
    EXPECT_EQ(CountsOf(8, PlanOf(2, 4)), std::vector<uint32_t>(8, 1));
}

TEST(LayerSplit, Llama405BHasEmptyEndsWithEightChunks)
{
    // (126 + 2) / (16 x 8) = 1 each: the first has the embedding and the last the loss, and no
    // layer; the 126 others one.
    const auto plan = EndsAsLayers(PlanOf(16, 8), true, true);
    const auto split = SplitLayers(ModelOf(126), plan);
    ASSERT_EQ(split.size(), 128U);
    for (uint32_t i = 0; i < 128; i++)
    {
        const bool end = i == 0 || i == 127;
        EXPECT_EQ(split[i].count, end ? 0U : 1U) << i;
        EXPECT_EQ(split[i].first, i == 0 ? 0U : i - 1) << i;
        EXPECT_EQ(split[i].embedding, i == 0) << i;
        EXPECT_EQ(split[i].head, i == 127) << i;
    }
}

TEST(LayerSplit, EndsCountAsOneLayerEach)
{
    // 4 positions. (14 + 2) / 4 = 4 each: 3, 4, 4, 3. (15 + 1) / 4 = 4: one less where the one is.
    // (12 + 2) / 4 is 3 and two more in the middle: 2, 4, 4, 2.
    using Counts = std::vector<uint32_t>;
    const auto counts = [](uint32_t layers, bool embedding, bool loss) {
        return CountsOf(layers, EndsAsLayers(PlanOf(4), embedding, loss));
    };
    EXPECT_EQ(counts(14, true, true), (Counts{3, 4, 4, 3}));
    EXPECT_EQ(counts(15, true, false), (Counts{3, 4, 4, 4}));
    EXPECT_EQ(counts(15, false, true), (Counts{4, 4, 4, 3}));
    EXPECT_EQ(counts(12, true, true), (Counts{2, 4, 4, 2}));
    EXPECT_EQ(counts(3, true, false), (Counts{0, 1, 1, 1}));
    EXPECT_EQ(counts(3, false, true), (Counts{1, 1, 1, 0}));
    EXPECT_EQ(counts(2, true, true), (Counts{0, 1, 1, 0}));
    // One position has all layers whatever counts.
    EXPECT_EQ(CountsOf(5, EndsAsLayers(PlanOf(1), true, true)), Counts{5});
}

TEST(LayerSplit, GivenLayersAreWhereTheyAreSaid)
{
    const auto split = SplitLayers(ModelOf(6), Given(PlanOf(3, 2), "0x2+4+0+2+0"));
    const uint32_t firsts[] = {0, 0, 0, 4, 4, 6};
    const uint32_t counts[] = {0, 0, 4, 0, 2, 0};
    ASSERT_EQ(split.size(), 6U);
    for (size_t i = 0; i < 6; i++)
    {
        EXPECT_EQ(split[i].first, firsts[i]) << i;
        EXPECT_EQ(split[i].count, counts[i]) << i;
        EXPECT_EQ(split[i].embedding, i == 0) << i;
        EXPECT_EQ(split[i].head, i == 5) << i;
    }
}

TEST(LayerSplit, FewerLayersThanPositionsAreRefusedWithWhatHelps)
{
    const std::string refusal = RefusalOf(3, PlanOf(2, 2));
    for (const char* const part : {"3 layers for pp x chunks = 4",
                                   "plan.embedding_as_layer",
                                   "plan.loss_as_layer",
                                   "plan.layers"})
    {
        EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
    }
    // With one of the ends there are 4, with both there are enough for 5 positions and not for 6.
    EXPECT_EQ(RefusalOf(3, EndsAsLayers(PlanOf(2, 2), false, true)), "");
    EXPECT_EQ(RefusalOf(3, EndsAsLayers(PlanOf(5), true, true)), "");
    EXPECT_EQ(RefusalOf(3, EndsAsLayers(PlanOf(6), true, true)).find("5 layers (with"), 0U);
    EXPECT_EQ(RefusalOf(3, Given(PlanOf(2, 2), "0+3+0x2")), "");
}

TEST(LayerSplit, GivenLayersHaveToFitPipelineAndModel)
{
    const std::string positions = RefusalOf(8, Given(PlanOf(2, 2), "4x2"));
    EXPECT_EQ(positions.find("plan.layers 4x2 is for 2 positions, and there are pp x chunks = 4"),
              0U)
        << positions;
    const std::string sum = RefusalOf(8, Given(PlanOf(2, 2), "2x3+3"));
    EXPECT_EQ(sum.find("plan.layers 2x3+3 has 9 layers, and the model 8"), 0U) << sum;
    // Degrees so large that their product has 34 bits.
    EXPECT_NE(RefusalOf(8, Given(PlanOf(1U << 22, 4096), "8")), "");
    EXPECT_NE(RefusalOf(8, PlanOf(1U << 22, 4096)), "");
}

} // namespace scaleacross
