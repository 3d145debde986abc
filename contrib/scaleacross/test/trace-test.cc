// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/config.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;

namespace
{

/// Two hosts send three packets of 1,000 + 48 bytes each to a third one, 100 Gb/s, 1 us.
struct Merge
{
    Merge()
    {
        UseHpccSizes(fabric);
        centre = BuildStar(fabric, 3, "100Gbps", MicroSeconds(1));
        for (uint32_t i = 0; i < 2; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[2]);
            log.Watch(connection);
            connection->Send(Bytes(3000), i);
        }
    }

    FabricHelper fabric;
    Ptr<FabricSwitch> centre;
    Log log;
};

/**
 * Sinks see departures when they happen, not when the port is next looked at, and watching changes
 * nothing. The first packets of both senders are in the switch at 1.08384 us; six packets leave
 * from then on, 83.84 ns apart, in turn, as port 0 comes before port 1.
 */
class DepartureTraceTest : public TestCase
{
  public:
    DepartureTraceTest()
        : TestCase("Departures are traced at their time")
    {
    }

  private:
    static constexpr int64_t kPacket = 83'840; // ps

    void Check(FabricPort& port, int64_t busy, int64_t waited, const char* when)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(port.GetBusyTime().GetPicoSeconds(),
                                  busy,
                                  Rounding(3),
                                  "time busy " << when);
        NS_TEST_EXPECT_MSG_EQ_TOL(port.GetWaitedTime(3).GetPicoSeconds(),
                                  waited,
                                  Rounding(18),
                                  "time waited " << when);
        NS_TEST_EXPECT_MSG_EQ(port.GetWaitedTime(0).GetPicoSeconds(), 0, "no other priority");
    }

    void DoRun() override
    {
        std::vector<Event> unwatched;
        {
            Merge merge;
            Simulator::Run();
            unwatched = merge.log.completed;
            Simulator::Destroy();
        }
        Merge merge;
        std::vector<int64_t> starts;
        std::vector<uint32_t> sources;
        std::vector<uint64_t> queue;
        auto transmit = Callback<void, const FabricPacket&>([&](const FabricPacket& packet) {
            starts.push_back(Simulator::Now().GetPicoSeconds());
            sources.push_back(packet.source);
        });
        auto length = Callback<void, uint64_t, uint64_t>(
            [&](uint64_t, uint64_t bytes) { queue.push_back(bytes); });
        // 2.5 packet times after the first packet came, three have started, after 0, 1 and 1 packet
        // times; one waits since 1, two since 2: 1.5, 0.5 and 0.5.
        Ptr<SwitchPort> port = merge.centre->GetPort(2);
        Simulator::Schedule(PicoSeconds(1'083'840 + 5 * kPacket / 2), [this, port]() {
            Check(*port, 5 * kPacket / 2, 9 * kPacket / 2, "meanwhile");
        });
        port->TraceConnectWithoutContext("Transmit", transmit);
        port->TraceConnectWithoutContext("QueueBytes", length);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(starts.size(), 6, "all data packets");
        for (uint32_t i = 0; i < 6; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(starts[i],
                                      1'083'840 + i * 83'840,
                                      Rounding(2),
                                      "packet " << i);
            NS_TEST_ASSERT_MSG_EQ(sources[i], i % 2, "in turn");
        }
        NS_TEST_ASSERT_MSG_EQ(*std::max_element(queue.begin(), queue.end()),
                              3 * 1048,
                              "1 waits after the first two came, 2 after the next, 3 at last");
        NS_TEST_ASSERT_MSG_EQ(queue.back(), 0, "empty");
        // Packets of each sender come at 0, 1 and 2 packet times, and they start at 0 to 5: they
        // wait 0, 1, 1, 2, 2 and 3 packet times.
        Check(*port, 6 * kPacket, 9 * kPacket, "at the end");
        NS_TEST_ASSERT_MSG_EQ((merge.log.completed == unwatched), true, "same result");
        Simulator::Destroy();
    }
};

/// Trace sources by Config path, and those of queue pairs and switches.
class SourcesTest : public TestCase
{
  public:
    SourcesTest()
        : TestCase("Trace sources of ports, switches and queue pairs")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(3));
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        Ptr<FabricWire> wire = fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1));
        auto connection = fabric.CreateConnection(a, b);
        uint32_t enqueued = 0;
        uint32_t lost = 0;
        uint64_t sent = 0;
        uint64_t delivered = 0;
        uint64_t timedOut = 99;
        uint64_t again = 0;
        Config::ConnectWithoutContext(
            "/NodeList/*/DeviceList/*/$ns3::FabricPort/Enqueue",
            Callback<void, const FabricPacket&>([&](const FabricPacket& packet) {
                enqueued += packet.kind == PacketKind::Ack ? 1 : 0;
            }));
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::RdmaNic/Drop",
                                      Callback<void, const FabricPacket&, DropReason>(
                                          [&](const FabricPacket&, DropReason reason) {
                                              lost += reason == DropReason::WireLoss ? 1 : 0;
                                          }));
        Ptr<RdmaQueuePair> from = connection->GetQueuePair(0);
        Ptr<RdmaQueuePair> to = connection->GetRemoteQueuePair(0);
        using Two = Callback<void, uint64_t, uint64_t>;
        from->TraceConnectWithoutContext("MessageSent",
                                         Two([&](uint64_t bytes, uint64_t) { sent += bytes; }));
        to->TraceConnectWithoutContext("MessageDelivered",
                                       Two([&](uint64_t bytes, uint64_t) { delivered += bytes; }));
        from->TraceConnectWithoutContext(
            "Timeout",
            Callback<void, uint64_t, uint32_t>([&](uint64_t psn, uint32_t) { timedOut = psn; }));
        from->TraceConnectWithoutContext("Retransmit", Two([&](uint64_t, uint64_t packets) {
                                             again += packets;
                                         }));
        wire->SetLossRate(1);
        connection->Send(Bytes(10'000), 0); // three packets, all lost once
        Simulator::Schedule(MicroSeconds(10), [wire]() { wire->SetLossRate(0); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(lost, 3, "drops");
        NS_TEST_ASSERT_MSG_EQ(timedOut, 0, "the first packet timed out");
        NS_TEST_ASSERT_MSG_EQ(again, 3, "all three sent again");
        NS_TEST_ASSERT_MSG_EQ(enqueued, 3, "three ACKs");
        NS_TEST_ASSERT_MSG_EQ(sent, 10'000, "sent");
        NS_TEST_ASSERT_MSG_EQ(delivered, 10'000, "delivered");
        Simulator::Destroy();
    }
};

class TraceSuite : public TestSuite
{
  public:
    TraceSuite()
        : TestSuite("scaleacross-trace")
    {
        AddTestCase(new DepartureTraceTest);
        AddTestCase(new SourcesTest);
    }
};

TraceSuite g_traceSuite;

} // namespace
