// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/spec/gpu-spec.h"
#include "core/spec/presets.h"

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
    EXPECT_EQ(RefusedKey([](auto& g) { g.nvlinkLatency = Duration::Seconds(2); }),
              "gpu.nvlink_latency");
    EXPECT_EQ(RefusedKey([](auto& g) { g.gemmEfficiency = 70; }), "gpu.gemm_efficiency");
    EXPECT_EQ(RefusedKey([](auto& g) { g.hbmEfficiency = 0; }), "gpu.hbm_efficiency");
    EXPECT_EQ(RefusedKey([](auto& g) { g.collectiveShare = 0.2; }), "gpu.collective_share");
}

TEST(GpuSpec, ReserveBeyondCapacityLeavesNothing)
{
    GpuSpec gpu = GpuPreset("h100");
    gpu.hbmReserve = gpu.hbmCapacity + Bytes(1);
    EXPECT_EQ(gpu.UsableHbm(), Bytes(0));
}

} // namespace
} // namespace scaleacross
