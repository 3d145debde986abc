// SPDX-License-Identifier: GPL-2.0-only

// InfiniBand's credits over distance, on both engines.

#include "collective-cases.h"
#include "core/engine/credit-rate.h"

#include <gtest/gtest.h>
#include <tuple>

namespace scaleacross
{
namespace
{

/// Distance in km and network.lane_credits in KiB.
using Case = std::tuple<int, int, const char*>;

class CreditedSpan : public testing::TestWithParam<Case>
{
};

/**
 * Two buildings of four NICs at 400 Gb/s, one span of four times that; each sends S to the one at
 * its place in the other building. The span, one wire, carries CreditShare of its rate: 128 KiB are
 * 30 packets of 4,124 bytes in a round trip: over 10 km 9.9 Gb/s in place of 1,600, over 1,000 km
 * 99 Mb/s; with a hundred times the credits 1.0 Tb/s and 10.4 Gb/s.
 *
 * The time is what the span takes for 4 S/2 (a half stays, as All-to-All of two has it) with
 * headers, and one way, 50 us or 5 ms. ACKs have credits of their own. 5 %, as for other traffic
 * between buildings: at the ends up to one round trip of 20 or more is not full.
 */
TEST_P(CreditedSpan, CarriesItsCreditsInARoundTrip)
{
    const auto& [km, kib, engine] = GetParam();
    const double us = 5.0 * km;
    const double rate = 1600e9 * CreditShare(Bytes(uint64_t(kib) << 10),
                                             Bytes(4124),
                                             BitRate(1600e9),
                                             Duration::Microseconds(static_cast<int64_t>(us)));
    // As many bytes as take 40 round trips, and 1 MiB at least.
    const auto size =
        static_cast<uint64_t>(std::max(1.0 * (1 << 20), 40 * 2 * us * 1e-6 * rate / 8 / 2));
    const std::string spans =
        "cross: {distance: " + std::to_string(km) + "km, oversubscription: 1}";
    Scenario scenario = With(PlainCluster(2, spans),
                             CollectiveOp::AllToAll,
                             CollectiveGroup::Across,
                             size,
                             CollectiveAlgorithm("ring"));
    scenario.network.transport = Transport("infiniband");
    scenario.network.laneCredits = Bytes(uint64_t(kib) << 10);
    scenario.network.timeoutExponent = 20;
    scenario.network.Validate();
    const double seconds = SecondsOn(*EngineOf(engine), scenario);
    const double wire = 4 * size / 2.0 * (4096 + 28) / 4096;
    const double expected = wire * 8 / rate + us * 1e-6 + 3e-6;
    EXPECT_NEAR(seconds, expected, 0.05 * expected);
}

INSTANTIATE_TEST_SUITE_P(Distances,
                         CreditedSpan,
                         testing::Combine(testing::Values(10, 1000),
                                          testing::Values(128, 12'800),
                                          testing::Values("analytical", "flow", "packet")),
                         [](const auto& info) {
                             return std::to_string(std::get<0>(info.param)) + "km_" +
                                    std::to_string(std::get<1>(info.param)) + "KiB_" +
                                    std::get<2>(info.param);
                         });

/// Whatever InfiniBand has as MTU: the credits of a lane hold the packets that are sent.
TEST(CreditedFabric, TakesPacketsOfEveryMtu)
{
    for (const uint32_t mtu : {256, 512, 1024, 2048, 4096})
    {
        Scenario scenario =
            With(PlainCluster(1), CollectiveOp::AllReduce, CollectiveGroup::All, 1 << 20);
        scenario.network.transport = Transport("infiniband");
        scenario.network.mtu = Bytes(mtu);
        scenario.network.Validate();
        const double analytical = SecondsOn(*EngineOf("analytical"), scenario);
        EXPECT_NEAR(SecondsOn(*EngineOf("packet"), scenario), analytical, 0.02 * analytical) << mtu;
    }
}

} // namespace
} // namespace scaleacross
