// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/quad-heap-scheduler.h"
#include "ns3/shared-buffer.h"
#include "ns3/test.h"

#include <random>
#include <set>
#include <utility>

using namespace ns3;
using scaleacross::HeadroomBytes;
using scaleacross::SharedBuffer;

namespace
{

/**
 * 400 Gb/s, 100 km (500 us), packets of 4,200 bytes, one pause frame of 84:
 *   2 * 4,200 + 50 GB/s * (4,284 B / 50 GB/s + 1 ms) = 8,400 + 4,284 + 50,000,000 = 50,012,684, and
 * 1 for rounding. Over 10 ms it is ten times the 2 B tau part: 32 bits would still hold it, the
 * product of rate and time in bits and picoseconds (4e11 * 1e10 = 4e21) not even in 64.
 */
class HeadroomTest : public TestCase
{
  public:
    HeadroomTest()
        : TestCase("Headroom")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t rate = 400'000'000'000;
        scaleacross::HeadroomInput input{500'000'000, rate, rate, 4200, 1, 84, 0};
        NS_TEST_ASSERT_MSG_EQ(HeadroomBytes(input), 50'012'685, "100 km");
        input.delay = 10'000'000'000;
        NS_TEST_ASSERT_MSG_EQ(HeadroomBytes(input), 1'000'012'685, "10 ms");
        input.responseTime = 1'000'000; // 1 us more: 50,000 bytes
        NS_TEST_ASSERT_MSG_EQ(HeadroomBytes(input), 1'000'062'685, "response");
        input = {0, rate, rate / 4, 4200, 2, 84, 0};
        // The pause frames take four times as long: 8,400 + 4 * (4,200 + 2 * 84) and 1.
        NS_TEST_ASSERT_MSG_EQ(HeadroomBytes(input), 25'873, "slow way back, two priorities");
    }
};

/// The worked case of SharedBuffer, and the rules at their edges.
class AccountingTest : public TestCase
{
  public:
    AccountingTest()
        : TestCase("Thresholds")
    {
    }

  private:
    void DoRun() override
    {
        SharedBuffer buffer;
        buffer.Configure({1'000'000, 1U << 3, 0.125, 1.0, 10'000}, 2);
        buffer.Reserve(0, 3, 200'000);
        NS_TEST_ASSERT_MSG_EQ(buffer.SharedSize(), 800'000, "S");
        NS_TEST_ASSERT_MSG_EQ(buffer.FitsShared(0, 3, 100'000), true, "T = 100,000 when empty");
        NS_TEST_ASSERT_MSG_EQ(buffer.FitsShared(0, 3, 100'001), false, "and not more");
        uint64_t held = 0;
        for (; buffer.FitsShared(0, 3, 8); held += 8)
        {
            buffer.TakeShared(0, 3, 8);
        }
        // s + 8 <= (800,000 - s) / 8 holds up to s = 88,881.8, in steps of 8: 88,880 + 8.
        NS_TEST_ASSERT_MSG_EQ(held, 88'888, "fixed point of the threshold");
        NS_TEST_ASSERT_MSG_EQ(buffer.TakeHeadroom(0, 3, 200'000), true, "all of the headroom");
        NS_TEST_ASSERT_MSG_EQ(buffer.TakeHeadroom(0, 3, 1), false, "not more");
        NS_TEST_ASSERT_MSG_EQ(buffer.Occupancy(), 288'888, "occupancy");

        // Headroom is freed first; then s must fall to T - 10,000: s + 10,000 <= (800,000 - s) / 8
        // at s = 80,000, 8,888 bytes further.
        NS_TEST_ASSERT_MSG_EQ(buffer.BytesToResume(0, 3), 200'000 + 8'888, "bytes to go");
        buffer.Release(0, 3, 200'000);
        NS_TEST_ASSERT_MSG_EQ(buffer.MayResume(0, 3), false, "headroom is empty, s is not low");
        buffer.Release(0, 3, 8'887);
        NS_TEST_ASSERT_MSG_EQ(buffer.MayResume(0, 3), false, "a byte too many");
        buffer.Release(0, 3, 1);
        NS_TEST_ASSERT_MSG_EQ(buffer.MayResume(0, 3), true, "now");
        NS_TEST_ASSERT_MSG_EQ(buffer.Held(0, 3), 80'000, "held");

        // Lossy packets may fill the rest, a queue at most half of it, and leave T as it is.
        NS_TEST_ASSERT_MSG_EQ(buffer.FitsLossy(0, 720'000), true, "all that is free");
        NS_TEST_ASSERT_MSG_EQ(buffer.FitsLossy(360'000, 360'001), false, "queue over T");
        buffer.TakeShared(1, 0, 720'000);
        NS_TEST_ASSERT_MSG_EQ(buffer.MayResume(0, 3), true, "T counts lossless bytes only");
        NS_TEST_ASSERT_MSG_EQ(buffer.FitsShared(0, 3, 1), false, "but nothing is free");
    }
};

/// A million events: whatever the order in which they come, they leave by time and id.
class SchedulerTest : public TestCase
{
  public:
    SchedulerTest()
        : TestCase("QuadHeapScheduler keeps the order")
    {
    }

  private:
    void DoRun() override
    {
        QuadHeapScheduler heap;
        std::set<std::pair<uint64_t, uint32_t>> model;
        std::mt19937 random(1);
        uint32_t id = 0;
        uint64_t now = 0;
        bool same = true;
        for (uint32_t i = 0; i < 200'000; ++i)
        {
            uint32_t what = random() % 16;
            // Grows for a while, then shrinks to nothing, and again.
            bool insert = what < ((i / 5000) % 2 == 0 ? 9U : 6U);
            if (insert || model.empty())
            {
                Scheduler::Event event{nullptr, {now + random() % 50, id, 0}};
                model.emplace(event.key.m_ts, id++);
                heap.Insert(event);
            }
            else if (what == 15)
            {
                auto victim =
                    std::next(model.begin(), random() % std::min<size_t>(9, model.size()));
                heap.Remove({nullptr, {victim->first, victim->second, 0}});
                model.erase(victim);
            }
            else
            {
                auto peeked = heap.PeekNext().key;
                auto next = heap.RemoveNext().key;
                now = next.m_ts;
                same = same && peeked == next && next.m_ts == model.begin()->first &&
                       next.m_uid == model.begin()->second;
                model.erase(model.begin());
            }
            same = same && heap.IsEmpty() == model.empty();
        }
        NS_TEST_ASSERT_MSG_EQ(same, true, "as an ordered set");
    }
};

class SharedBufferSuite : public TestSuite
{
  public:
    SharedBufferSuite()
        : TestSuite("scaleacross-shared-buffer")
    {
        AddTestCase(new HeadroomTest);
        AddTestCase(new AccountingTest);
        AddTestCase(new SchedulerTest);
    }
};

SharedBufferSuite g_sharedBufferSuite;

} // namespace
