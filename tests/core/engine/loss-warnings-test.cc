// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-warnings.h"
#include "core/io/read-study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace scaleacross
{
namespace
{

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string>
WarningsWith(const std::string& loss, const std::string& network)
{
    return WarningsOfMeanLosses(
        ParseStudy("model: llama3-8b\nworkload: {sequence: 2048, global_batch: 64}\n"
                   "cluster: {buildings: {count: 2, gpus: 16, gpu: h100}, cross: {distance: 10km, "
                   "capacity: 400Gbps, loss: " +
                       loss + "}}\nnetwork: {transport: roce, " + network + "}\n",
                   "study.yaml")
            .scenario);
}

TEST(LossWarnings, AreOfLossesWherePacketsMayOvertake)
{
    const std::string spray = "multipath: spray-adaptive, recovery: selective-repeat";
    ASSERT_EQ(WarningsWith("1e-4", spray).size(), 1U);
    EXPECT_THAT(WarningsWith("1e-4", spray)[0], HasSubstr("network.multipath spray-adaptive"));
    // 4.096 us x 2^14, and x 2^10.
    EXPECT_THAT(WarningsWith("1e-4", spray)[0], HasSubstr("wait for a timeout, 67.11 ms,"));
    EXPECT_THAT(WarningsWith("1e-4", spray + ", timeout_exponent: 10")[0],
                HasSubstr("wait for a timeout, 4.194 ms,"));
    EXPECT_THAT(WarningsWith("0", spray), IsEmpty());
    EXPECT_THAT(WarningsWith("1e-4", "multipath: ecmp, recovery: selective-repeat"), IsEmpty());
}

} // namespace
} // namespace scaleacross
