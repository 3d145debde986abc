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

/// 32 GPUs over four lanes of 0.825 Gb/s.
Scenario
SlowLanes(const std::string& network, const std::string& more = "")
{
    return ParseStudy("model: llama3-8b\nworkload: {sequence: 2048, global_batch: 64}\n"
                      "cluster: {buildings: {count: 2, gpus: 16, gpu: h100, fabric: {spines: 1}}, "
                      "cross: {distance: 30km, capacity: 3.3Gbps, lanes: 4}}\n"
                      "network: {" +
                          network + "}\n" + more,
                      "study.yaml")
        .scenario;
}

TEST(LossWarnings, APacketMayWaitLongerThanAQueuePair)
{
    // The default's 256 MiB are 2^31 bits: at 0.825 Gb/s 2.603 s. Eight timeouts of 67.11 ms are
    // 536.9 ms, of 4.096 us x 2^17 they are 4.295 s.
    ASSERT_TRUE(LongestWait(SlowLanes("")));
    EXPECT_NEAR(LongestWait(SlowLanes(""))->S(), 2147483648.0 / 0.825e9, 1e-9);
    ASSERT_EQ(WarningsOfLongWaits(SlowLanes("")).size(), 1U);
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes(""))[0], HasSubstr("may wait 2.603 s"));
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes(""))[0], HasSubstr("gives up after 536.9 ms"));
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes("timeout_exponent: 17")), IsEmpty());
    // 32 GPUs with 4 queue pairs of 64 KiB each: 8 MiB, 2^26 bits, 81.3 ms. A window below a packet
    // is one: 2^22 bits.
    EXPECT_NEAR(LongestWait(SlowLanes("qps: 4, window: 64KiB"))->S(), 67108864.0 / 0.825e9, 1e-9);
    EXPECT_NEAR(LongestWait(SlowLanes("qps: 4, window: 1B"))->S(), 4194304.0 / 0.825e9, 1e-9);
    EXPECT_NEAR(LongestWait(SlowLanes("window: 1TiB"))->S(), 2147483648.0 / 0.825e9, 1e-9);
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes("qps: 4, window: 64KiB")), IsEmpty());
    // Who is granted what it sends waits elsewhere.
    for (const char* network : {"transport: infiniband", "admission: 1MiB"})
    {
        EXPECT_FALSE(LongestWait(SlowLanes(network))) << network;
    }
}

TEST(LossWarnings, ARetryLimitHasItsReason)
{
    EXPECT_THAT(RetryLimitRemedy(SlowLanes("")), HasSubstr("may wait 2.603 s"));
    EXPECT_EQ(RetryLimitRemedy(SlowLanes("timeout_exponent: 20")),
              "raise network.timeout_exponent or network.retries");
    const std::string down = "events: [{kind: link-failure, target: building1--building2, at: 0s";
    EXPECT_THAT(RetryLimitRemedy(SlowLanes("", down + "}]\n")), HasSubstr("a second way"));
    EXPECT_THAT(RetryLimitRemedy(SlowLanes("", down + ", until: 1s}]\n")),
                HasSubstr("may wait 2.603 s"));
}

TEST(LossWarnings, AreOfWhatIsSentAgainWithoutALoss)
{
    const auto warnings = [](const std::string& network) {
        return WarningsOfRepeats(SlowLanes(network));
    };
    EXPECT_THAT(warnings(""), IsEmpty());
    EXPECT_THAT(warnings("multipath: flowlet, recovery: selective-repeat"), IsEmpty());
    ASSERT_EQ(warnings("multipath: flowlet").size(), 1U);
    EXPECT_THAT(warnings("multipath: flowlet")[0],
                HasSubstr("say network.recovery: selective-repeat"));
    ASSERT_EQ(warnings("pfc: false").size(), 1U);
    EXPECT_THAT(warnings("pfc: false")[0], HasSubstr("is dropped and sent again"));
    for (const char* limit : {"window: 1MiB", "admission: 1MiB", "control: dcqcn"})
    {
        EXPECT_THAT(warnings(std::string("pfc: false, ") + limit), IsEmpty()) << limit;
    }
    EXPECT_THAT(warnings("transport: infiniband"), IsEmpty()); // which grants
}

} // namespace
} // namespace scaleacross
