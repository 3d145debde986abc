// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/gpu-curve.h"
#include "core/spec/presets.h"
#include "core/spec/software-stack.h"

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
                           "nvlink_efficiency: 0.75\n"
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
        ParseGpuCurve(text, "a.yaml");
    }
    catch (const ConfigError& error)
    {
        return error;
    }
    ADD_FAILURE() << "accepted: " << with;
    return ConfigError("", "", "", "");
}

TEST(GpuCurve, ReadsAFile)
{
    const GpuCurve curve = ParseGpuCurve(g_file, "a.yaml");
    EXPECT_EQ(curve.name, "small");
    EXPECT_EQ(curve.source, "measured");
    EXPECT_EQ(curve.gemmEfficiency, 0.7);
    EXPECT_EQ(curve.kernelGap, Duration::Microseconds(2));
    EXPECT_EQ(curve.gemm.processors, 4U);
    EXPECT_EQ(curve.gemm.depth, 64);
    ASSERT_EQ(curve.gemm.tiles.size(), 2U);
    EXPECT_TRUE(curve.gemm.tiles[1] == (GemmTile{64, 32, 0.8}));
    GpuSpec gpu = GpuPreset("h100");
    gpu.Take(curve);
    EXPECT_EQ(gpu.gemmEfficiency, 0.7);
    EXPECT_EQ(gpu.fp8Efficiency, 0.6);
    EXPECT_EQ(gpu.attentionEfficiency, 0.5);
    EXPECT_EQ(gpu.hbmEfficiency, 0.8);
    EXPECT_EQ(gpu.nvlinkEfficiency, 0.75);
    EXPECT_TRUE(gpu.gemm == curve.gemm);
    EXPECT_NO_THROW(gpu.Validate());
}

TEST(GpuCurve, BadFilesAreRefusedByLine)
{
    EXPECT_EQ(Refusal("gemm_efficiency: 0.7", "gemm_efficiency: 70").Where(),
              "a.yaml:4 gemm_efficiency");
    EXPECT_THAT(Refusal("gemm_efficiency", "gem_efficiency").Problem(), HasSubstr("no such key"));
    EXPECT_THAT(Refusal("source: measured", "name: x").Problem(), HasSubstr("given twice"));
    EXPECT_THAT(Refusal("kernel_gap: 2us\n", "").Problem(), HasSubstr("kernel_gap is missing"));
    EXPECT_EQ(Refusal("2us", "2s").Where(), "a.yaml:9 kernel_gap");
    EXPECT_EQ(Refusal("2us", "-2us").Where().substr(0, 6), "a.yaml");
    EXPECT_THAT(Refusal("source: measured", "nonsense").Problem(), HasSubstr("'nonsense'"));
    for (const char* tiles : {"256x128", "256 1", "0x128 1", "256x128 2", "x 1", "1", "256x128 1,"})
    {
        EXPECT_EQ(Refusal("256x128 1, 64x32 0.8", tiles).Where(), "a.yaml:13 tiles") << tiles;
    }
}

TEST(GpuCurve, PresetsTakeBuiltInFiles)
{
    EXPECT_EQ(GpuPreset("a100-80g").gemmEfficiency, GpuCurveOf("a100").gemmEfficiency);
    EXPECT_TRUE(GpuPreset("h200").gemm == GpuCurveOf("h100").gemm);
    EXPECT_TRUE(GpuPreset("gb200").gemm == GpuCurveOf("b200").gemm);
    // Multiprocessors that the data sheets give for the SXM modules.
    EXPECT_EQ(GpuCurveOf("a100").gemm.processors, 108U);
    EXPECT_EQ(GpuCurveOf("h100").gemm.processors, 132U);
    for (const auto& curve : GpuCurves())
    {
        EXPECT_THAT(curve.source, HasSubstr("(I)"));
        // No GEMM is faster than the asymptote.
        for (const double size : {1.0, 100.0, 4096.0, 1e6})
        {
            EXPECT_GE(curve.gemm.EffectiveFlops(1, size, size, size), 2 * size * size * size);
        }
    }
    EXPECT_THROW(GpuCurveOf("h1oo"), ConfigError);
}

TEST(SoftwareStack, NamesAreKnown)
{
    EXPECT_TRUE(SoftwareStackOf("fused") == SoftwareStack());
    EXPECT_FALSE(SoftwareStackOf("megatron-2021").sequenceParallel);
    EXPECT_GT(SoftwareStackOf("torch-eager").elementwise,
              SoftwareStackOf("torch-compile").elementwise);
    try
    {
        SoftwareStackOf("torch-eagre");
        FAIL();
    }
    catch (const ValueError& error)
    {
        EXPECT_EQ(error.Remedy(), "did you mean torch-eager?");
    }
}

} // namespace

} // namespace scaleacross
