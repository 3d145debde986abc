// SPDX-License-Identifier: GPL-2.0-only

// What may be under way at a time, on a path that holds more: both engines.

#include "collective-cases.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

/// Overrides of a study, and bytes to send to a GPU 100 km away.
struct Limit
{
    const char* name;
    Overrides overrides;
    std::vector<uint64_t> sizes;
};

class Windows : public testing::TestWithParam<Limit>
{
};

/**
 * 400 Gb/s over 503 us hold 25 MB, more than any limit here lets under way: a message takes a round
 * trip for each window but the last. Sizes end with a full window, within one, and just behind one.
 * The rest, packets of switches and ACKs, is less than 3 us of 500 and more.
 */
TEST_P(Windows, LimitBothEnginesAlike)
{
    Overrides overrides = GetParam().overrides;
    overrides.emplace_back("network.qps", "2");
    overrides.emplace_back("network.segment", "64KiB");
    const Scenario plain =
        PlainCluster(2, "cross: {distance: 100km, oversubscription: 1}", overrides);
    for (const uint64_t bytes : GetParam().sizes)
    {
        const Scenario scenario =
            With(plain, CollectiveOp::SendReceive, CollectiveGroup::Across, bytes);
        const double packet = SecondsOn(PacketEngine(), scenario);
        EXPECT_NEAR(SecondsOn(AnalyticalEngine(), scenario), packet, 0.005 * packet)
            << bytes << " bytes";
    }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Windows,
    testing::Values(
        Limit{"outstanding",
              {{"network.outstanding", "1"}},
              {98304, 131072, 196608, 262144, 1048576, 4194304}},
        Limit{"window_64KiB",
              {{"network.window", "64KiB"}},
              {65536, 131072, 135168, 262144, 1048576, 4194304}},
        Limit{"window_1MiB", {{"network.window", "1MiB"}}, {262144, 2097152, 4194304}},
        Limit{"admission_256KiB",
              {{"network.admission", "256KiB"}},
              {65536, 262144, 1048576, 4194304}},
        Limit{"admission_1MiB", {{"network.admission", "1MiB"}}, {65536, 1048576, 4194304}}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace scaleacross
