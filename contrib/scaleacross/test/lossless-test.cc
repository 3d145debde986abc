// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/double.h"

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;

namespace
{

/**
 * One flow in store and forward, RoCEv2's own sizes: a packet takes p = MTU + 82 bytes (at least
 * 84), the first one of the message 16 more, an ACK 86; N packets, L wires of delay d.
 *
 * The sender's wire is never idle: N p + 16. On every further wire the first packet has to be
 * stored whole, p + 16, and all others queue behind it: the last bit is there after
 * L d + ((N + L - 1) p + 16 L) 8 / rate. Its ACK, which meets no other (86 bytes are shorter than
 * any packet), takes L d + 86 L 8 / rate. That is 2 x propagation + N (payload + header) 8 / rate +
 * (links - 1) t_packet + links x t_ack, and 16 L for the RETH; 0.1 % is asked for, exact is what it
 * has to be. Delays of 1 us and, on every other wire, 2.5 us.
 */
class SingleFlowMatrixTest : public TestCase
{
  public:
    SingleFlowMatrixTest(uint64_t gigabits, uint32_t mtu, uint32_t links)
        : TestCase(std::to_string(gigabits) + "Gbps, MTU " + std::to_string(mtu) + ", " +
                   std::to_string(links) + " links"),
          m_gigabits(gigabits),
          m_mtu(mtu),
          m_links(links)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetNicAttribute("PathMtu", UintegerValue(m_mtu));
        fabric.SetSwitchAttribute("MaxPacketSize", UintegerValue(m_mtu + 98));
        std::vector<Ptr<FabricSwitch>> switches;
        for (uint32_t i = 0; i + 1 < m_links; ++i)
        {
            switches.push_back(fabric.AddSwitch());
        }
        const DataRate rate(m_gigabits * 1'000'000'000);
        int64_t delays = 0;
        auto delay = [&, link = 0]() mutable {
            Time time = NanoSeconds(link++ % 2 == 0 ? 1000 : 2500);
            delays += time.GetPicoSeconds();
            return time;
        };
        fabric.Connect(fabric.AddNic(fabric.AddHost()), switches.front(), rate, delay());
        for (size_t i = 1; i < switches.size(); ++i)
        {
            fabric.Connect(switches[i - 1], switches[i], rate, delay());
        }
        fabric.Connect(fabric.AddNic(fabric.AddHost()), switches.back(), rate, delay());
        fabric.InstallRoutes();
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Log log;
        log.Watch(connection);
        const int64_t packets = 500;
        connection->Send(Bytes(static_cast<uint64_t>(packets) * m_mtu), 0);
        Simulator::Run();

        const int64_t psPerByte = 8000 / static_cast<int64_t>(m_gigabits);
        const int64_t size = std::max<int64_t>(m_mtu + 82, 84);
        const int64_t links = m_links;
        const int64_t arrival = delays + ((packets + links - 1) * size + 16 * links) * psPerByte;
        const int64_t ack = delays + links * 86 * psPerByte;
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(), arrival, Rounding(links), "last byte");
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastCompletion(),
                                  arrival + ack,
                                  Rounding(2 * links),
                                  "last ACK");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    uint64_t m_gigabits;
    uint32_t m_mtu;
    uint32_t m_links;
};

/**
 * N senders of 4 MiB each into one port at 100 Gb/s, 1,000 + 48 bytes: 4,195 packets each, the last
 * of 304 bytes. The port has to send n = N (4,194,304 + 48 x 4,195) bytes. Before its first bit one
 * packet has crossed the first wire (83.84 ns + 1 us), after its last one the second (1 us), and
 * the ACK comes back (2 us + 2 x 4.8 ns): nothing is done earlier. And if the port never idles,
 * which is what PFC's thresholds are for, nothing is left then: the last ACK may come later than
 * that by no more than the packet that the bound leaves out.
 */
class IncastBoundTest : public TestCase
{
  public:
    explicit IncastBoundTest(uint32_t senders)
        : TestCase("Incast of " + std::to_string(senders) + " at its bound"),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(8 * kMiB));
        Ptr<FabricSwitch> centre = BuildStar(fabric, m_senders + 1, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < m_senders; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[m_senders]);
            log.Watch(connection);
            connection->Send(Bytes(4 * kMiB), i);
        }
        Simulator::Run();
        const int64_t port = static_cast<int64_t>(m_senders) * (4'194'304 + 48 * 4'195) * 80;
        const int64_t bound = port + 1'048 * 80 + 2'000'000 + 2'000'000 + 2 * 60 * 80;
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), m_senders, "all done");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(log.LastCompletion(), bound - Rounding(4), "not earlier");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(log.LastCompletion(),
                                    bound + 1'048 * 80 + Rounding(4),
                                    "at it");
        NS_TEST_ASSERT_MSG_EQ(BalanceOf(fabric).Dropped(), 0, "no drop");
        NS_TEST_ASSERT_MSG_GT(centre->GetPauses(), 0, "it had to pause");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(centre->GetPeakOccupancy(), 8 * kMiB, "within the buffer");
        CheckConservation(fabric);
        Simulator::Destroy();
    }

    uint32_t m_senders;
};

/// Four NICs of 100 Gb/s, each 1 ms (200 km) away from a switch, send to a fifth close to it.
struct Overload
{
    explicit Overload(uint64_t buffer, double scale = 1)
    {
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(buffer));
        fabric.SetSwitchAttribute("HeadroomScale", DoubleValue(scale));
        centre = fabric.AddSwitch();
        for (uint32_t i = 0; i < 5; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           centre,
                           DataRate("100Gbps"),
                           i < 4 ? MilliSeconds(1) : MicroSeconds(1));
        }
        fabric.InstallRoutes();
    }

    FabricHelper fabric;
    Ptr<FabricSwitch> centre;
};

/**
 * 4 to 1 over 1 ms. Headroom: 2 x 1 ms x 12.5 GB/s = 25 MB for each of the four, 100.1 MB in all,
 * and S = 134.2 - 100.1 = 34.1 MB is shared.
 *
 * All four go over their threshold at the same time, at s = alpha (S - 4 s), alpha = 1/8: s = S/12
 * = 2.84 MB. From then on 25 MB more come in from each, within 2 ms, in which the port to the
 * receiver sends 25 MB: the most there ever is in the buffer is 4 s + 100 MB - 25 MB = 86.4 MB
 * (+- 1 %: packets, frames, and ACKs that a pause frame waits for), of which the headroom has
 * 75 MB: each ingress uses three quarters of its own. 82 MiB do not fit into 32 MiB, however
 * pauses are sent.
 *
 * With half of the headroom each ingress may take 12.5 of the 18.75 MB that come: it drops.
 */
class OverloadTest : public TestCase
{
  public:
    explicit OverloadTest(double scale)
        : TestCase("4 to 1 over 1 ms, headroom times " + std::to_string(scale)),
          m_scale(scale)
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t buffer = 128 * kMiB;
        Overload overload(buffer, m_scale);
        FabricHelper& fabric = overload.fabric;
        Log log;
        for (uint32_t i = 0; i < 4; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[4]);
            log.Watch(connection);
            connection->Send(Bytes(64 * kMiB), i);
        }
        bool within = true;
        bool conserved = true;
        for (uint32_t us = 1000; us < 40'000; us += 50)
        {
            Simulator::Schedule(MicroSeconds(us), [&]() {
                within = within && overload.centre->GetOccupancy() <= buffer;
                conserved = conserved && BalanceOf(fabric).Holds();
            });
        }
        Simulator::Run();
        const FabricBalance balance = CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_EQ(within, true, "never more than the buffer");
        NS_TEST_ASSERT_MSG_EQ(conserved, true, "conserved at any time");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(overload.centre->GetPeakOccupancy(), buffer, "at no time");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(overload.centre->GetPauses(), 4, "everyone is paused");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 4, "all done");
        NS_TEST_ASSERT_MSG_EQ(balance.inFlight, 0, "nothing left");
        if (m_scale == 1)
        {
            const double shared = static_cast<double>(buffer - 4 * overload.centre->GetHeadroom(0) -
                                                      overload.centre->GetHeadroom(4));
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(overload.centre->GetPeakOccupancy()),
                                      shared / 3 + 75e6,
                                      0.01 * (shared / 3 + 75e6),
                                      "peak");
            NS_TEST_ASSERT_MSG_EQ_TOL(overload.centre->GetPeakHeadroomShare(), 0.75, 0.01, "share");
            NS_TEST_ASSERT_MSG_EQ(balance.Dropped(), 0, "nothing is lost");
            NS_TEST_ASSERT_MSG_GT(log.LastCompletion(),
                                  4 * (64LL * 1'048'576 + 48 * 67'109) * 80 + 2'001'000'000,
                                  "serialisation at 100 Gb/s and the way there and back");
        }
        else
        {
            NS_TEST_ASSERT_MSG_GT(balance.dropped[size_t(DropReason::HeadroomFull)], 0, "drops");
            NS_TEST_ASSERT_MSG_GT(overload.centre->GetPeakHeadroomShare(),
                                  0.999,
                                  "the headroom is full to the last packet");
        }
        Simulator::Destroy();
    }

    double m_scale;
};

/// The same with 32 MiB: 4 x 25,012,685 bytes of headroom alone are more. Refused before time zero.
class OverloadRefusedTest : public TestCase
{
  public:
    OverloadRefusedTest()
        : TestCase("4 to 1 over 1 ms in 32 MiB is refused")
    {
    }

  private:
    void DoRun() override
    {
        std::string text;
        try
        {
            Overload overload(32 * kMiB);
        }
        catch (const scaleacross::ConfigError& error)
        {
            text = error.what();
        }
        // And 8,400 + 4,284 + 25,000 + 1 for the wire of 1 us.
        const uint64_t needed = 4 * 25'012'685 + 37'685;
        NS_TEST_ASSERT_MSG_NE(text.find("33554432 bytes cannot hold"), std::string::npos, text);
        NS_TEST_ASSERT_MSG_NE(text.find(std::to_string(needed)), std::string::npos, text);
        Simulator::Destroy();
    }
};

class LosslessSuite : public TestSuite
{
  public:
    LosslessSuite()
        : TestSuite("scaleacross-lossless")
    {
        for (uint64_t gigabits : {25, 100, 400, 800})
        {
            for (uint32_t mtu : {256, 512, 1024, 2048, 4096, 9000})
            {
                AddTestCase(new SingleFlowMatrixTest(gigabits, mtu, 2));
                AddTestCase(new SingleFlowMatrixTest(gigabits, mtu, 4));
            }
        }
        for (uint32_t senders : {2, 8, 32})
        {
            AddTestCase(new IncastBoundTest(senders));
        }
        AddTestCase(new OverloadTest(1.0));
        AddTestCase(new OverloadTest(0.5));
        AddTestCase(new OverloadRefusedTest);
    }
};

LosslessSuite g_losslessSuite;

} // namespace
