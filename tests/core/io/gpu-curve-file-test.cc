// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{

namespace
{

using ::testing::HasSubstr;

const std::string g_file = "# a comment\n"
                           "name: small # and another\n"
                           "source: measured\n"
                           "gemm_efficiency: 0.7\n"
                           "fp8_efficiency: 0.6\n"
                           "attention_efficiency: 0.5\n"
                           "hbm_efficiency: 0.8\n"
                           "scale_up_efficiency: 0.75\n"
                           "kernel_gap: 2us\n"
                           "\n"
                           "processors: 4\n"
                           "gemm_depth: 64\n"
                           "tiles: 256x128 1, 64x32 0.8\n";

ConfigError
Refusal(const std::string& line, const std::string& with)
{
    std::string text = g_file;
    const size_t at = text.find(line);
    EXPECT_NE(at, std::string::npos) << line;
    text.replace(at, line.size(), with);
    try
    {
        ParsePreset<GpuCurve>(text, "a.yaml", FileChain(""));
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << with;
    return ConfigError("", "", "", "");
}

TEST(GpuCurveFile, IsRead)
{
    const auto file = ParsePreset<GpuCurve>(g_file, "a.yaml", FileChain(""));
    EXPECT_EQ(file.name, "small");
    EXPECT_EQ(file.source, "measured");
    const GpuCurve& curve = file.value;
    EXPECT_EQ(curve.gemmEfficiency, 0.7);
    EXPECT_EQ(curve.kernelGap, Duration::Microseconds(2));
    EXPECT_EQ(curve.gemm.processors, 4U);
    EXPECT_EQ(curve.gemm.depth, 64);
    ASSERT_EQ(curve.gemm.tiles.size(), 2U);
    EXPECT_TRUE(curve.gemm.tiles[1] == (GemmTile{64, 32, 0.8}));
    GpuSpec gpu = GpuPreset("h100");
    gpu.collectiveProcessors = 0;
    gpu.Take(curve);
    EXPECT_EQ(gpu.gemmEfficiency, 0.7);
    EXPECT_EQ(gpu.fp8Efficiency, 0.6);
    EXPECT_EQ(gpu.attentionEfficiency, 0.5);
    EXPECT_EQ(gpu.hbmEfficiency, 0.8);
    EXPECT_EQ(gpu.scaleUpEfficiency, 0.75);
    EXPECT_TRUE(gpu.gemm == curve.gemm);
    EXPECT_NO_THROW(gpu.Validate());
}

TEST(GpuCurveFile, BadOnesAreRefusedByPlace)
{
    EXPECT_EQ(Refusal("gemm_efficiency: 0.7", "gemm_efficiency: 70").Where(),
              "a.yaml:4:18 gemm_efficiency");
    EXPECT_THAT(Refusal("gemm_efficiency", "gem_efficiency").Problem(), HasSubstr("not known"));
    EXPECT_THAT(Refusal("source: measured", "name: x").Problem(), HasSubstr("given twice"));
    const ConfigError missing = Refusal("kernel_gap: 2us\n", "");
    EXPECT_THAT(missing.Where(), HasSubstr("kernel_gap"));
    EXPECT_EQ(missing.Problem(), "the key is missing");
    EXPECT_EQ(Refusal("2us", "2s").Where(), "a.yaml:9:13 kernel_gap");
    EXPECT_EQ(Refusal("2us", "-2us").Where().substr(0, 6), "a.yaml");
    EXPECT_EQ(Refusal("source: measured", "nonsense").Where().substr(0, 7), "a.yaml:");
    EXPECT_THAT(Refusal("scale_up", "nvlink").Allowed(), HasSubstr("scale_up_efficiency"));
    for (const char* tiles : {"256x128", "256 1", "0x128 1", "256x128 2", "x 1", "1", "256x128 1,"})
    {
        EXPECT_EQ(Refusal("256x128 1, 64x32 0.8", tiles).Where(), "a.yaml:13:8 tiles") << tiles;
    }
}

} // namespace

} // namespace scaleacross
