// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/layer-pattern.h"
#include "core/spec/model-spec.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// Over all lists of up to ten layers: a pattern that is found gives the list back, and one that
/// ModelSpec has is found.
TEST(LayerPattern, FindsJustWhatAModelCanSay)
{
    for (uint32_t layers = 1; layers <= 10; layers++)
    {
        std::vector<bool> said(1U << layers, false);
        std::vector<bool> windows(1U << layers, false);
        const auto listOf = [layers](auto holds) {
            uint32_t bits = 0;
            for (uint32_t layer = 0; layer < layers; layer++)
            {
                bits |= holds(layer) ? 1U << layer : 0;
            }
            return bits;
        };
        ModelSpec model;
        model.layers = layers;
        model.experts = 2;
        model.window = 1;
        for (uint32_t every = 1; every <= layers; every++)
        {
            for (uint32_t leading = 0; leading < layers; leading++)
            {
                model.moeEvery = every;
                model.leadingDense = leading;
                said[listOf([&model](uint32_t layer) { return model.IsMoeLayer(layer); })] = true;
            }
            model.fullAttentionEvery = every == 1 ? 0 : every;
            windows[listOf([&model](uint32_t layer) { return model.IsWindowedLayer(layer); })] =
                true;
        }
        for (uint32_t bits = 1; bits < said.size(); bits++)
        {
            std::vector<bool> flags(layers);
            for (uint32_t layer = 0; layer < layers; layer++)
            {
                flags[layer] = (bits >> layer & 1U) != 0;
            }
            const auto moe = MoePatternOf(flags);
            EXPECT_EQ(moe.has_value(), said[bits]) << layers << " " << bits;
            if (moe)
            {
                model.moeEvery = moe->every;
                model.leadingDense = moe->leadingDense;
                EXPECT_EQ(listOf([&model](uint32_t layer) { return model.IsMoeLayer(layer); }),
                          bits);
            }
            const auto every = FullAttentionEvery(flags);
            EXPECT_EQ(every.has_value(), windows[bits]) << layers << " " << bits;
            if (every)
            {
                model.fullAttentionEvery = *every;
                EXPECT_EQ(listOf([&model](uint32_t layer) { return model.IsWindowedLayer(layer); }),
                          bits);
            }
        }
    }
}

TEST(LayerPattern, WorkedCases)
{
    EXPECT_EQ(MoePatternOf({false, true, true, true})->leadingDense, 1U);
    EXPECT_EQ(MoePatternOf({false, true, false, true})->every, 2U);
    EXPECT_EQ(MoePatternOf({false, false, false, true, false, true})->leadingDense, 2U);
    EXPECT_FALSE(MoePatternOf({true, false, true, false}));
    EXPECT_EQ(FullAttentionEvery({true, true, true, false}), 4U);
    EXPECT_EQ(FullAttentionEvery({true, false, true, false}), 2U);
    EXPECT_EQ(FullAttentionEvery({true, true}), 0U);
    EXPECT_FALSE(FullAttentionEvery({false, false, true, true}));
}

} // namespace
} // namespace scaleacross
