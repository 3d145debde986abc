// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/job-clock.h"
#include "ns3/nstime.h"
#include "ns3/simulator-time.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using scaleacross::SimulatorPicoseconds;

namespace
{

constexpr int64_t kUs = 1'000'000; //!< in ps
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// What happened, and when by the Simulator, in ps.
using Happened = std::vector<std::pair<std::string, int64_t>>;

/// Schedules, and returns what cancels it.
using Scheduler = std::function<std::function<void()>(Time, std::function<void()>)>;

/**
 * b at 5 us is before a and c, which are of one time and happen as they were scheduled; b cancels x
 * and schedules d for the time of a and c, after them, and e at once: after f, which has waited
 * longer for the same time.
 */
Happened
Play(const Scheduler& schedule)
{
    Happened happened;
    const auto note = [&happened](const std::string& what) {
        return [&happened, what] { happened.emplace_back(what, SimulatorPicoseconds()); };
    };
    schedule(MicroSeconds(10), note("a"));
    const std::function<void()> cancel = schedule(MicroSeconds(7), note("x"));
    schedule(MicroSeconds(5), [&] {
        note("b")();
        cancel();
        schedule(MicroSeconds(5), note("d"));
        schedule(Time(0), note("e"));
    });
    schedule(MicroSeconds(10), note("c"));
    schedule(MicroSeconds(5), note("f"));
    Simulator::Run();
    Simulator::Destroy();
    return happened;
}

class OrderTest : public TestCase
{
  public:
    OrderTest()
        : TestCase("A clock that skips nothing has the Simulator's order, and so has one that may")
    {
    }

  private:
    static Scheduler By(const Ptr<JobClock>& clock)
    {
        return [clock](Time delay, std::function<void()> run) {
            JobEvent event = clock->Schedule(delay, std::move(run));
            return [event]() mutable { event.Cancel(); };
        };
    }

    static std::function<void()> BySimulator(Time delay, std::function<void()> run)
    {
        EventId event = Simulator::Schedule(delay, std::move(run));
        return [event]() mutable { event.Cancel(); };
    }

    void DoRun() override
    {
        const Happened expected{{"b", 5 * kUs},
                                {"f", 5 * kUs},
                                {"e", 5 * kUs},
                                {"a", 10 * kUs},
                                {"c", 10 * kUs},
                                {"d", 10 * kUs}};
        NS_TEST_EXPECT_MSG_EQ((Play(BySimulator) == expected), true, "the Simulator");
        NS_TEST_EXPECT_MSG_EQ((Play(By(Create<JobClock>())) == expected), true, "skips never");
        NS_TEST_EXPECT_MSG_EQ((Play(By(Create<JobClock>(JobClock::Skips::May))) == expected),
                              true,
                              "may skip");
    }
};

class ExpiryTest : public TestCase
{
  public:
    ExpiryTest()
        : TestCase("An event is over when it has happened, or when it is cancelled")
    {
    }

  private:
    void Check(JobClock::Skips skips)
    {
        const auto clock = Create<JobClock>(skips);
        JobEvent none;
        NS_TEST_EXPECT_MSG_EQ(none.IsExpired(), true, "nothing was scheduled");
        none.Cancel();
        int happened = 0;
        JobEvent first = clock->Schedule(MicroSeconds(1), [&] {
            first.Cancel(); // while it happens
            happened++;
        });
        JobEvent second = clock->Schedule(MicroSeconds(2), [&] { happened++; });
        NS_TEST_EXPECT_MSG_EQ(first.IsExpired(), false, "");
        second.Cancel();
        NS_TEST_EXPECT_MSG_EQ(second.IsExpired(), true, "cancelled");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(first.IsExpired(), true, "it has happened");
        first.Cancel();
        NS_TEST_EXPECT_MSG_EQ(happened, 1, "the first alone");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Check(JobClock::Skips::Never);
        Check(JobClock::Skips::May);
    }
};

class SkipTest : public TestCase
{
  public:
    SkipTest()
        : TestCase("What a job waits for is nearer by what is skipped")
    {
    }

  private:
    /**
     * The worked case of job-clock.h: 2 us + 5 us skipped are 7 us, and 3 us are left to 10 us, at
     * 5 us of the Simulator. What is scheduled then 3 us ahead is of the same time, and later. A
     * packet at 6 us does not know of it, and 11 us - 5 us are the same Simulator's time, 6 us.
     */
    void CheckNearer()
    {
        const auto clock = Create<JobClock>(JobClock::Skips::May);
        Happened happened;
        std::vector<int64_t> own;
        const auto note = [&](const std::string& what) {
            return [&, what] {
                happened.emplace_back(what, SimulatorPicoseconds());
                own.push_back(clock->Now());
            };
        };
        clock->Schedule(MicroSeconds(10), note("first"));
        clock->Schedule(MicroSeconds(12), note("third"));
        Simulator::Schedule(MicroSeconds(6), note("packet"));
        Simulator::Schedule(MicroSeconds(2), [&] {
            NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), 8 * kUs, "");
            clock->Skip(5 * kUs);
            NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), 3 * kUs, "");
            NS_TEST_EXPECT_MSG_EQ(clock->Now(), 7 * kUs, "");
            NS_TEST_EXPECT_MSG_EQ(clock->Skipped(), 5 * kUs, "");
            clock->Schedule(MicroSeconds(3), note("second"));
        });
        Simulator::Run();
        const Happened expected{{"first", 5 * kUs},
                                {"second", 5 * kUs},
                                {"packet", 6 * kUs},
                                {"third", 7 * kUs}};
        NS_TEST_EXPECT_MSG_EQ((happened == expected), true, "");
        NS_TEST_EXPECT_MSG_EQ((own == std::vector<int64_t>{10 * kUs, 10 * kUs, 11 * kUs, 12 * kUs}),
                              true,
                              "");
        Simulator::Destroy();
    }

    /// Events at 10, 20 and 30 us; after each, and at 2 us, somebody skips up to the next one: all
    /// of them happen at 2 us.
    void CheckUpToNext()
    {
        const auto clock = Create<JobClock>(JobClock::Skips::May);
        Happened happened;
        for (const int64_t us : {10, 20, 30})
        {
            clock->Schedule(MicroSeconds(us), [&] {
                happened.emplace_back(std::to_string(clock->Now() / kUs), SimulatorPicoseconds());
            });
        }
        int observed = 0;
        const auto skip = [&] {
            if (clock->UntilNext() < kNever)
            {
                clock->Skip(clock->UntilNext());
                NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), 0, "");
            }
        };
        clock->SetObserver([&] {
            observed++;
            skip();
        });
        Simulator::Schedule(MicroSeconds(2), skip);
        Simulator::Run();
        const Happened expected{{"10", 2 * kUs}, {"20", 2 * kUs}, {"30", 2 * kUs}};
        NS_TEST_EXPECT_MSG_EQ((happened == expected), true, "");
        NS_TEST_EXPECT_MSG_EQ(observed, 3, "after every event");
        NS_TEST_EXPECT_MSG_EQ(clock->Skipped(), 28 * kUs, "8, 10 and 10 us");
        Simulator::Destroy();
    }

    /// A Simulator that counts in nanoseconds: with 1.5 ns skipped, 8.5 ns are left to an event at
    /// 10 ns, which happens after 9. With picoseconds, after 8.5.
    void CheckCoarse()
    {
        const auto clock = Create<JobClock>(JobClock::Skips::May);
        int64_t at = 0;
        clock->Schedule(NanoSeconds(10), [&at] { at = SimulatorPicoseconds(); });
        clock->Skip(1500);
        Simulator::Stop(MicroSeconds(1));
        Simulator::Run();
        const int64_t tick = scaleacross::PicosecondsPerTick();
        NS_TEST_EXPECT_MSG_EQ(at, (8500 + tick - 1) / tick * tick, "not early");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        CheckNearer();
        CheckUpToNext();
        CheckCoarse();
    }
};

class UntilNextTest : public TestCase
{
  public:
    UntilNextTest()
        : TestCase("How far the next event is that will happen")
    {
    }

  private:
    void DoRun() override
    {
        const auto clock = Create<JobClock>(JobClock::Skips::May);
        NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), kNever, "there is none");
        JobEvent near = clock->Schedule(MicroSeconds(3), [] {});
        JobEvent far = clock->Schedule(MicroSeconds(8), [] {});
        NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), 3 * kUs, "");
        near.Cancel();
        NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), 8 * kUs, "the first is cancelled");
        far.Cancel();
        NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), kNever, "both are");
        clock->Schedule(MicroSeconds(4), [] {});
        clock->Clear();
        NS_TEST_EXPECT_MSG_EQ(clock->UntilNext(), kNever, "forgotten");
        Simulator::Destroy();
    }
};

class ForgettingTest : public TestCase
{
  public:
    ForgettingTest()
        : TestCase("What an event holds is let go when it has happened, is cancelled or forgotten")
    {
    }

  private:
    void Check(JobClock::Skips skips)
    {
        const auto clock = Create<JobClock>(skips);
        const auto held = std::make_shared<int>(0);
        JobEvent cancelled = clock->Schedule(MicroSeconds(1), [held] {});
        JobEvent happens = clock->Schedule(MicroSeconds(2), [held] {});
        NS_TEST_EXPECT_MSG_EQ(held.use_count(), 3, "");
        cancelled.Cancel();
        NS_TEST_EXPECT_MSG_EQ(held.use_count(), 2, "although its JobEvent is there");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(held.use_count(), 1, "likewise");
        Simulator::Destroy();
    }

    /// What is cleared holds the last reference to somebody who holds the clock.
    void CheckClear()
    {
        const auto held = std::make_shared<int>(0);
        const auto clock = Create<JobClock>(JobClock::Skips::May);
        bool happened = false;
        JobEvent event =
            clock->Schedule(MicroSeconds(1), [&happened, held, clock] { happened = true; });
        clock->SetObserver([held] {});
        NS_TEST_EXPECT_MSG_EQ(held.use_count(), 3, "");
        clock->Clear();
        NS_TEST_EXPECT_MSG_EQ(held.use_count(), 1, "");
        NS_TEST_EXPECT_MSG_EQ(clock->GetReferenceCount(), 1, "");
        NS_TEST_EXPECT_MSG_EQ(event.IsExpired(), true, "");
        int after = 0;
        clock->Schedule(MicroSeconds(2), [&after] { after++; });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(happened, false, "");
        NS_TEST_EXPECT_MSG_EQ(after, 1, "the clock goes on");
        Simulator::Destroy();
    }

    /// The Simulator goes on without a clock for which it was to wait.
    void CheckEnd()
    {
        bool happened = false;
        Create<JobClock>(JobClock::Skips::May)->Schedule(MicroSeconds(1), [&] { happened = true; });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(happened, false, "");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Check(JobClock::Skips::Never);
        Check(JobClock::Skips::May);
        CheckClear();
        CheckEnd();
    }
};

class JobClockSuite : public TestSuite
{
  public:
    JobClockSuite()
        : TestSuite("scaleacross-job-clock", TestSuite::Type::UNIT)
    {
        AddTestCase(new OrderTest);
        AddTestCase(new ExpiryTest);
        AddTestCase(new SkipTest);
        AddTestCase(new UntilNextTest);
        AddTestCase(new ForgettingTest);
    }
};

JobClockSuite g_jobClockSuite;

} // namespace
