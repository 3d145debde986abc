// SPDX-License-Identifier: GPL-2.0-only

// Entropies of the sender: pinned to a path, drawn per packet, recycled.

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ecmp-selector.h"
#include "ns3/fabric-path.h"
#include "ns3/random-entropy.h"
#include "ns3/random-spray-selector.h"
#include "ns3/recycled-entropy.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/weighted-selector.h"

#include <functional>
#include <set>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;

namespace
{

const DataRate kRate("100Gbps");

/// Two leaves with `hosts` each, joined by `spines`: host i is under the first leaf if i < hosts.
/// Ports of a leaf: its hosts, then the spines.
struct LeafSpine
{
    LeafSpine(FabricHelper& fabric, uint32_t hosts, uint32_t spines, DataRate lastUplink = kRate)
    {
        for (uint32_t side = 0; side < 2; ++side)
        {
            leaves.push_back(fabric.AddSwitch());
            for (uint32_t i = 0; i < hosts; ++i)
            {
                fabric.Connect(fabric.AddNic(fabric.AddHost()),
                               leaves[side],
                               kRate,
                               MicroSeconds(1));
            }
        }
        for (uint32_t i = 0; i < spines; ++i)
        {
            spine.push_back(fabric.AddSwitch());
            fabric.Connect(leaves[0],
                           spine[i],
                           i + 1 == spines ? lastUplink : kRate,
                           MicroSeconds(1));
            fabric.Connect(leaves[1], spine[i], kRate, MicroSeconds(1));
        }
        fabric.InstallRoutes();
    }

    std::vector<Ptr<FabricSwitch>> leaves;
    std::vector<Ptr<FabricSwitch>> spine;
};

void
TolerateReordering(FabricHelper& fabric, uint64_t tolerance)
{
    fabric.SetQueuePairAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
    fabric.SetQueuePairAttribute("ReorderTolerance", UintegerValue(tolerance));
}

void
UseEntropies(FabricHelper& fabric, const std::string& type)
{
    fabric.SetQueuePairAttribute("EntropyOps", TypeIdValue(TypeId::LookupByName(type)));
}

/// The worked case of recycled-entropy.h, a ring that overflows, and one that is frozen.
class RingTest : public TestCase
{
  public:
    RingTest()
        : TestCase("The ring gives back what came unmarked, oldest first")
    {
    }

  private:
    using Entropies = std::vector<uint16_t>;

    static Entropies Take(RecycledEntropy& ops, uint32_t n, int64_t now = 0)
    {
        Entropies taken;
        for (uint32_t i = 0; i < n; ++i)
        {
            taken.push_back(ops.Next(now));
        }
        return taken;
    }

    /// Drawn ones are 0xC000 and above; the tests put smaller ones into the ring.
    static bool AllDrawn(const Entropies& entropies)
    {
        return std::all_of(entropies.begin(), entropies.end(), [](uint16_t entropy) {
            return entropy >= RdmaEntropyOps::kFirst;
        });
    }

    void DoRun() override
    {
        auto ops = CreateObject<RecycledEntropy>();
        ops->SetStream(1);
        NS_TEST_ASSERT_MSG_EQ(AllDrawn(Take(*ops, 20)), true, "nothing has come back");
        ops->OnAck(7, false, 0);
        ops->OnAck(3, true, 0);
        ops->OnAck(9, false, 0);
        NS_TEST_ASSERT_MSG_EQ((Take(*ops, 2) == Entropies{7, 9}), true, "not the marked one");
        NS_TEST_ASSERT_MSG_EQ(AllDrawn(Take(*ops, 5)), true, "each once");
        NS_TEST_ASSERT_MSG_EQ(ops->GetRecycled(), 2, "counted");
        NS_TEST_ASSERT_MSG_EQ(ops->GetDrawn(), 25, "counted");

        // 10 answers into a ring of 8: the first two are overwritten.
        for (uint16_t entropy = 101; entropy <= 110; ++entropy)
        {
            ops->OnAck(entropy, false, 0);
        }
        NS_TEST_ASSERT_MSG_EQ((Take(*ops, 8) == Entropies{103, 104, 105, 106, 107, 108, 109, 110}),
                              true,
                              "the eight latest, oldest first");
        NS_TEST_ASSERT_MSG_EQ(AllDrawn(Take(*ops, 1)), true, "all used");

        // Frozen for 10 ms: what comes back first, then used ones, and no random one.
        ops->OnLoss(5);
        NS_TEST_ASSERT_MSG_EQ(ops->IsFrozen(), false, "losses are congestion by default");
        NS_TEST_ASSERT_MSG_EQ(ops->WaitsUntil(), 0, "it does not go by the clock");
        ops->OnTimeout(1000);
        NS_TEST_ASSERT_MSG_EQ(ops->IsFrozen(), true, "timeouts are not");
        NS_TEST_ASSERT_MSG_EQ(ops->WaitsUntil(), 1000 + 10'000'000'000, "");
        ops->OnAck(200, false, 2000);
        Entropies frozen = Take(*ops, 9);
        NS_TEST_ASSERT_MSG_EQ(frozen.front(), 200, "the one that is not used");
        std::sort(frozen.begin() + 1, frozen.end());
        // 200 took the place of the oldest, 103.
        NS_TEST_ASSERT_MSG_EQ((Entropies(frozen.begin() + 1, frozen.end()) ==
                               Entropies{104, 105, 106, 107, 108, 109, 110, 200}),
                              true,
                              "each used one in turn");
        // The first answer after that ends it: 16 packets explore, although there is one to use.
        ops->OnAck(300, false, 1000 + 9'999'999'999);
        NS_TEST_ASSERT_MSG_EQ(ops->IsFrozen(), true, "not 10 ms");
        ops->OnAck(301, false, 1000 + 10'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(ops->IsFrozen(), false, "10 ms");
        NS_TEST_ASSERT_MSG_EQ(ops->WaitsUntil(), 0, "");
        ops->OnTimeout(1000 + 10'000'000'001);
        NS_TEST_ASSERT_MSG_EQ(ops->IsFrozen(), false, "not while it explores");
        NS_TEST_ASSERT_MSG_EQ(AllDrawn(Take(*ops, 16)), true, "explores");
        NS_TEST_ASSERT_MSG_EQ((Take(*ops, 2) == Entropies{300, 301}), true, "recycles again");

        bool refused = false;
        try
        {
            ops->SetAttribute("RingSize", UintegerValue(16));
        }
        catch (const ConfigError& error)
        {
            refused = error.Where() == "RecycledEntropy::RingSize";
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "the ring is in use");
        ops->SetAttribute("FreezeOnLoss", BooleanValue(true));
        ops->OnLoss(0);
        NS_TEST_ASSERT_MSG_EQ(ops->IsFrozen(), true, "a loss is a failure where told so");
        auto empty = CreateObject<RecycledEntropy>();
        empty->SetStream(2);
        empty->OnTimeout(0);
        NS_TEST_ASSERT_MSG_EQ(AllDrawn(Take(*empty, 20)), true, "nothing to use again");
    }
};

/**
 * For 40 entropies and, with destination-qp hashed, 20 queue pairs: the ports that PathOf names
 * carry the flow's packets, and no other port of a leaf to a spine does. With weights as well,
 * where one uplink of eight has half the rate of the others.
 */
class PathTest : public TestCase
{
  public:
    PathTest(bool hashQueuePair, bool weighted)
        : TestCase(std::string("PathOf names the ports that a flow takes") +
                   (hashQueuePair ? ", with destination-qp hashed" : "") +
                   (weighted ? ", with weights" : "")),
          m_hashQueuePair(hashQueuePair),
          m_weighted(weighted)
    {
    }

  private:
    static std::vector<uint64_t> Carried(const FabricHelper& fabric)
    {
        std::vector<uint64_t> sent;
        for (const auto& fabricSwitch : fabric.Switches())
        {
            for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
            {
                sent.push_back(fabricSwitch->GetPort(i)->GetSentBytes());
            }
        }
        return sent;
    }

    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        if (m_hashQueuePair)
        {
            fabric.SetSwitchAttribute("HashFields",
                                      StringValue("source,destination,destination-qp"));
        }
        if (m_weighted)
        {
            fabric.SetSwitchAttribute("PathSelector", TypeIdValue(WeightedSelector::GetTypeId()));
            fabric.SetRouteWeights(scaleacross::RouteWeights::Capacity);
        }
        LeafSpine graph(fabric, 2, 8, m_weighted ? DataRate("50Gbps") : kRate);
        std::set<Ptr<FabricPort>> uplinks;
        for (uint32_t i = 0; i < 40; ++i)
        {
            const auto entropy = static_cast<uint16_t>(0xC000 + 37 * i);
            Ptr<RdmaNic> from = fabric.Nics()[i % 2];
            Ptr<RdmaNic> to = fabric.Nics()[2 + i % 2];
            auto connection = fabric.CreateConnection(from, to, {entropy});
            const RdmaQueuePair& queuePair = *connection->GetQueuePair(0);
            const auto path = PathOf(queuePair);
            const FabricFlow flow{from, to, entropy, queuePair.GetRemoteNumber()};
            NS_TEST_ASSERT_MSG_EQ((path == PathOf(flow)), true, "the same by its fields");
            NS_TEST_ASSERT_MSG_EQ(queuePair.GetEntropy(), entropy, "pinned");
            NS_TEST_ASSERT_MSG_EQ(path.size(), 4, "NIC, leaf, spine, leaf");
            std::vector<uint64_t> before;
            for (const auto& port : path)
            {
                before.push_back(port->GetSentBytes());
            }
            const auto all = Carried(fabric);
            connection->Send(Bytes(100'000), i);
            Simulator::Run();
            for (size_t hop = 0; hop < path.size(); ++hop)
            {
                // 100 packets of 1,048 B; ACKs go the other way.
                NS_TEST_ASSERT_MSG_EQ(path[hop]->GetSentBytes() - before[hop],
                                      104'800,
                                      "hop " << hop);
            }
            // Data only there: leaf, spine, and the last leaf's port to the NIC; ACKs, 100 of 60 B,
            // on as many ports back.
            const auto after = Carried(fabric);
            uint64_t sum = 0;
            for (size_t port = 0; port < all.size(); ++port)
            {
                sum += after[port] - all[port];
            }
            NS_TEST_ASSERT_MSG_EQ(sum, 3 * 104'800 + 3 * 6'000, "and no other");
            uplinks.insert(path[1]);
        }
        NS_TEST_ASSERT_MSG_GT(uplinks.size(), 4, "they differ");
        Simulator::Destroy();
    }

    bool m_hashQueuePair;
    bool m_weighted;
};

/**
 * Two flows of two hosts that are pinned to two spines share nothing: each takes as long as alone.
 * Pinned to the same spine they share its wire: the last one takes twice the packets.
 */
class PinningTest : public TestCase
{
  public:
    PinningTest()
        : TestCase("Pinned flows keep to their paths")
    {
    }

  private:
    int64_t Last(const std::vector<uint32_t>& spines)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        LeafSpine graph(fabric, 2, 8);
        Log log;
        for (uint32_t i = 0; i < 2; ++i)
        {
            const FabricFlow flow{fabric.Nics()[i], fabric.Nics()[2 + i], 0, 0};
            const auto entropy = FindEntropy(flow, graph.leaves[0]->GetPort(2 + spines[i]));
            NS_TEST_EXPECT_MSG_EQ(entropy.has_value(), true, "2^14 ports find each of 8 spines");
            NS_TEST_EXPECT_MSG_EQ(FindEntropy(flow, graph.leaves[1]->GetPort(3 - i)).has_value(),
                                  false,
                                  "no entropy leads to another host");
            auto connection = fabric.CreateConnection(flow.from, flow.to, {entropy.value_or(0)});
            log.Watch(connection);
            connection->Send(Bytes(1'000'000), i);
        }
        Simulator::Run();
        CheckConservation(fabric);
        Simulator::Destroy();
        return log.LastDelivery();
    }

    void DoRun() override
    {
        // 1,000 packets of 83.84 ns and three more of store and forward, four wires of 1 us.
        const int64_t alone = 1003 * 83'840 + 4'000'000;
        for (uint32_t spine = 0; spine < 8; ++spine)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(Last({spine, (spine + 1) % 8}), alone, Rounding(8), "apart");
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(Last({5, 5}), alone + 1000 * 83'840, Rounding(8), "together");
    }
};

/**
 * Every data packet has its own entropy, and its ACK has the same. 8,000 packets over 8 spines: of
 * 2^14 entropies a hash gives each spine 2,048 with a standard deviation of 42, and 8,000 draws put
 * 1,000 with one of 30 more on it: sqrt(30^2 + (1000 * 42 / 2048)^2) = 36, five of which are 180.
 */
class RandomTest : public TestCase
{
  public:
    RandomTest()
        : TestCase("Random entropies use all paths alike, and ACKs bring them back")
    {
    }

  private:
    struct Result
    {
        std::vector<uint16_t> data;
        std::vector<uint16_t> acks;
        std::vector<uint64_t> loads;
    };

    static Result RunOnce(int64_t stream)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        UseEntropies(fabric, "ns3::RandomEntropy");
        TolerateReordering(fabric, 1000);
        LeafSpine graph(fabric, 1, 8);
        fabric.AssignStreams(stream);
        Result result;
        const auto note = [](std::vector<uint16_t>& list, PacketKind kind) {
            return Callback<void, const FabricPacket&>([&list, kind](const FabricPacket& packet) {
                if (packet.kind == kind)
                {
                    list.push_back(packet.entropy);
                }
            });
        };
        fabric.Nics()[0]->TraceConnectWithoutContext("Transmit",
                                                     note(result.data, PacketKind::Data));
        fabric.Nics()[1]->TraceConnectWithoutContext("Transmit",
                                                     note(result.acks, PacketKind::Ack));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        connection->Send(Bytes(8'000'000), 0);
        Simulator::Run();
        for (uint32_t i = 0; i < 8; ++i)
        {
            result.loads.push_back(graph.leaves[0]->GetPort(1 + i)->GetSentPackets());
        }
        CheckConservation(fabric);
        Simulator::Destroy();
        return result;
    }

    void DoRun() override
    {
        Result first = RunOnce(1);
        NS_TEST_ASSERT_MSG_EQ(first.data.size(), 8000, "packets");
        for (const uint64_t load : first.loads)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(load, 1000, 180, "an eighth");
        }
        NS_TEST_ASSERT_MSG_EQ((RunOnce(1).data == first.data), true, "same stream, same entropies");
        NS_TEST_ASSERT_MSG_EQ((RunOnce(2).data == first.data), false, "other stream, others");
        NS_TEST_ASSERT_MSG_EQ(first.acks.size(), 8000, "every packet is answered");
        std::sort(first.data.begin(), first.data.end());
        std::sort(first.acks.begin(), first.acks.end());
        NS_TEST_ASSERT_MSG_EQ((first.acks == first.data), true, "each by its own entropy");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(first.data.front(), 0xC000, "RoCEv2's ports");
    }
};

/// Entropies are the sender's matter: a receiver without EntropyOps answers each data packet by
/// the packet's own, and what it sends itself has one.
class OneEndTest : public TestCase
{
  public:
    OneEndTest()
        : TestCase("Answers bring entropies back if only the sender has them")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        LeafSpine graph(fabric, 1, 8);
        const Ptr<RdmaNic> nics[] = {fabric.Nics()[0], fabric.Nics()[1]};
        std::vector<Ptr<RdmaQueuePair>> ends;
        for (const auto& nic : nics)
        {
            ends.push_back(nic->CreateQueuePair());
            ends.back()->SetAttribute("RetransmissionMode", StringValue("SelectiveRepeat"));
            ends.back()->SetAttribute("ReorderTolerance", UintegerValue(100));
        }
        auto ops = CreateObject<RecycledEntropy>();
        ops->SetStream(1);
        ends[0]->SetEntropyOps(ops);
        std::vector<uint16_t> data[2]; // by sender
        std::vector<uint16_t> acks[2];
        for (uint32_t i = 0; i < 2; ++i)
        {
            ends[i]->Connect(nics[1 - i]->GetFabricAddress(), ends[1 - i]->GetNumber());
            const auto note = [&data, &acks, i](const FabricPacket& packet) {
                (packet.kind == PacketKind::Data ? data : acks)[i].push_back(packet.entropy);
            };
            nics[i]->TraceConnectWithoutContext("Transmit",
                                                Callback<void, const FabricPacket&>(note));
        }
        ends[0]->Post(scaleacross::RdmaOperation::Write, Bytes(1'000'000), 0);
        ends[1]->Post(scaleacross::RdmaOperation::Write, Bytes(1'000'000), 0);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(acks[1].size(), 1000, "every packet is answered");
        NS_TEST_EXPECT_MSG_GT(ops->GetRecycled(), 100, "and its entropy used again");
        std::sort(data[0].begin(), data[0].end());
        std::sort(acks[1].begin(), acks[1].end());
        NS_TEST_EXPECT_MSG_EQ((data[0] == acks[1]), true, "each by its own entropy");
        // 2^14 (1 - (1 - 2^-14)^n) of 2^14 are hit by n draws: of 100 only by chance fewer than 90.
        NS_TEST_EXPECT_MSG_GT(std::set<uint16_t>(data[0].begin(), data[0].end()).size(),
                              90,
                              "many");
        for (const auto& list : {data[1], acks[0]})
        {
            NS_TEST_ASSERT_MSG_EQ(list.size(), 1000, "the other way");
            NS_TEST_EXPECT_MSG_EQ(std::count(list.begin(), list.end(), list.front()),
                                  1000,
                                  "one entropy, that of the end which sends");
        }
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/// What a transfer came to.
struct Transfer
{
    double lastUs{0};            //!< last acknowledgement
    uint64_t retransmissions{0}; //!< packets sent again
};

/// The wire from the first leaf to the last of eight spines.
struct LastUplink
{
    DataRate rate{kRate};
    double loss{0};
};

/**
 * Eight hosts send 4 MB each to one under the other leaf, over eight spines: N = 32,000 packets of
 * p = 83.84 ns in all. A round trip is 8 us and four store and forwards, 8.27 us or 99 packets; the
 * windows of 128 packets are a little more. Queues mark between 20 and 80 KB, a fifth and four
 * fifths of a round trip at 100 Gb/s.
 */
Transfer
RunTransfer(const std::string& entropies, const LastUplink& uplink)
{
    FabricHelper fabric;
    UseHpccSizes(fabric);
    UseEntropies(fabric, entropies);
    TolerateReordering(fabric, 200);
    fabric.SetQueuePairAttribute("Window", UintegerValue(128'000));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
    fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(32 * kMiB));
    fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
    fabric.SetSwitchAttribute("EcnKmin", UintegerValue(20'000));
    fabric.SetSwitchAttribute("EcnKmax", UintegerValue(80'000));
    fabric.SetSwitchAttribute("EcnPmax", DoubleValue(1.0));
    LeafSpine graph(fabric, 8, 8, uplink.rate);
    graph.leaves[0]->GetPort(15)->GetWire()->SetAttribute("LossRate", DoubleValue(uplink.loss));
    fabric.AssignStreams(1);
    Log log;
    for (uint32_t i = 0; i < 8; ++i)
    {
        auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[8 + i]);
        log.Watch(connection);
        connection->Send(Bytes(4'000'000), i);
    }
    Simulator::Run();
    CheckConservation(fabric);
    Transfer result;
    result.lastUs =
        log.completed.size() == 8 ? static_cast<double>(log.LastCompletion()) * 1e-6 : 0;
    for (const auto& nic : fabric.Nics())
    {
        result.retransmissions += nic->GetRetransmissions();
    }
    Simulator::Destroy();
    return result;
}

const std::string kRandom = "ns3::RandomEntropy";
const std::string kRecycled = "ns3::RecycledEntropy";

/**
 * Equal paths. No host is faster than its own wire: 4,000 p + 8.27 us = 343.6 us. Random entropies
 * put a little more on one path than on another at every moment, recycled ones settle.
 */
class HealthyTest : public TestCase
{
  public:
    HealthyTest()
        : TestCase("Recycled entropies on equal paths are not worse than random ones")
    {
    }

  private:
    void DoRun() override
    {
        const double recycled = RunTransfer(kRecycled, {}).lastUs;
        const double random = RunTransfer(kRandom, {}).lastUs;
        NS_TEST_ASSERT_MSG_GT(std::min(random, recycled), 343.6, "bound");
        NS_TEST_ASSERT_MSG_LT(recycled, random, "below random");
    }
};

/**
 * One of the eight wires at half rate, as REPS's asymmetric fabrics. Random entropies put an eighth
 * on it, N/8 packets of 2 p: 671 us. How many that are is uncertain by the draws, sqrt(N 7/64) =
 * 59, and by the hash, which gives a spine 2,048 +- 42 of 2^14 entropies, other ones for each of
 * the eight flows: 4,000 * 42 / 2,048 / sqrt(8) = 29; five times both together is 8 %: 617 us at
 * least.
 *
 * At best all wires are busy to the end: N p / 7.5 + 8.27 us = 366.0 us. How near recycling comes
 * to that is measured, not derived; it has to be done before random entropies possibly could.
 */
class AsymmetricTest : public TestCase
{
  public:
    AsymmetricTest()
        : TestCase("Recycled entropies avoid a slow path, random ones wait for it")
    {
    }

  private:
    void DoRun() override
    {
        const LastUplink slow{DataRate("50Gbps")};
        const double random = RunTransfer(kRandom, slow).lastUs;
        const double recycled = RunTransfer(kRecycled, slow).lastUs;
        NS_TEST_ASSERT_MSG_GT(random, 617, "an eighth goes over the slow wire");
        NS_TEST_ASSERT_MSG_GT(recycled, 366.0, "bound");
        NS_TEST_ASSERT_MSG_LT(recycled, 617, "before random ones could be");
    }
};

/**
 * One of the eight wires loses 99 % both ways and nobody knows: random entropies lose q = 0.99 / 8
 * of all packets, new or repeated: N q / (1 - q) = 4,519 repetitions at least, with a standard
 * deviation of less than sqrt(4,519 / (1 - q)) = 72. The hash gives that spine 2,048 +- 42 of 2^14
 * entropies, other ones for each of eight flows: 4,519 * 42 / 2,048 / sqrt(8) = 33 more: 79 in all.
 * Recycling has to lose fewer than random entropies possibly could.
 */
class FailureTest : public TestCase
{
  public:
    FailureTest()
        : TestCase("Recycled entropies avoid a path that loses")
    {
    }

  private:
    void DoRun() override
    {
        const LastUplink lossy{kRate, 0.99};
        const Transfer random = RunTransfer(kRandom, lossy);
        const Transfer recycled = RunTransfer(kRecycled, lossy);
        NS_TEST_ASSERT_MSG_GT(recycled.lastUs, 343.6, "all are done, and no faster than possible");
        NS_TEST_ASSERT_MSG_GT(random.retransmissions, 4519 - 5 * 79, "random ones lose an eighth");
        NS_TEST_ASSERT_MSG_LT(recycled.retransmissions, 4519 - 5 * 79, "recycled ones fewer");
        NS_TEST_ASSERT_MSG_LT(recycled.lastUs, random.lastUs, "and are done before");
    }
};

/// What cannot be right is refused by name before time zero.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Combinations that cannot be right are refused")
    {
    }

  private:
    void Refused(const std::function<void(FabricHelper&)>& configure, const std::string& problem)
    {
        FabricHelper fabric;
        UseEntropies(fabric, "ns3::RecycledEntropy");
        TolerateReordering(fabric, 100);
        LeafSpine graph(fabric, 1, 2);
        std::string message;
        try
        {
            configure(fabric);
            auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
            PathOf(*connection->GetQueuePair(0));
        }
        catch (const ConfigError& error)
        {
            message = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(message.find(problem), std::string::npos, problem << ": " << message);
        Simulator::Destroy();
    }

    void DoRun() override
    {
        const auto set = [](const std::string& name, const AttributeValue& value) {
            return [name, copy = value.Copy()](FabricHelper& fabric) {
                fabric.SetQueuePairAttribute(name, *copy);
            };
        };
        Refused(set("RetransmissionMode", StringValue("GoBackN")), "go-back-N");
        Refused(set("ReorderTolerance", UintegerValue(0)), "ReorderTolerance of 0");
        Refused(set("OutOfOrderLimit", UintegerValue(99)), "below the ReorderTolerance");
        Refused(set("EntropyOps", TypeIdValue(EcmpSelector::GetTypeId())), "gives no entropies");
        Refused(set("Entropy", UintegerValue(0xC001)), "pinned");
        Refused([](FabricHelper&) {}, "recycled entropies");
        Refused(
            [](FabricHelper& fabric) {
                UseEntropies(fabric, "ns3::RdmaEntropyOps");
                fabric.Switches()[0]->SetPathSelectorType(RandomSpraySelector::GetTypeId());
                fabric.Switches()[0]->CheckConfig();
            },
            "random spray does not go by the hash");
    }
};

class EntropySuite : public TestSuite
{
  public:
    EntropySuite()
        : TestSuite("scaleacross-entropy")
    {
        AddTestCase(new RingTest);
        AddTestCase(new PathTest(false, false));
        AddTestCase(new PathTest(true, false));
        AddTestCase(new PathTest(false, true));
        AddTestCase(new OneEndTest);
        AddTestCase(new PinningTest);
        AddTestCase(new RandomTest);
        AddTestCase(new RefusalTest);
        AddTestCase(new HealthyTest);
        AddTestCase(new AsymmetricTest);
        AddTestCase(new FailureTest);
    }
};

EntropySuite g_entropySuite;

} // namespace
