// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

/**
 * One flow over two wires of 1 us, 16 MiB in packets of 1,000 + 48 bytes, an ACK of 60 bytes for
 * each.
 *
 * The sender's wire is never idle, so its last bit leaves after (payload + 48 N) 8 / rate, N =
 * 16,778 packets of which the last has 216 bytes. The last packet reaches the switch while the one
 * before it, a full one, is still being sent there; the two together leave one full packet later
 * than the last one alone would. So the last byte arrives after 2 us + (16,777,216 + 48 * 16,778) *
 * 8 / rate + 1,048 * 8 / rate, and its ACK, which is stored and forwarded once as well, after
 * another 2 us + 2 * 60 * 8 / rate. At 100 Gb/s: 4 us + 1,406.6048 us + 0.08384 us + 0.0096 us =
 * 1,410.69824 us. Without the shortest terms that is the 1,410.6 us (355.7 us at 400 Gb/s) of the
 * literature.
 */
class ExactTimeTest : public TestCase
{
  public:
    explicit ExactTimeTest(uint64_t gigabits)
        : TestCase("16 MiB at " + std::to_string(gigabits) + " Gbps"),
          m_gigabits(gigabits)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, std::to_string(m_gigabits) + "Gbps", MicroSeconds(1));
        Ptr<RdmaConnection> connection =
            fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(16 * kMiB), 7);
        Simulator::Run();

        const int64_t psPerByte = 8000 / static_cast<int64_t>(m_gigabits);
        const int64_t arrival = 2'000'000 + (16'777'216 + 48 * 16'778 + 1'048) * psPerByte;
        const int64_t ack = 2'000'000 + 2 * 60 * psPerByte;
        NS_TEST_ASSERT_MSG_EQ(log.delivered.size(), 1, "delivered once");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[0].tag, 7, "tag");
        NS_TEST_ASSERT_MSG_EQ(log.delivered[0].bytes, 16 * kMiB, "bytes");
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), arrival, Rounding(2), "last byte");
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastCompletion(), arrival + ack, Rounding(4), "last ACK");

        FabricBalance balance = CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_EQ(balance.sent, 2 * 16'778, "a packet and an ACK each");
        NS_TEST_ASSERT_MSG_EQ(balance.inFlight, 0, "nothing left");
        NS_TEST_ASSERT_MSG_EQ(DescribeWaiting(fabric), "", "nobody waits");
        Simulator::Destroy();
    }

    uint64_t m_gigabits;
};

/**
 * Real RoCEv2 sizes, one message of 10,000 bytes, MTU 4,096, two NICs back to back at 400 Gb/s over
 * 5 us (1 km): packets of 4,096, 4,096 and 1,808 bytes with 82 bytes each, RETH 16 on the first, an
 * ACK of 86 bytes for the last. 20 ps per byte: (10,000 + 3 * 82 + 16) * 20 ps = 205,240 ps, then
 * 5 us; the ACK 1,720 ps and 5 us.
 */
class HeaderSizeTest : public TestCase
{
  public:
    HeaderSizeTest()
        : TestCase("RoCEv2 header sizes, back to back")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("400Gbps"), MicroSeconds(5));
        fabric.InstallRoutes();
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(4));
        Ptr<RdmaConnection> connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(10'000), 1);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), 5'205'240, Rounding(1), "last byte");
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastCompletion(), 10'206'960, Rounding(2), "last ACK");
        NS_TEST_ASSERT_MSG_EQ(b->GetControlSent(), 1, "one ACK: at the end of the message");
        NS_TEST_ASSERT_MSG_EQ(a->GetSentBytes(), 10'262, "bytes on the wire");
        NS_TEST_ASSERT_MSG_EQ(a->WireSize(0, scaleacross::RdmaOperation::Write, false, false),
                              84,
                              "no frame is shorter");
        Simulator::Destroy();
    }
};

/**
 * A rate whose byte does not last a whole number of picoseconds: 3 bit/s * 10^10 (266.67 ps a
 * byte). 3,000 packets of 1,048 bytes back to back last 3,144,000 * 8 / 30 Gb/s = 838.4 us exactly
 * only if the remainder is carried; rounding each packet (279,466.67 ps) down would lose 2 ns.
 */
class RemainderTest : public TestCase
{
  public:
    RemainderTest()
        : TestCase("The remainder of a picosecond is carried")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("30Gbps"), MicroSeconds(1));
        Ptr<RdmaConnection> connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(3'000'000), 1);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), 839'400'000, Rounding(1), "last byte");
        Simulator::Destroy();
    }
};

/// 5 GiB, more than 32 bits count: 163,840 packets of 32,768 + 48 bytes at 800 Gb/s (10 ps a byte).
class LargeMessageTest : public TestCase
{
  public:
    LargeMessageTest()
        : TestCase("A message of 5 GiB")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("PathMtu", UintegerValue(32768));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(33000));
        BuildStar(fabric, 2, "800Gbps", MicroSeconds(1));
        Ptr<RdmaConnection> connection =
            fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        connection->Send(Bytes(5 * 1024 * kMiB), 1);
        Simulator::Run();
        const int64_t exact = 2'000'000 + (163'840 + 1) * (32'768LL + 48) * 10;
        NS_TEST_ASSERT_MSG_EQ(log.delivered[0].bytes, 5 * 1024 * kMiB, "bytes");
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), exact, Rounding(2), "last byte");
        Simulator::Destroy();
    }
};

/// Several simulations in one process give the same times, whatever was simulated before.
class RepeatTest : public TestCase
{
  public:
    RepeatTest()
        : TestCase("The same simulation three times in a process")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<std::vector<Event>> results;
        for (uint32_t i = 0; i < 3; ++i)
        {
            FabricHelper fabric;
            BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
            Log log;
            for (uint32_t from = 0; from < 3; ++from)
            {
                auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[3]);
                log.Watch(connection);
                connection->Send(Bytes(100'000), from);
            }
            Simulator::Run();
            CheckConservation(fabric);
            results.push_back(log.completed);
            Simulator::Destroy();
        }
        NS_TEST_ASSERT_MSG_EQ(results[0].size(), 3, "all done");
        NS_TEST_ASSERT_MSG_EQ((results[0] == results[1]), true, "second run");
        NS_TEST_ASSERT_MSG_EQ((results[0] == results[2]), true, "third run");
    }
};

class SingleFlowSuite : public TestSuite
{
  public:
    SingleFlowSuite()
        : TestSuite("scaleacross-single-flow")
    {
        for (uint64_t gigabits : {25, 100, 400, 800})
        {
            AddTestCase(new ExactTimeTest(gigabits));
        }
        AddTestCase(new HeaderSizeTest);
        AddTestCase(new RemainderTest);
        AddTestCase(new LargeMessageTest);
        AddTestCase(new RepeatTest);
    }
};

SingleFlowSuite g_singleFlowSuite;

} // namespace
