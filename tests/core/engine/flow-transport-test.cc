// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/read-study.h"
#include "flow-deliveries.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

constexpr uint64_t kHalfMiB = 512 << 10;
/// On a span of 25 Gb/s: 128 packets of 4,096 + 82 B, and an ACK of 86 B per 4.
constexpr double kPacket = 4178 * 8 / 25e9;
constexpr double kOnSpan = (128 * 4178 + 32 * 86) * 8 / 25e9;
constexpr double kWay = 100e-6;      //!< from building to building
constexpr double kRounding = 0.5e-6; //!< of what is stored and forwarded, and latencies inside

struct Post
{
    double at; //!< s
    uint64_t bytes;
};

/// When messages from one GPU to one in the other building are delivered, in seconds. The NIC has
/// 400 Gb/s, so that half a MiB has left it after 11 us.
std::vector<double>
DeliveriesOf(const std::string& network,
             const std::vector<Post>& posts,
             const MessageCare& care = {})
{
    const Scenario scenario =
        ParseStudy(
            "study: flows\n"
            "cluster: {buildings: {count: 2, gpus: 1, gpus_per_node: 1, gpu: h100, nic_rate: "
            "400Gbps, fabric: {spines: 1, nic_delay: 0us, leaf_delay: 0us, nodes_per_pod: "
            "1}}, cross: {distance: 20km, latency: 100us, capacity: 25Gbps}}\n"
            "network: {" +
                network + "}\n",
            "flows.yaml",
            {},
            StudyScope::Network)
            .scenario;
    return FlowDeliveries(scenario, posts.size(), [&](FlowTransport& transport, FlowClock& clock) {
        for (size_t i = 0; i < posts.size(); i++)
        {
            clock.At(Duration::Seconds(posts[i].at),
                     [&, i] { transport.Send(0, 1, Bytes(posts[i].bytes), i, care); });
        }
    });
}

TEST(FlowTransport, WhatHasLeftTheNicIsAheadOfWhatComesLater)
{
    // Messages take turns on 16 queue pairs. The second is posted when the first has left the NIC
    // and stands before the span: it comes behind that, and so does the third.
    const std::string network = "recovery: selective-repeat, qps: 16, segment: 512KiB, balance: ";
    const auto times = DeliveriesOf(network + "round-robin",
                                    {{0, kHalfMiB}, {50e-6, kHalfMiB}, {100e-6, kHalfMiB}});
    EXPECT_NEAR(times[0], kOnSpan + kWay, kRounding);
    EXPECT_NEAR(times[1], 2 * kOnSpan + kWay, kRounding);
    EXPECT_NEAR(times[2], 3 * kOnSpan + kWay, kRounding);
}

TEST(FlowTransport, WhatIsStillInTheNicShares)
{
    // Posted together, the NIC sends a packet of each in turn: the last of the first is the last
    // but one of all.
    const auto times =
        DeliveriesOf("recovery: selective-repeat, qps: 16, segment: 512KiB, balance: round-robin",
                     {{0, kHalfMiB}, {0, kHalfMiB}});
    EXPECT_NEAR(times[0], 2 * kOnSpan - kPacket + kWay, kRounding);
    EXPECT_NEAR(times[1], 2 * kOnSpan + kWay, kRounding);
}

TEST(FlowTransport, LastWritesComeBehindWhatIsPostedMeanwhile)
{
    // Alone, the data takes the span and the way, its ACK the way back, and the last write the way.
    const std::string network =
        "multipath: spray-rr, recovery: selective-repeat, qps: 1, balance: spray";
    const auto one = DeliveriesOf(network, {{0, kHalfMiB}});
    EXPECT_NEAR(one[0], kOnSpan + 3 * kWay, kRounding);
    // Behind 4 MiB that are posted before the ACK is back, it waits until these are through.
    const auto two = DeliveriesOf(network, {{0, kHalfMiB}, {50e-6, 8 * kHalfMiB}});
    EXPECT_NEAR(two[0], 9 * kOnSpan + kWay, kRounding);
    EXPECT_NEAR(two[1], 9 * kOnSpan + 3 * kWay, kRounding);
}

TEST(FlowTransport, AMessageThatIsSplitHasAPartOutstandingOnTheFirstQueuePair)
{
    // Four are posted at once, two may be outstanding. The third begins when the first is
    // acknowledged, which is the way back after it has come; the fourth likewise, and both stand
    // before the span no longer. An ACK's packet at each of five links takes less than a packet.
    const auto times =
        DeliveriesOf("recovery: selective-repeat, qps: 4, balance: split, outstanding: 2",
                     {{0, kHalfMiB / 4}, {0, kHalfMiB / 4}, {0, kHalfMiB / 4}, {0, kHalfMiB / 4}});
    const double back = 100e-6;
    EXPECT_NEAR(times[0], kOnSpan / 4 + kWay, kRounding);
    EXPECT_NEAR(times[1], kOnSpan / 2 + kWay, kRounding);
    EXPECT_NEAR(times[2], times[0] + back + kOnSpan / 4 + kWay, kPacket);
    EXPECT_NEAR(times[3], times[1] + back + kOnSpan / 4 + kWay, kPacket);
}

TEST(FlowTransport, AShortMessageTakesAWholeSlotOfAStagedCopy)
{
    // Eight slots. A message of 4 KiB comes the way and 6.9 us of handover after it is sent; its
    // slot is back the way after that, when the ninth leaves.
    const std::vector<Post> posts(9, Post{0, 4096});
    const auto times = DeliveriesOf("recovery: selective-repeat, copy: staged", posts);
    const double first = kWay + 6.9e-6 + kPacket;
    EXPECT_NEAR(times[0], first, kRounding);
    EXPECT_NEAR(times[7], first + 7 * kPacket, 2 * kRounding);
    EXPECT_NEAR(times[8], 2 * first + kWay, 2 * kRounding);
}

TEST(FlowTransport, APieceGivesBackOneSlotWhateverPartsItGoesIn)
{
    // 2 MiB in pieces of half a MiB, and one slot: each piece leaves when the word that the slot is
    // free has come back. Windows of 256 KiB have pieces go in parts.
    MessageCare care;
    care.slots.slots = 1;
    care.slots.bytes = Bytes(kHalfMiB);
    const std::string network = "recovery: selective-repeat, qps: 16, segment: 512KiB, "
                                "balance: round-robin";
    for (const char* window : {"", ", window: 256KiB"})
    {
        const auto times = DeliveriesOf(network + window, {{0, 4 * kHalfMiB}}, care);
        EXPECT_NEAR(times[0], 4 * kOnSpan + 7 * kWay, 4 * kRounding) << window;
    }
}

} // namespace
} // namespace scaleacross
