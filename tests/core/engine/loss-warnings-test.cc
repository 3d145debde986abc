// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-warnings.h"
#include "core/io/read-study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace scaleacross
{
namespace
{

using ::testing::ElementsAre;
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

/// a sends to b over the first span, and nothing crosses the second.
TEST(LossWarnings, AreOfSpansThatCarrySomething)
{
    const Scenario scenario =
        ParseStudy("model: llama3-8b\nworkload: {sequence: 2048, global_batch: 64}\n"
                   "cluster: {buildings: [{name: a, gpus: 16, gpu: h100}, {name: b, gpus: 16, gpu: "
                   "h100}, {name: c, gpus: 16, gpu: h100}], links: [{between: [a, b], distance: "
                   "10km, capacity: 400Gbps, loss: 1e-4}, {between: [b, c], distance: 10km, "
                   "capacity: 400Gbps, loss: 1e-4}]}\n",
                   "study.yaml")
            .scenario;
    const auto lossesOf = [&scenario](const std::vector<std::pair<std::string, uint64_t>>& loads) {
        RunReport report;
        for (const auto& [name, bytes] : loads)
        {
            ResourceReport link;
            link.name = name;
            link.bytes = Bytes(bytes);
            link.shared = true;
            report.resources.push_back(link);
        }
        std::vector<double> losses;
        for (const CrossLinkSpec& span : WithoutIdleLosses(scenario, report).cluster.crossLinks)
        {
            losses.push_back(span.loss);
        }
        return losses;
    };
    EXPECT_THAT(lossesOf({{"a to b", 1}, {"b to c", 0}}), ElementsAre(1e-4, 0));
    EXPECT_THAT(lossesOf({{"c to b", 1}}), ElementsAre(0, 1e-4)); // either way
    EXPECT_THAT(lossesOf({{"a leaf up", 1}}), ElementsAre(0, 0));
    EXPECT_THAT(lossesOf({}), ElementsAre(1e-4, 1e-4)); // its links are not known
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
    // As much with 4 queue pairs of two segments of 32 KiB; slots are 32 x 8 of 512 KiB, 2^30 bits.
    EXPECT_NEAR(
        LongestWait(SlowLanes("qps: 4, outstanding: 2, segment: 32KiB, balance: round-robin"))->S(),
        67108864.0 / 0.825e9,
        1e-9);
    EXPECT_NEAR(LongestWait(SlowLanes("outstanding: 2"))->S(), 2147483648.0 / 0.825e9, 1e-9)
        << "messages, each of which is split";
    EXPECT_NEAR(LongestWait(SlowLanes("copy: staged"))->S(), 1073741824.0 / 0.825e9, 1e-9);
    // What is to be set or lowered.
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes(""))[0],
                HasSubstr("lower network.spine_buffer, or set network.window or network.control"));
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes("window: 1TiB"))[0],
                HasSubstr("or lower network.spine_buffer or network.window"));
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes("tiers: {cross: {window: 1TiB}}"))[0],
                HasSubstr("or lower network.spine_buffer or network.tiers.cross.window"));
    // 32 x 2^28 queue pairs are more than 32 bits hold.
    Scenario many = SlowLanes("window: 4096B");
    many.network.qps = 1U << 28;
    EXPECT_NEAR(LongestWait(many)->S(), 2147483648.0 / 0.825e9, 1e-9);
    // Who is granted what it sends waits elsewhere, and controls keep queues short.
    for (const char* network :
         {"transport: infiniband", "admission: 1MiB", "control: dcqcn", "control: swift"})
    {
        EXPECT_FALSE(LongestWait(SlowLanes(network))) << network;
    }
}

/// Queue pairs wait for 536.9 ms, as above.
TEST(LossWarnings, ARetryLimitHasItsReason)
{
    const auto remedyAt = [](const Scenario& scenario, Duration now) {
        UnansweredPair pair; // from the first GPU to the first one of the other building
        pair.to = 16;
        pair.now = now;
        pair.peak = Bytes(256 << 20); // as much as there is room for
        return RetryLimitRemedy(scenario, pair);
    };
    const Duration late = Duration::Microseconds(600'000);
    EXPECT_THAT(remedyAt(SlowLanes(""), late), HasSubstr("may wait 2.603 s"));
    // 81.3 ms are more than a timeout, and less than all.
    for (const char* network : {"timeout_exponent: 20", "qps: 4, window: 64KiB"})
    {
        EXPECT_EQ(remedyAt(SlowLanes(network), late),
                  "raise network.timeout_exponent or network.retries")
            << network;
    }
    const auto remedy = [&remedyAt](const std::string& event, Duration now) {
        return remedyAt(
            SlowLanes("", "events: [{kind: link-failure, target: building1--building2, " + event),
            now);
    };
    EXPECT_THAT(remedy("at: 0s}]\n", late),
                HasSubstr("events.0 (link-failure of building1--building2) leaves NICs without a "
                          "way for good: leave a link, or give the cluster a second way"));
    EXPECT_THAT(remedy("at: 0s, until: 1s}]\n", late),
                HasSubstr("events.0 (link-failure of building1--building2) leaves NICs without a "
                          "way for 1 s, and a queue pair gives up after 536.9 ms"));
    // Over before it ends a queue pair, not begun yet, or of a lane of four.
    for (const char* other : {"at: 0s, until: 500ms}]\n", "at: 100s}]\n", "lanes: 1, at: 0s}]\n"})
    {
        EXPECT_THAT(remedy(other, late), HasSubstr("behind a full buffer")) << other;
    }
    EXPECT_THAT(remedy("at: 100s}]\n", Duration::Microseconds(100'600'000)), HasSubstr("for good"));
    // Two lanes for good, and all of them from 1 s on for 2 s, or for less than a queue pair waits.
    const std::string two = "lanes: 2, at: 0s}, {kind: link-failure, target: "
                            "building1--building2, at: 1s, until: ";
    EXPECT_THAT(remedy(two + "3s}]\n", Duration::Seconds(2)),
                HasSubstr("events.1 (link-failure of building1--building2) leaves NICs without a "
                          "way for 2 s"));
    EXPECT_THAT(remedy(two + "1500ms}]\n", Duration::Seconds(2)),
                HasSubstr("behind a full buffer"));
    // Down for 0.6 s of every 1 s.
    const std::string flap = "events: [{kind: flap, target: building1--building2, at: 1us, period: "
                             "1s, count: 3, down: ";
    EXPECT_THAT(remedyAt(SlowLanes("", flap + "600ms}]\n"), late),
                HasSubstr("events.0 (flap of building1--building2) leaves NICs without a way for "
                          "600 ms"));
    EXPECT_THAT(remedyAt(SlowLanes("", flap + "400ms}]\n"), late),
                HasSubstr("behind a full buffer"));
}

/// What happened is told apart, each by what was counted.
TEST(LossWarnings, ARetryLimitIsOfWhatHappened)
{
    const auto remedy =
        [](const std::string& network, uint64_t lost, uint64_t dropped, Bytes peak) {
            UnansweredPair pair;
            pair.to = 16;
            pair.lost = lost;
            pair.dropped = dropped;
            pair.peak = peak;
            return RetryLimitRemedy(SlowLanes(network), pair);
        };
    // 1 MiB behind 0.825 Gb/s is 10.2 ms, far below a timeout of 67 ms: nothing waited that long.
    const Bytes little(1 << 20);
    EXPECT_EQ(remedy("retries: 0", 3, 0, little),
              "wires lost 3 packets by chance, the last ones of messages or their answers among "
              "them, which only a timeout repairs; raise network.retries (7 is usual)");
    EXPECT_EQ(
        remedy("pfc: false", 0, 5, little),
        "5 packets found the buffer of a switch full and were dropped; set network.pfc: true, "
        "network.window or network.control");
    EXPECT_THAT(remedy("", 0, 5, little), HasSubstr("dropped; set network.window or"));
    EXPECT_THAT(remedy("", 3, 0, Bytes(256 << 20)), HasSubstr("may wait 2.603 s"));
    EXPECT_THAT(remedy("", 3, 0, Bytes(256 << 20)), HasSubstr("; wires lost 3 packets"));
    EXPECT_EQ(remedy("", 0, 0, little), "raise network.timeout_exponent or network.retries");
}

/// Over 30 km of fibre, 5 us per km, an answer takes 300 us and what is inside of buildings: more
/// than 4.096 us x 2^6 = 262.1 us, and less than 4.096 us x 2^7 = 524.3 us. Twice that is more than
/// 600 us, for which 4.096 us x 2^8 = 1,049 us are enough.
TEST(LossWarnings, ATimeoutIsLongerThanAnAnswerTakes)
{
    ASSERT_EQ(WarningsOfLongWaits(SlowLanes("timeout_exponent: 6, window: 64KiB, qps: 1")).size(),
              2U);
    const std::string text =
        WarningsOfLongWaits(SlowLanes("timeout_exponent: 6, window: 64KiB, qps: 1"))[0];
    EXPECT_THAT(text, HasSubstr("after a timeout of 262.1 us"));
    EXPECT_THAT(text, HasSubstr("set network.timeout_exponent: 8 or more"));
    EXPECT_THAT(WarningsOfLongWaits(SlowLanes("timeout_exponent: 14, window: 64KiB, qps: 1")),
                IsEmpty());
    UnansweredPair pair;
    pair.to = 16;
    EXPECT_EQ(RetryLimitRemedy(SlowLanes("timeout_exponent: 6"), pair), text);
    // Of GPUs in one building it is long enough, whatever others are from each other.
    pair.to = 8;
    EXPECT_EQ(RetryLimitRemedy(SlowLanes("timeout_exponent: 6"), pair),
              "raise network.timeout_exponent or network.retries");
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
    for (const char* limit :
         {"window: 1MiB", "admission: 1MiB", "control: dcqcn", "outstanding: 4", "copy: staged"})
    {
        EXPECT_THAT(warnings(std::string("pfc: false, ") + limit), IsEmpty()) << limit;
    }
    EXPECT_THAT(warnings("transport: infiniband"), IsEmpty()); // which grants
    // Eight GPUs of a server are on eight rails: two servers share leaves, and other GPUs do not.
    for (const auto& [limit, without] :
         {std::pair("tiers: {cross: {window: 1MiB}}", "in tiers leaf, building: "),
          {"tiers: {leaf: {window: 1MiB}, building: {outstanding: 4}}", "in tiers cross: "}})
    {
        const std::string network = std::string("pfc: false, ") + limit;
        ASSERT_EQ(warnings(network).size(), 1U) << limit;
        EXPECT_THAT(warnings(network)[0], HasSubstr(without)) << limit;
    }
}

TEST(LossWarnings, AreOfSpansWithoutPauses)
{
    const auto warnings = [](const std::string& network) {
        Scenario scenario = SlowLanes(network);
        scenario.cluster.crossLinks.front().pfc = false;
        return WarningsOfRepeats(scenario);
    };
    ASSERT_EQ(warnings("").size(), 1U);
    EXPECT_THAT(warnings("")[0], HasSubstr("cluster.cross.pfc is false"));
    ASSERT_EQ(warnings("pfc: false").size(), 1U);
    EXPECT_THAT(warnings("pfc: false")[0], HasSubstr("network.pfc is false"));
    EXPECT_THAT(warnings("tiers: {cross: {window: 1MiB}}"), IsEmpty());
    EXPECT_EQ(warnings("tiers: {leaf: {window: 1MiB}}").size(), 1U);
}

} // namespace
} // namespace scaleacross
