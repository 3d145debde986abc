// SPDX-License-Identifier: GPL-2.0-only

// Collectives against their textbook times (Hockney's alpha-beta model; Thakur et al. 2005) on
// fabrics where nothing is shared but what the formula names. Both engines.
//
// Tolerance: 1 % for both. A formula charges each step S/n of payload at the rate that is left by
// headers and a quarter of an ACK per packet. Left out, of the packet engine: that the last packets
// of a step find no ACK to wait for (86 B in 16,798 B per four packets, 0.5 %), the end of a
// message that fills no packet (none here: parts are multiples of 4 KiB), and a member that begins
// the next phase early, which a ring in step does not allow. The analytical engine computes the
// formula itself; for it the test holds the assembly of phases, groups and latencies.

#include "collective-cases.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

constexpr double kNic = 400e9;
constexpr uint64_t kSize = 16 << 20;
constexpr double kTolerance = 0.01;

class ClosedForms : public testing::TestWithParam<const char*>
{
  protected:
    void Expect(double seconds, const Scenario& scenario) const
    {
        EXPECT_NEAR(SecondsOn(*EngineOf(GetParam()), scenario), seconds, kTolerance * seconds);
    }
};

/// alpha between two servers on one leaf: two links, and a packet stored and forwarded once.
double
AlphaOnALeaf()
{
    return 2 * 500e-9 + PacketSeconds(kNic);
}

/// Between buildings: NIC, leaf, spine, spine, leaf, NIC over links of 0.5, 1, 5, 1, 0.5 us; the
/// packet is serialised again on the three links between switches, which carry four NICs'
/// rate at an oversubscription of 1, and on the last link.
double
AlphaAcross()
{
    return 8e-6 + 3 * PacketSeconds(4 * kNic) + PacketSeconds(kNic);
}

TEST_P(ClosedForms, SendReceive)
{
    Expect(AlphaOnALeaf() + kSize * SecondsPerByte(kNic),
           With(PlainCluster(1), CollectiveOp::SendReceive, CollectiveGroup::All, kSize));
}

TEST_P(ClosedForms, RingOnOneLeaf)
{
    // n = 4: all-gather and reduce-scatter (n-1)(alpha + S/(nB)), all-reduce twice that.
    const double half = 3 * (AlphaOnALeaf() + kSize / 4.0 * SecondsPerByte(kNic));
    const Scenario cluster = PlainCluster(1);
    Expect(half, With(cluster, CollectiveOp::AllGather, CollectiveGroup::All, kSize));
    Expect(half, With(cluster, CollectiveOp::ReduceScatter, CollectiveGroup::All, kSize));
    Expect(2 * half, With(cluster, CollectiveOp::AllReduce, CollectiveGroup::All, kSize));
}

TEST_P(ClosedForms, SmallRingIsAllLatency)
{
    // 4 KiB: one packet of 1,024 B per step, 6 steps of two links; (1,024 + 82) x 8 / 400e9 twice.
    const double step = 2 * 500e-9 + 2 * (1024 + 82) * 8 / kNic;
    const Scenario scenario =
        With(PlainCluster(1), CollectiveOp::AllReduce, CollectiveGroup::All, 4096);
    Expect(6 * step, scenario);
}

TEST_P(ClosedForms, DirectAllToAllOnOneLeaf)
{
    // (n-1) S/(nB); all parts are posted at once, so alpha comes once.
    Expect(AlphaOnALeaf() + 3 * kSize / 4.0 * SecondsPerByte(kNic),
           With(PlainCluster(1), CollectiveOp::AllToAll, CollectiveGroup::All, kSize));
}

TEST_P(ClosedForms, HierarchicalAllReduce)
{
    // 2(n-1)(a1 + S/(nB1)) + 2(R-1)(a2 + S/(nR B2)), n = 4, over spans that carry what the four
    // NICs of a building send: B2 = B1.
    for (const uint32_t r : {2, 3, 4})
    {
        const double b = SecondsPerByte(kNic);
        const double seconds = 2 * 3 * (AlphaOnALeaf() + kSize / 4.0 * b) +
                               2 * (r - 1) * (AlphaAcross() + kSize / (4.0 * r) * b);
        Expect(seconds,
               With(PlainCluster(r, "cross: {distance: 1km, capacity: 1600Gbps}"),
                    CollectiveOp::AllReduce,
                    CollectiveGroup::All,
                    kSize));
    }
}

TEST_P(ClosedForms, FlatRingThroughBuildings)
{
    // Two buildings of four: six edges inside, two across. All-gather: the volume of the slowest
    // edge, all of which run at the NICs' rate, and of latency every edge once but a short one.
    const double seconds =
        7 * kSize / 8.0 * SecondsPerByte(kNic) + 5 * AlphaOnALeaf() + 2 * AlphaAcross();
    Expect(seconds,
           With(PlainCluster(2),
                CollectiveOp::AllGather,
                CollectiveGroup::All,
                kSize,
                CollectiveAlgorithm("ring")));
}

/**
 * All-reduce of one packet of 1,024 B a step round r buildings of n / r NICs each: a part passes
 * n - 1 edges to be summed up, and goes on from there over n - 1 more, all but two that follow each
 * other. Of two buildings of two, in which every other edge crosses, these are one of each kind,
 * and a part crosses three times; of two of three both may be inside, and it crosses four times; of
 * three of two it is five times. Where only one is spared it is 2 of 3, as it is 4 of 5 of those
 * three.
 */
TEST_P(ClosedForms, SmallRingThroughBuildings)
{
    struct Case
    {
        uint32_t buildings;
        uint32_t each;
        uint32_t inside; //!< edges that a part passes in a building
        uint32_t across;
    };

    for (const Case& c : {Case{2, 2, 3, 3}, {2, 3, 6, 4}, {3, 2, 5, 5}, {2, 1, 0, 2}, {3, 1, 0, 4}})
    {
        const uint32_t n = c.buildings * c.each;
        const double packet = (1024 + 82) * 8 / kNic;
        const double inside = 2 * 500e-9 + 2 * packet;
        const double across = 8e-6 + 2 * packet + 3 * packet / c.each;
        const Scenario cluster =
            PlainCluster(c.buildings, {{"cluster.buildings.gpus", std::to_string(c.each)}});
        Expect(c.inside * inside + c.across * across,
               With(cluster,
                    CollectiveOp::AllReduce,
                    CollectiveGroup::All,
                    1024 * n,
                    CollectiveAlgorithm("ring")));
        // Of one phase a part spares the edge that is shortest for it.
        const double spared = c.each > 1 ? inside : across;
        Expect(c.buildings * across + (n - c.buildings) * inside - spared,
               With(cluster,
                    CollectiveOp::AllGather,
                    CollectiveGroup::All,
                    1024 * n,
                    CollectiveAlgorithm("ring")));
    }
}

TEST_P(ClosedForms, InsideAServerOverNvlink)
{
    // Eight GPUs of one server, 450 GB/s x 0.82, 1.9 us: 14 (alpha + S/(8B)).
    const Scenario cluster =
        PlainCluster(1,
                     {{"cluster.buildings.gpus", "8"}, {"cluster.buildings.gpus_per_node", "8"}});
    Expect(14 * (1.9e-6 + kSize / 8.0 / (450e9 * 0.82)),
           With(cluster, CollectiveOp::AllReduce, CollectiveGroup::All, kSize));
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         ClosedForms,
                         testing::Values("analytical", "flow", "packet"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace scaleacross
