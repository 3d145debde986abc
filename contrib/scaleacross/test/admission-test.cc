// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/enum.h"

#include <algorithm>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;

namespace
{

constexpr uint64_t kKiB = 1 << 10;

/// `senders` hosts with a connection each to the last host of a star: 100 Gb/s, 1 us.
struct Incast
{
    Incast(uint32_t senders,
           bool clearToSend,
           ReceiverAdmission::Order order = ReceiverAdmission::RoundRobin,
           uint64_t granted = 256 * kKiB)
    {
        UseHpccSizes(fabric);
        fabric.SetConnectionAttribute("ClearToSend", BooleanValue(clearToSend));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(8)); // 1 ms
        centre = BuildStar(fabric, senders + 1, "100Gbps", MicroSeconds(1));
        receiver = fabric.Nics()[senders];
        if (clearToSend)
        {
            admission = ReceiverAdmission::Of(receiver);
            admission->SetAttribute("GrantedBytes", UintegerValue(granted));
            admission->SetAttribute("GrantSize", UintegerValue(64 * kKiB));
            admission->SetAttribute("Order", EnumValue(order));
        }
        for (uint32_t i = 0; i < senders; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], receiver);
            log.Watch(connection);
            connections.push_back(connection);
        }
    }

    ~Incast()
    {
        Simulator::Destroy();
    }

    FabricHelper fabric;
    Log log;
    Ptr<FabricSwitch> centre;
    Ptr<RdmaNic> receiver;
    Ptr<ReceiverAdmission> admission;
    std::vector<Ptr<RdmaConnection>> connections;
};

/**
 * 16-to-1 with 4 MiB each, 256 KiB granted at a time in parts of 64 KiB, which are 66 packets (65
 * of 1,000 and one of 536 bytes) and 65,536 + 66 * 48 = 68,704 bytes on the wire.
 *
 * Bound: a request (64 + 48 bytes, 8.96 ns a hop) is at the receiver after 2.01792 us, its grant at
 * the sender after as much again; the first packet is at the switch 1.08384 us later; from then on
 * the receiver's line carries 1,024 parts, 70,352,896 bytes, 5,628.23168 us, and 1 us of wire:
 * 4.03584 + 1.08384 + 5,628.23168 + 1 = 5,634.35136 us. The line is busy from then on: a part that
 * has arrived is replaced after a grant's and a packet's way, 2.01792 + 2.08384 us and what is on
 * the way before, while three other parts, 16 us, are on their way or in the switch.
 *
 * It also carries the ACK of each grant, 1,024 * 4.8 ns = 4.9152 us, which is in nobody's bound,
 * and at the end the sender that has the last part may be up to a part's round trip behind. So at
 * most 4.9152 us + 4.2 us more.
 *
 * Buffer: no more than is granted, with headers 268,370 bytes and one packet that counts until its
 * last bit has left, and the small ones: 16 requests (112 bytes) and grants, and the ACKs.
 */
class IncastTest : public TestCase
{
  public:
    IncastTest()
        : TestCase("Admission bounds an incast's queue and keeps the line busy")
    {
    }

  private:
    void DoRun() override
    {
        Incast incast(16, true);
        for (uint64_t i = 0; i < 16; ++i)
        {
            incast.connections[i]->Send(Bytes(4 * kMiB), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered.size(), 16, "everything");
        NS_TEST_ASSERT_MSG_EQ(incast.log.completed.size(), 16, "acknowledged");
        const int64_t bound = 5'634'351'360;
        NS_TEST_ASSERT_MSG_GT_OR_EQ(incast.log.LastDelivery(), bound - Rounding(6), "bound");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(incast.log.LastDelivery(),
                                    bound + 4'915'200 + 4'200'000,
                                    "at the bound");
        NS_TEST_ASSERT_MSG_EQ(incast.centre->GetPauses(), 0, "no pause");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(incast.centre->GetPeakOccupancy(),
                                    4 * 68'704 + 1'048 + 16 * (112 + 112 + 2 * 60),
                                    "queue");
        NS_TEST_ASSERT_MSG_EQ(incast.admission->GetPeakGranted().Count(), 256 * kKiB, "granted");
        NS_TEST_ASSERT_MSG_EQ(incast.admission->GetGranted().Count(), 0, "all has arrived");
        NS_TEST_ASSERT_MSG_EQ(incast.admission->GetWaiting(), 0, "none waits");
        CheckConservation(incast.fabric);
    }
};

/// The same without admission: the queue grows until the switch pauses the senders.
class WithoutAdmissionTest : public TestCase
{
  public:
    WithoutAdmissionTest()
        : TestCase("Without admission the same incast needs pauses")
    {
    }

  private:
    void DoRun() override
    {
        Incast incast(16, false);
        for (uint64_t i = 0; i < 16; ++i)
        {
            incast.connections[i]->Send(Bytes(4 * kMiB), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered.size(), 16, "everything");
        NS_TEST_ASSERT_MSG_GT(incast.centre->GetPauses(), 0, "pauses");
        NS_TEST_ASSERT_MSG_GT(incast.centre->GetPeakOccupancy(), 8 * 256 * kKiB, "a long queue");
    }
};

/**
 * Order. Four senders, 1 MiB each, so 16 parts of 68,704 bytes, 5.49632 us each. Fifo: one message
 * after the other, in the order of the requests: their ends are 16 parts, 87.94 us, apart.
 *
 * Round robin: the first sender asks when nobody else waits, and is given both of the two parts
 * that may be granted (128 KiB); then all four wait, and it is at the head of the turns. So parts
 * go to 0, 0, 0, 1, 2, 3, 0, 1, 2, 3, and so on; the sixteenth of sender 0 is number 54 of 0 to 63,
 * that of sender 3 the last one: nine parts apart, the others one.
 *
 * Two parts are under way at a time, so the order of parts on the line may differ by one.
 */
class OrderTest : public TestCase
{
  public:
    explicit OrderTest(ReceiverAdmission::Order order)
        : TestCase(order == ReceiverAdmission::Fifo ? "First come, first served"
                                                    : "Senders take turns"),
          m_order(order)
    {
    }

  private:
    void DoRun() override
    {
        Incast incast(4, true, m_order, 128 * kKiB);
        for (uint64_t i = 0; i < 4; ++i)
        {
            incast.connections[i]->Send(Bytes(kMiB), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered.size(), 4, "everything");
        const auto& ends = incast.log.delivered;
        for (uint64_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(ends[i].tag, i, "in the order of the requests");
        }
        const double part = 5'496'320;
        if (m_order == ReceiverAdmission::Fifo)
        {
            for (uint64_t i = 1; i < 4; ++i)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(ends[i].time - ends[i - 1].time),
                                          16 * part,
                                          part,
                                          "a message apart");
            }
            return;
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(ends[3].time - ends[0].time),
                                  9 * part,
                                  part,
                                  "first and last");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(ends[3].time - ends[1].time),
                                  2 * part,
                                  part,
                                  "second and last");
    }

    ReceiverAdmission::Order m_order;
};

/**
 * A message alone: request, grant, and then the time of an ordinary message of one part, 40,000
 * bytes in 40 packets: 2 * 2.01792 us + 40 * 83.84 ns + 83.84 ns + 2 us = 9.47328 us. An empty one
 * after it: its request leaves right behind the first and is granted at once, as G + 0 is within
 * what may be granted; its one packet, of 48 bytes, 3.84 ns, goes last.
 */
class HandshakeTest : public TestCase
{
  public:
    HandshakeTest()
        : TestCase("Request and grant take a round trip")
    {
    }

  private:
    void DoRun() override
    {
        Incast incast(1, true);
        incast.connections[0]->Send(Bytes(40'000), 1);
        incast.connections[0]->Send(Bytes(0), 2);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered.size(), 2, "both");
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered[0].tag, 1, "in order");
        NS_TEST_ASSERT_MSG_EQ_TOL(incast.log.delivered[0].time,
                                  9'473'280,
                                  Rounding(6) + 2 * 9'000,
                                  "time; the ACK of a grant or request may be in front of it");
        NS_TEST_ASSERT_MSG_EQ(incast.connections[0]->GetUndelivered(), 0, "none left");
        NS_TEST_ASSERT_MSG_EQ(incast.log.completed.size(), 2, "acknowledged");
    }
};

/// Requests, grants and data are lost, 3 % on every wire: everything arrives all the same.
class LossTest : public TestCase
{
  public:
    LossTest()
        : TestCase("Admission with loss")
    {
    }

  private:
    void DoRun() override
    {
        Incast incast(8, true);
        incast.fabric.AssignStreams(3);
        for (const auto& wire : incast.fabric.Wires())
        {
            wire->SetLossRate(0.03);
        }
        for (uint64_t i = 0; i < 64; ++i)
        {
            incast.connections[i % 8]->Send(Bytes(100'000 + i), i);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered.size(), 64, "everything");
        NS_TEST_ASSERT_MSG_EQ(incast.log.completed.size(), 64, "acknowledged");
        NS_TEST_ASSERT_MSG_EQ(incast.admission->GetGranted().Count(), 0, "all has arrived");
        NS_TEST_ASSERT_MSG_GT(incast.receiver->GetRetransmissions(), 0, "grants were repeated");
        CheckConservation(incast.fabric);
    }
};

/**
 * One of two senders is cut off after 20 us, in the middle of its message. Its queue pair fails
 * after RetryCount + 1 = 3 timeouts of 1.05 ms; what it had been granted is free again, and the
 * other message is delivered. Only one part is granted at a time, so the other waits for that.
 */
class FailureTest : public TestCase
{
  public:
    FailureTest()
        : TestCase("A failed sender gives its grant back")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::RdmaQueuePair::RetryCount", UintegerValue(2));
        Incast incast(2, true, ReceiverAdmission::Fifo, 64 * kKiB);
        Config::SetDefault("ns3::RdmaQueuePair::RetryCount", UintegerValue(7));
        incast.connections[0]->Send(Bytes(kMiB), 0);
        incast.connections[1]->Send(Bytes(kMiB), 1);
        Ptr<FabricWire> cut = incast.fabric.Wires()[0];
        Simulator::Schedule(MicroSeconds(20), [cut]() { cut->SetLossRate(1); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(incast.log.failures.size(), 1, "one fails");
        NS_TEST_ASSERT_MSG_EQ(incast.log.failures[0].rfind("retry limit: ", 0),
                              0,
                              "named: " << incast.log.failures[0]);
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered.size(), 1, "one is delivered");
        NS_TEST_ASSERT_MSG_EQ(incast.log.delivered[0].tag, 1, "the other");
        NS_TEST_ASSERT_MSG_GT(incast.log.LastDelivery(), incast.log.failedAt[0], "after that");
        NS_TEST_ASSERT_MSG_EQ(incast.admission->GetGranted().Count(), 0, "nothing is held");
    }
};

class AdmissionSuite : public TestSuite
{
  public:
    AdmissionSuite()
        : TestSuite("scaleacross-admission")
    {
        AddTestCase(new IncastTest);
        AddTestCase(new WithoutAdmissionTest);
        AddTestCase(new OrderTest(ReceiverAdmission::Fifo));
        AddTestCase(new OrderTest(ReceiverAdmission::RoundRobin));
        AddTestCase(new HandshakeTest);
        AddTestCase(new LossTest);
        AddTestCase(new FailureTest);
    }
};

AdmissionSuite g_admissionSuite;

} // namespace
