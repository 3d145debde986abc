// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/spec/presets.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace scaleacross
{
namespace
{

TEST(Presets, AreValidNamedAndSourced)
{
    std::set<std::string> names;
    for (const auto& preset : ModelPresets())
    {
        EXPECT_NO_THROW(preset.value.Validate()) << preset.value.name;
        EXPECT_TRUE(names.insert(preset.value.name).second);
        EXPECT_FALSE(preset.source.empty());
    }
    for (const auto& preset : GpuPresets())
    {
        EXPECT_NO_THROW(preset.value.Validate()) << preset.value.name;
        EXPECT_TRUE(names.insert(preset.value.name).second);
        // Every source says how sure its figures are.
        EXPECT_NE(preset.source.find("(P)"), std::string::npos);
        EXPECT_NE(preset.source.find("(I)"), std::string::npos);
    }
    EXPECT_EQ(ModelPresets().size(), 12U);
    EXPECT_EQ(GpuPresets().size(), 5U);
}

TEST(Presets, Llama4ActivatesOneRoutedAndOneSharedExpert)
{
    const ModelSpec& maverick = ModelPreset("llama4-maverick");
    EXPECT_EQ(maverick.topK, 1U);
    EXPECT_EQ(maverick.sharedFfn, maverick.expertFfn);
    EXPECT_TRUE(maverick.IsMoeLayer(1));
    EXPECT_FALSE(maverick.IsMoeLayer(0));
}

TEST(Presets, H100AsTheDriverReportsIt)
{
    const GpuSpec& gpu = GpuPreset("h100");
    // 81,559 MiB: 85.52e9 bytes, neither 80e9 nor 80 GiB.
    EXPECT_EQ(gpu.hbmCapacity.Count(), 81559ULL << 20);
    EXPECT_EQ(gpu.UsableHbm(), gpu.hbmCapacity - gpu.hbmReserve);
    // 450 GB/s per direction.
    EXPECT_EQ(gpu.nvlinkBandwidth, ParseBitRate("450GB/s"));
    EXPECT_EQ(gpu.nicRate, ParseBitRate("400Gbps"));
}

TEST(Presets, UnknownNameListsAndSuggests)
{
    try
    {
        GpuPreset("h1oo");
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Where(), "gpu");
        EXPECT_EQ(error.Problem(), "there is no preset 'h1oo'");
        EXPECT_EQ(error.Allowed(), "a100-80g, h100, h200, b200 or gb200");
    }
    try
    {
        ModelPreset("llama-3-70b");
        FAIL();
    }
    catch (const ConfigError& error)
    {
        EXPECT_EQ(error.Remedy(), "did you mean llama3-70b?");
    }
}

} // namespace
} // namespace scaleacross
