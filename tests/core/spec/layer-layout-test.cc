// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"
#include "core/spec/layer-layout.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

TEST(LayerLayout, SaysLayersByPosition)
{
    // 7 + 14 x 8 + 7 = 126 layers over 1 + 14 + 1 = 16 positions.
    const LayerLayout layout = LayerLayout::Parse("7+8x14+7");
    EXPECT_TRUE(layout.IsGiven());
    EXPECT_EQ(layout.Positions(), 16U);
    EXPECT_EQ(layout.Layers(), 126U);
    std::vector<uint32_t> counts(16, 8);
    counts.front() = counts.back() = 7;
    EXPECT_EQ(layout.Counts(), counts);
    EXPECT_TRUE(LayerLayout::Of(counts) == layout);
    EXPECT_FALSE(LayerLayout::Parse("auto").IsGiven());
    EXPECT_EQ(LayerLayout::Parse("auto").Positions(), 0U);
}

TEST(LayerLayout, EqualOnesHaveOneText)
{
    for (const auto& [text, canonical] : {std::pair<std::string, std::string>("auto", "auto"),
                                          {"126", "126"},
                                          {"7+8x14+7", "7+8x14+7"},
                                          {"8+8+8x1", "8x3"},
                                          {"0x2+7x1+0", "0x2+7+0"}})
    {
        const LayerLayout layout = LayerLayout::Parse(text);
        EXPECT_EQ(ToString(layout), canonical);
        EXPECT_TRUE(LayerLayout::Parse(canonical) == layout) << text;
    }
    EXPECT_FALSE(LayerLayout::Parse("8x2") == LayerLayout::Parse("8x3"));
    EXPECT_FALSE(LayerLayout::Parse("8x2") == LayerLayout::Parse("7x2"));
    EXPECT_FALSE(LayerLayout::Parse("8x2") == LayerLayout::Parse("auto"));
}

TEST(LayerLayout, RefusesByNameWhatIsNone)
{
    // By what is wrong in each: part of the message.
    for (const auto& [text, wrong] :
         {std::pair<std::string, std::string>("", "'' is not a whole number from 0 to 4096"),
          {"7,8x14,7", "'7,8' is not a whole number"},
          {"7+", "'' is not a whole number"},
          {"+7", "'' is not a whole number"},
          {"4097", "'4097' is not a whole number from 0 to 4096"},
          {"-1+3", "'-1' is not a whole number"},
          {"8x0", "'0' is not a whole number from 1 to 65536"},
          {"8x", "'' is not a whole number from 1"},
          {"2x3x4", "'3x4' is not a whole number from 1"},
          {"0x65536+1", "more than 65536 positions"},
          {"even", "'even' is not a whole number"}})
    {
        try
        {
            LayerLayout::Parse(text);
            ADD_FAILURE() << text;
        }
        catch (const ValueError& error)
        {
            const std::string problem = error.Problem();
            EXPECT_NE(problem.find(wrong), std::string::npos) << problem;
            EXPECT_EQ(problem.find("'" + text + "'"), 0U) << problem;
            EXPECT_EQ(error.Allowed(), kLayerLayoutAllowed);
            EXPECT_FALSE(error.Remedy().empty());
        }
    }
    EXPECT_EQ(LayerLayout::Parse("0x65535+1").Positions(), 65536U);
}

} // namespace scaleacross
