// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/io/presets.h"
#include "core/spec/gpu-spec.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

template <class Change>
std::string
RefusedKey(Change change)
{
    GpuSpec gpu = GpuPreset("h100");
    change(gpu);
    try
    {
        gpu.Validate();
    }
    catch (const ConfigError& error)
    {
        return error.Where();
    }
    return "";
}

TEST(GpuSpec, ValidateNamesTheField)
{
    EXPECT_EQ(RefusedKey([](auto&) {}), "");
    EXPECT_EQ(RefusedKey([](auto& g) { g.bf16Peak = FlopRate(0); }), "gpu.bf16_peak");
    EXPECT_EQ(RefusedKey([](auto& g) { g.bf16Peak = FlopRate(NAN); }), "gpu.bf16_peak");
    EXPECT_EQ(RefusedKey([](auto& g) { g.fp8Peak = FlopRate(-1); }), "gpu.fp8_peak");
    EXPECT_EQ(RefusedKey([](auto& g) { g.hbmCapacity = Bytes(0); }), "gpu.hbm_capacity");
    EXPECT_EQ(RefusedKey([](auto& g) { g.hbmReserve = g.hbmCapacity; }), "gpu.hbm_reserve");
    EXPECT_EQ(RefusedKey([](auto& g) { g.nicRate = BitRate(0); }), "gpu.nic_rate");
    EXPECT_EQ(RefusedKey([](auto& g) { g.scaleUpLatency = Duration::Seconds(2); }),
              "gpu.scale_up_latency");
    EXPECT_EQ(RefusedKey([](auto& g) { g.gemmEfficiency = 70; }), "gpu.gemm_efficiency");
    EXPECT_EQ(RefusedKey([](auto& g) { g.hbmEfficiency = 0; }), "gpu.hbm_efficiency");
    EXPECT_EQ(RefusedKey([](auto& g) { g.scaleUpDomain = 0; }), "gpu.scale_up_domain");
    EXPECT_EQ(RefusedKey([](auto& g) { g.hostBandwidth = BitRate(0); }), "");
    EXPECT_EQ(RefusedKey([](auto& g) { g.hostBandwidth = BitRate(1); }), "gpu.host_bandwidth");
    // 0.19 x 132 = 25.08.
    EXPECT_EQ(RefusedKey([](auto& g) { g.collectiveProcessors = 25; }), "");
    EXPECT_EQ(RefusedKey([](auto& g) { g.collectiveProcessors = 26; }),
              "gpu.collective_processors");
    EXPECT_EQ(RefusedKey([](auto& g) {
                  g.gemm = {};
                  g.collectiveProcessors = 1;
              }),
              "gpu.collective_processors");
}

TEST(GpuSpec, ReserveBeyondCapacityLeavesNothing)
{
    GpuSpec gpu = GpuPreset("h100");
    gpu.hbmReserve = gpu.hbmCapacity + Bytes(1);
    EXPECT_EQ(gpu.UsableHbm(), Bytes(0));
}

TEST(GpuSpec, CollectivesTakeAShareOfTheProcessors)
{
    GpuSpec gpu = GpuPreset("h100");
    EXPECT_EQ(gpu.CollectiveShare(), 20.0 / 132); // of the H100's 132 SMs 20, see its file
    gpu.collectiveProcessors = 0;
    EXPECT_EQ(gpu.CollectiveShare(), 0);
    EXPECT_EQ(GpuSpec().CollectiveShare(), 0); // without processors
}

} // namespace
} // namespace scaleacross
