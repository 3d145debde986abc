// SPDX-License-Identifier: GPL-2.0-only

// What a port consists of, each part alone.

#include "ns3/fabric-packet.h"
#include "ns3/priority-queues.h"
#include "ns3/serial-line.h"
#include "ns3/stopped-priorities.h"
#include "ns3/test.h"

#include <cstdint>
#include <vector>

using namespace ns3;
using scaleacross::FabricPacket;
using scaleacross::PriorityQueues;
using scaleacross::SerialLine;
using scaleacross::StoppedPriorities;

namespace
{

class SerialLineTest : public TestCase
{
  public:
    SerialLineTest()
        : TestCase("A line carries what is left of a picosecond on, but not over a gap")
    {
    }

  private:
    void DoRun() override
    {
        SerialLine line;
        line.SetRate(3'000'000'000); // a byte takes 2,666 2/3 ps
        std::vector<int64_t> ends;
        for (uint32_t i = 0; i < 3; ++i)
        {
            line.Occupy(line.FreeAt(), 1);
            ends.push_back(line.FreeAt());
        }
        NS_TEST_EXPECT_MSG_EQ((ends == std::vector<int64_t>{2666, 5333, 8000}), true, "3 bytes");
        line.Occupy(line.FreeAt(), 1);
        line.Idle(20'000);
        NS_TEST_EXPECT_MSG_EQ(line.FreeAt(), 20'000, "idle");
        line.Occupy(20'000, 1);
        NS_TEST_EXPECT_MSG_EQ(line.FreeAt(), 22'666, "a third of the gap before is forgotten");
        // Four bytes and a fifth one, 2,666 each but where thirds have added up.
        NS_TEST_EXPECT_MSG_EQ(line.BusyUntil(22'666), 8000 + 2666 + 2666, "busy");
        NS_TEST_EXPECT_MSG_EQ(line.BusyUntil(21'000), 8000 + 2666 + 1000, "while it sends");
        NS_TEST_EXPECT_MSG_EQ(line.WaitFor(3, 22'000), 666 + 8000, "behind what is sent");
        NS_TEST_EXPECT_MSG_EQ(line.WaitFor(3, 30'000), 8000, "nothing is sent");
        line.Cut(21'000);
        NS_TEST_EXPECT_MSG_EQ(line.FreeAt(), 21'000, "cut off");
        line.SetRate(8'000'000'000);
        line.Occupy(21'000, 65'535);
        NS_TEST_EXPECT_MSG_EQ(line.FreeAt(), 21'000 + 65'535'000, "1 ns for a byte");
    }
};

class StoppedPrioritiesTest : public TestCase
{
  public:
    StoppedPrioritiesTest()
        : TestCase("Times of stopped priorities add up, those still open too")
    {
    }

  private:
    void DoRun() override
    {
        StoppedPriorities stopped;
        NS_TEST_EXPECT_MSG_EQ(stopped.Set(3, false, 5), false, "it goes already");
        NS_TEST_EXPECT_MSG_EQ(stopped.Set(3, true, 10), true, "");
        NS_TEST_EXPECT_MSG_EQ(stopped.Set(3, true, 20), false, "again");
        NS_TEST_EXPECT_MSG_EQ(stopped.Set(5, true, 40), true, "");
        NS_TEST_EXPECT_MSG_EQ(stopped.Mask(), 0x28, "");
        NS_TEST_EXPECT_MSG_EQ(stopped.Set(3, false, 70), true, "");
        NS_TEST_EXPECT_MSG_EQ(stopped.Set(5, false, 100), true, "");
        stopped.Set(5, true, 200);
        NS_TEST_EXPECT_MSG_EQ(stopped.Total(3, 250), 60, "10 to 70");
        NS_TEST_EXPECT_MSG_EQ(stopped.Total(5, 250), 60 + 50, "40 to 100, 200 on");
        NS_TEST_EXPECT_MSG_EQ(stopped.TotalOfAny(250), 90 + 50, "10 to 100, 200 on");
    }
};

class PriorityQueuesTest : public TestCase
{
  public:
    PriorityQueuesTest()
        : TestCase("Queues count bytes, and the time that packets wait")
    {
    }

  private:
    void DoRun() override
    {
        PriorityQueues queues;
        std::vector<FabricPacket> packets(4);
        const std::vector<uint8_t> priorities{3, 3, 5, PriorityQueues::kLinkControl};
        for (size_t i = 0; i < packets.size(); ++i)
        {
            packets[i].priority = priorities[i];
            packets[i].size = static_cast<uint16_t>(100 * (i + 1));
            const bool first = queues.Push(&packets[i], static_cast<int64_t>(10 * i));
            NS_TEST_EXPECT_MSG_EQ(first, (i != 1), "packet " << i);
        }
        NS_TEST_EXPECT_MSG_EQ(queues.Bytes(), 100 + 200 + 300, "frames do not count");
        NS_TEST_EXPECT_MSG_EQ(queues.Bytes(3), 100 + 200, "");
        NS_TEST_EXPECT_MSG_EQ(queues.Occupied(), 0x128, "");
        NS_TEST_EXPECT_MSG_EQ(queues.Waited(3, 30), 30 + 20, "from 0 and from 10 on");
        NS_TEST_EXPECT_MSG_EQ(queues.Pop(3, 40), &packets[0], "first come, first served");
        NS_TEST_EXPECT_MSG_EQ(queues.Waited(3, 50), 40 + 40, "0 to 40, 10 to 50");
        auto rest = queues.TakeAll(3, 60);
        NS_TEST_EXPECT_MSG_EQ(rest.PopFront(), &packets[1], "");
        NS_TEST_EXPECT_MSG_EQ(queues.Waited(3, 90), 40 + 50, "nothing waits any more");
        NS_TEST_EXPECT_MSG_EQ(queues.Bytes(), 300, "");
        NS_TEST_EXPECT_MSG_EQ(queues.Occupied(), 0x120, "");
    }
};

class PortPartsTestSuite : public TestSuite
{
  public:
    PortPartsTestSuite()
        : TestSuite("scaleacross-port-parts")
    {
        AddTestCase(new SerialLineTest);
        AddTestCase(new StoppedPrioritiesTest);
        AddTestCase(new PriorityQueuesTest);
    }
};

const PortPartsTestSuite g_portPartsTestSuite;

} // namespace
