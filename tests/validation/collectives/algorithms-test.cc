// SPDX-License-Identifier: GPL-2.0-only

// The algorithms of network.collective against their textbook times, on both engines.
//
// Sources: Chan, Heimlich, Purkayastha and van de Geijn 2007 and Thakur, Rabenseifner and Gropp
// 2005 (halving and doubling), Bruck et al. 1997 (dissemination), Sanders, Speck and Traeff 2009
// (double tree). alpha and beta as in closed-forms-test.cc, whose tolerance of 1 % holds here too
// but where a test says why not.

#include "collective-cases.h"

#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleacross
{
namespace
{

constexpr double kNic = 400e9;
constexpr uint64_t kSize = 16 << 20;
constexpr double kTolerance = 0.01;

class Algorithms : public testing::TestWithParam<const char*>
{
  protected:
    double Seconds(const Scenario& scenario) const
    {
        return SecondsOn(*EngineOf(GetParam()), scenario);
    }

    static bool IsPacket()
    {
        return std::string(GetParam()) == "packet";
    }

    static bool IsAnalytical()
    {
        return std::string(GetParam()) == "analytical";
    }

    void Expect(double seconds, const Scenario& scenario, double tolerance = kTolerance) const
    {
        EXPECT_NEAR(Seconds(scenario), seconds, tolerance * seconds);
    }

    /// Reduce-scatter and all-gather of n servers on a leaf take `half` each, an all-reduce both.
    void ExpectHalves(uint32_t n, CollectiveAlgorithm algorithm, double half) const;
};

double
AlphaOnALeaf()
{
    return 2 * 500e-9 + PacketSeconds(kNic);
}

/// n servers of one GPU on a leaf.
Scenario
OnALeaf(uint32_t n)
{
    return PlainCluster(1, {{"cluster.buildings.gpus", std::to_string(n)}});
}

void
Algorithms::ExpectHalves(uint32_t n, CollectiveAlgorithm algorithm, double half) const
{
    for (const auto& [op, seconds] : {std::make_pair(CollectiveOp::ReduceScatter, half),
                                      std::make_pair(CollectiveOp::AllGather, half),
                                      std::make_pair(CollectiveOp::AllReduce, 2 * half)})
    {
        SCOPED_TRACE(std::to_string(n) + " " + ToString(op));
        Expect(seconds, With(OnALeaf(n), op, CollectiveGroup::All, kSize, algorithm));
    }
}

/// n servers of 8 GPUs on rails.
Scenario
Servers(uint32_t n)
{
    return PlainCluster(1,
                        {{"cluster.buildings.gpus", std::to_string(8 * n)},
                         {"cluster.buildings.gpus_per_node", "8"}});
}

uint32_t
LogUp(uint32_t n)
{
    uint32_t log = 0;
    for (; 1U << log < n; log++)
    {
    }
    return log;
}

TEST_P(Algorithms, HalvingAndDoubling)
{
    // ceil(log2 n) alpha + (n-1)/n S/B, of powers of two and of others; 6 and 12 are one factor of
    // two or two, and a rest of 3: as many rounds as well.
    for (const uint32_t n : {2, 3, 4, 5, 6, 7, 8, 12})
    {
        const double half =
            LogUp(n) * AlphaOnALeaf() + (n - 1.0) / n * kSize * SecondsPerByte(kNic);
        ExpectHalves(n, CollectiveAlgorithm("halving-doubling"), half);
    }
}

TEST_P(Algorithms, RingBothWays)
{
    // floor(n/2) alpha + (n-1)/n S/B. Packets are faster by what one way sends while the other
    // waits for its next part: at least the NIC has never stood still, and the last part arrives.
    for (const uint32_t n : {3, 4, 5, 8})
    {
        const double volume = (n - 1.0) / n * kSize * SecondsPerByte(kNic);
        const double half = n / 2 * AlphaOnALeaf() + volume;
        if (!IsPacket())
        {
            ExpectHalves(n, CollectiveAlgorithm("bidirectional-ring"), half);
            continue;
        }
        for (const auto& [op, halves] : {std::make_pair(CollectiveOp::ReduceScatter, 1),
                                         std::make_pair(CollectiveOp::AllGather, 1),
                                         std::make_pair(CollectiveOp::AllReduce, 2)})
        {
            SCOPED_TRACE(std::to_string(n) + " " + ToString(op));
            const double seconds = Seconds(With(OnALeaf(n),
                                                op,
                                                CollectiveGroup::All,
                                                kSize,
                                                CollectiveAlgorithm("bidirectional-ring")));
            EXPECT_GT(seconds, (1 - kTolerance) * halves * (AlphaOnALeaf() + volume));
            EXPECT_LT(seconds, (1 + kTolerance) * halves * half);
        }
    }
}

TEST_P(Algorithms, RingBothWaysCrossesOnce)
{
    // Two buildings of four and 1 KiB: four steps, of which only the fourth halves the part.
    // Whatever the member, one edge of four in a row is a boundary; a ring passes both.
    const auto packet = [](double bytes) { return (bytes + 82) * 8 / kNic; };
    const double size = 8192;
    const auto inside = [&](double bytes) { return 2 * 500e-9 + 2 * packet(bytes); };
    const auto across = [&](double bytes) { return 8e-6 + 2.75 * packet(bytes); };
    const Scenario scenario = With(PlainCluster(2),
                                   CollectiveOp::AllGather,
                                   CollectiveGroup::All,
                                   size,
                                   CollectiveAlgorithm("bidirectional-ring"));
    // Three whole parts inside and one across; at most all seven packets that a NIC sends besides.
    const double seconds = Seconds(scenario);
    const double least = 3 * inside(1024) + across(512);
    EXPECT_GT(seconds, 0.99 * least);
    EXPECT_LT(seconds, least + 7 * packet(1024));
}

TEST_P(Algorithms, DoubleTree)
{
    // The busiest member sends 2 S in four kinds of message, of 512 KiB or S/2 at most. The
    // analytical engine has 2 log2(n) alpha + 2 S/B, and what filling the trees takes at most: each
    // level but one waits for one message more of each kind.
    //
    // The packet engine's members need not be idle for that: each is a leaf of one tree, and has
    // messages for its parent there from the beginning. At least the last message has to arrive
    // when the busiest NIC has never stood still, alpha + 2 S/B. Between the two lie (log2(n) - 1)
    // / q with q messages: 0.8 % of 256 MiB, 12 % of 16 MiB on eight members.
    //
    // Over one queue pair messages go in order. Over several they take turns: of those that are
    // sent at once the first arrives little before the last, and each level may wait for as many.
    // The analytical engine takes half of them, (1 + k) / 2. The leaf has room for all windows: two
    // children send to one NIC, 16 MiB each, and a pause would stop what they send to others, too.
    // Flows of 256 MiB on 16 queue pairs take 3 % more.
    for (const auto& [n, size, pairs] :
         std::vector<std::tuple<uint32_t, uint64_t, uint32_t>>{{4, kSize, 1},
                                                               {8, kSize, 1},
                                                               {4, 16 * kSize, 1},
                                                               {8, 16 * kSize, 1},
                                                               {8, kSize, 16},
                                                               {8, 16 * kSize, 4},
                                                               {8, 16 * kSize, 16}})
    {
        const double messages = std::max(1.0, size / 2.0 / (512 << 10));
        const double turns = std::min<double>(pairs, messages);
        const double waits = IsAnalytical() ? (1 + turns) / 2 : turns;
        const double volume = 2 * size * SecondsPerByte(kNic);
        const double most =
            2 * LogUp(n) * AlphaOnALeaf() + volume * (1 + (LogUp(n) - 1) * waits / messages);
        SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(size) + " over " +
                     std::to_string(pairs));
        Scenario scenario = With(OnALeaf(n),
                                 CollectiveOp::AllReduce,
                                 CollectiveGroup::All,
                                 size,
                                 CollectiveAlgorithm("tree"));
        scenario.network.qps = pairs;
        scenario.network.balance = Balance("round-robin");
        scenario.network.leafBuffer = Bytes(4ULL << 30);
        const double seconds = Seconds(scenario);
        const double least = IsAnalytical() ? most : AlphaOnALeaf() + volume;
        EXPECT_GT(seconds, (1 - kTolerance) * least);
        if (IsPacket() || IsAnalytical() || pairs < 16)
        {
            EXPECT_LT(seconds, (1 + kTolerance) * most);
        }
    }
}

TEST_P(Algorithms, RailsInTwoLevels)
{
    // Two servers of 8: over NVLink (450 GB/s x 0.82, 1.9 us) 7/8 of S, over the NIC half of it.
    const uint64_t size = 8 * kSize;
    Scenario scenario = With(Servers(2), CollectiveOp::AllToAll, CollectiveGroup::All, size);
    scenario.network.allToAll = AllToAllAlgorithm("rail");
    Expect(1.9e-6 + size * 7 / 8.0 / (450e9 * 0.82) + AlphaOnALeaf() +
               size / 2.0 * SecondsPerByte(kNic),
           scenario);
}

TEST_P(Algorithms, ChunksOverlapServersAndNetwork)
{
    // Two servers of 8 and S: reduce-scatter over NVLink, exchange of S/8 over the NIC there and
    // back, all-gather over NVLink. NVLink takes 2 x 7/8 S / 369 GB/s, the NIC 2 x S/16 / 50 GB/s,
    // and each way over NVLink has seven steps of 1.9 us, l.
    const uint64_t size = 16 * kSize;
    const double nvlink = 7 / 8.0 * size / (450e9 * 0.82);
    const double nic = size / 16.0 * SecondsPerByte(kNic) + AlphaOnALeaf();
    const double l = 7 * 1.9e-6;
    Scenario scenario = With(Servers(2), CollectiveOp::AllReduce, CollectiveGroup::All, size);
    Expect(2 * nvlink + 2 * nic + 2 * l, scenario);

    // 16 chunks, four at a time. NVLink has most to do, and in packets and flows it always has a
    // message to send, first of reduce-scatters, then of either, last of all-gathers: all that
    // comes on top is the way of the last one.
    //
    // In the analytical engine a phase is its volume and then its latency, and the four chunks
    // under way share NVLink and NIC alike, so that they go as one wave of four: a = nvlink / 4
    // over NVLink, b = nic / 4 over the NIC. Waves 1 to 3 enter the reduce-scatter at 0, a + l and
    // 2 (a + l), wave 1 the all-gather d = 2 b - a - l after wave 3. These two share NVLink, which
    // is busy for 2 a: wave 3 is through d before wave 1. So NVLink stands still for l - d until
    // wave 4 enters the reduce-scatter; wave 2 enters the all-gather d later, and NVLink is busy
    // for 2 a again. Waves 3 and 4 gather after that, each l after NVLink fell idle. With l after
    // each of the first two waves and the last it stands still for 6 l - d.
    scenario.network.collectiveChunk = Bytes(size / 16);
    scenario.network.channels = 4;
    const double b = size / 64.0 * SecondsPerByte(kNic) + AlphaOnALeaf();
    const double d = 2 * b - nvlink / 4 - l;
    ASSERT_GT(d, 0);
    ASSERT_LT(d, l);
    Expect(2 * nvlink + (IsAnalytical() ? 6 * l - d : 1.9e-6), scenario);
}

TEST_P(Algorithms, ChunksOfARingSpareItsEdgesInTurn)
{
    // Two members in each of two buildings 1,000 km apart: edges of 0, 5, 0 and 5 ms, of which a
    // part passes three in a row. Alone that is 10 ms at most. The last part of a chunk ends where
    // the next one begins, so that q of them one by one pass 3 q edges in a row: 8 of them 6 times
    // round, 60 ms and not 80; 5 of them 3 times round and 3 edges more, 40 ms and not 50. The rest
    // of a way is 3 us between buildings, little against that, and so are 1,000 bytes.
    for (const auto& [chunks, crossings] : {std::pair(1U, 2U), {5U, 8U}, {8U, 12U}})
    {
        Scenario scenario = With(PlainCluster(2,
                                              "cross: {distance: 1000km, oversubscription: 1}",
                                              {{"cluster.buildings.gpus", "2"}}),
                                 CollectiveOp::ReduceScatter,
                                 CollectiveGroup::All,
                                 chunks * 4000,
                                 CollectiveAlgorithm("ring"));
        scenario.network.collectiveChunk = Bytes(4000);
        Expect(crossings * 5e-3, scenario);
    }
}

TEST_P(Algorithms, StagedCopyLimitsDistance)
{
    // 16 MiB each way between buildings 100 km apart: 4 MiB per round trip of 1 ms, the first of
    // which leave at once: three round trips, a way and the last 4 MiB. A slot on the wire, copies
    // and handover are 20 us of each round trip: 2 %, left out here. One queue pair, which sends
    // slot after slot: where eight share the wire all of them come late.
    Scenario scenario = With(PlainCluster(2, "cross: {distance: 100km, oversubscription: 1}"),
                             CollectiveOp::SendReceive,
                             CollectiveGroup::Across,
                             kSize);
    scenario.network.qps = 1;
    const double way = 0.5e-3 + 3e-6;
    Expect(way + kSize * SecondsPerByte(kNic), scenario);
    scenario.network.copy = Copy("staged");
    Expect(7 * way + (4 << 20) * SecondsPerByte(kNic), scenario, 0.03);
    // With as many slots as bytes, all but a handover and two copies of a slot is as before.
    scenario.network.channels = 4;
    Expect(way + kSize * SecondsPerByte(kNic) + 7.5e-6, scenario);
}

TEST_P(Algorithms, StagedCopyCostsAHandover)
{
    // 4 KiB on one leaf: 6.9 us more, and two copies of 4 KiB, read and written at 3.35 TB/s.
    Scenario scenario = With(OnALeaf(4), CollectiveOp::SendReceive, CollectiveGroup::All, 4096);
    const double zero = Seconds(scenario);
    scenario.network.copy = Copy("staged");
    Expect(zero + 6.9e-6 + 2 * 2 * 4096 / 3.35e12, scenario, 0.001);
}

/// `auto` is never slower than any of the others, and takes few steps for small sizes.
TEST(AutomaticChoice, IsTheFastestAtEverySize)
{
    const Scenario cluster =
        PlainCluster(3,
                     "cross: {distance: 30km, oversubscription: 2.8}",
                     {{"cluster.buildings.gpus", "32"}, {"cluster.buildings.gpus_per_node", "8"}});
    const AnalyticalEngine engine;
    std::set<std::string> chosen;
    for (const CollectiveOp op :
         {CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::AllToAll})
    {
        for (uint64_t size = 4096; size <= uint64_t{1} << 32; size *= 16)
        {
            double least = std::numeric_limits<double>::infinity();
            for (const auto algorithm : {CollectiveAlgorithm("ring"),
                                         CollectiveAlgorithm("hierarchical"),
                                         CollectiveAlgorithm("halving-doubling"),
                                         CollectiveAlgorithm("bidirectional-ring"),
                                         CollectiveAlgorithm("tree")})
            {
                for (const auto way : {AllToAllAlgorithm("direct"),
                                       AllToAllAlgorithm("rail"),
                                       AllToAllAlgorithm("building")})
                {
                    Scenario scenario = With(cluster, op, CollectiveGroup::All, size, algorithm);
                    scenario.network.allToAll = way;
                    least = std::min(least, SecondsOn(engine, scenario));
                }
            }
            const Scenario scenario =
                With(cluster, op, CollectiveGroup::All, size, CollectiveAlgorithm("auto"));
            EXPECT_DOUBLE_EQ(SecondsOn(engine, scenario), least) << ToString(op) << " " << size;
            chosen.insert(
                std::get<PreparedRun>(PrepareRun(scenario)).graph.collectives.front().algorithm);
        }
    }
    // Small ones by the fewest steps, large ones by both directions of a mesh of three spans; where
    // nothing is hashed, hops of an all-to-all only cost.
    EXPECT_EQ(chosen, (std::set<std::string>{"halving-doubling", "bidirectional-ring", "direct"}));
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         Algorithms,
                         testing::Values("analytical", "flow", "packet"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace scaleacross
