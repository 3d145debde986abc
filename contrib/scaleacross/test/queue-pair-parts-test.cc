// SPDX-License-Identifier: GPL-2.0-only

// What a queue pair and a connection consist of, each part alone.

#include "core/base/errors.h"

#include "ns3/mark-notices.h"
#include "ns3/message-ledger.h"
#include "ns3/retry-timer.h"
#include "ns3/rnr-timer.h"
#include "ns3/segment-balance.h"
#include "ns3/selective-repeat.h"
#include "ns3/send-allowance.h"
#include "ns3/send-queue.h"
#include "ns3/send-window.h"
#include "ns3/test.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace ns3;
using scaleacross::kNever;
using scaleacross::MarkNotices;
using scaleacross::MessageLedger;
using scaleacross::MessageSegment;
using scaleacross::PostedMessage;
using scaleacross::RdmaOperation;
using scaleacross::RetryTimer;
using scaleacross::SegmentBalance;
using scaleacross::SelectiveRepeat;
using scaleacross::SendAllowance;
using scaleacross::SendQueue;
using scaleacross::SendWindow;

namespace
{

/// A queue with one shown message, of which so many packets have been sent.
SendQueue
Sent(uint64_t packets, uint64_t sent)
{
    SendQueue queue;
    queue.Start(0);
    queue.Post(RdmaOperation::Write, packets * 1000, 7, packets);
    queue.Show();
    for (uint64_t i = 0; i < sent; ++i)
    {
        queue.TakeNext(i + 1 == packets);
    }
    return queue;
}

class SendQueueTest : public TestCase
{
  public:
    SendQueueTest()
        : TestCase("A queue of messages stands where its packets have been sent and acknowledged")
    {
    }

  private:
    /// The worked case of send-queue.h, from PSN 10.
    void CheckPackets()
    {
        SendQueue queue;
        queue.Start(10);
        queue.Post(RdmaOperation::Write, 3000, 1, 3);
        queue.Post(RdmaOperation::Send, 2000, 2, 2);
        NS_TEST_EXPECT_MSG_EQ(queue.HasNext(), false, "nothing is shown");
        NS_TEST_EXPECT_MSG_EQ(queue.Waiting(), 0, "");
        queue.Show();
        queue.Post(RdmaOperation::Write, 1000, 3, 1);
        NS_TEST_EXPECT_MSG_EQ(queue.Waiting(), 5, "the third is not shown");
        for (const bool last : {false, false, true, false})
        {
            queue.TakeNext(last);
        }
        NS_TEST_EXPECT_MSG_EQ(queue.Next(), 14, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Current().tag, 2, "");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(12).tag, 1, "");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(13).tag, 2, "");
        std::vector<PostedMessage> completed;
        queue.Acknowledge(11, completed);
        queue.GoBack();
        NS_TEST_EXPECT_MSG_EQ(queue.Next(), 11, "");
        NS_TEST_EXPECT_MSG_EQ(queue.SentUpTo(), 14, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Unacked(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Waiting(), 4, "");
        NS_TEST_EXPECT_MSG_EQ(completed.size(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Completes(12), false, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Completes(13), true, "");
        queue.Acknowledge(14, completed);
        NS_TEST_EXPECT_MSG_EQ(queue.Next(), 14, "it had gone back needlessly");
        NS_TEST_ASSERT_MSG_EQ(completed.size(), 1, "");
        NS_TEST_EXPECT_MSG_EQ(completed[0].tag, 1, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Current().tag, 2, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Size(), 2, "");
    }

    static void Take(SendQueue& queue, const std::vector<bool>& lasts)
    {
        for (const bool last : lasts)
        {
            queue.TakeNext(last);
        }
    }

    /// The worked case of LeaveOut, with packets of 1,000 bytes, and a message of 2 packets after
    /// it. 5 packets, 4.5 kB, and 3 packets, 2.3 kB, are PSNs 0 to 7. When 3 are left out, they are
    /// 0 to 4, with 3.5 and 0.3 kB; the third message is 5 to 6, and what is posted then is 7.
    void CheckLeaveOut()
    {
        SendQueue queue;
        queue.Start(0);
        queue.Post(RdmaOperation::Write, 4500, 1, 5);
        queue.Post(RdmaOperation::Write, 2300, 2, 3);
        queue.Post(RdmaOperation::Write, 2000, 3, 2);
        queue.Show();
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(2), 6, "4 and 2");
        Take(queue, {false, false});
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(1), 2, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(2), 4, "");
        queue.LeaveOut(3, 2, 1000);
        NS_TEST_EXPECT_MSG_EQ(queue.Next(), 2, "as it was");
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(2), 1, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Waiting(), 5, "2 to 6");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(3).tag, 1, "");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(3).bytes, 3500, "");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(4).tag, 2, "");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(4).bytes, 300, "the last packet's payload");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(5).tag, 3, "");
        NS_TEST_EXPECT_MSG_EQ(queue.MessageOf(5).bytes, 2000, "whole");
        NS_TEST_EXPECT_MSG_EQ(queue.Post(RdmaOperation::Send, 1, 4, 1).firstPsn, 7, "");
        CheckCompletion(queue);
    }

    /// Goes on with what CheckLeaveOut has left.
    void CheckCompletion(SendQueue& queue)
    {
        queue.Show();
        Take(queue, {false, true, true, false});
        NS_TEST_EXPECT_MSG_EQ(queue.Current().tag, 3, "");
        std::vector<PostedMessage> completed;
        queue.Acknowledge(3, completed);
        NS_TEST_EXPECT_MSG_EQ(completed.size(), 0, "");
        queue.Acknowledge(5, completed);
        NS_TEST_ASSERT_MSG_EQ(completed.size(), 2, "");
        NS_TEST_EXPECT_MSG_EQ(completed[0].tag, 1, "");
        NS_TEST_EXPECT_MSG_EQ(completed[1].tag, 2, "");
        Take(queue, {true, true});
        NS_TEST_EXPECT_MSG_EQ(queue.HasNext(), false, "");
        queue.Acknowledge(8, completed);
        NS_TEST_EXPECT_MSG_EQ(completed.size(), 4, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Size(), 0, "");
    }

    /// 4 of 6 packets are sent, the first is acknowledged: one may be left out, but none while
    /// packets are repeated. The last packet of a message never may.
    void CheckSpareOnRepeat()
    {
        SendQueue queue = Sent(6, 4);
        std::vector<PostedMessage> completed;
        queue.Acknowledge(1, completed);
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(1), 1, "");
        queue.GoBack();
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(1), 0, "it has gone back");
        Take(queue, {false, false});
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(1), 0, "one is still to be repeated");
        Take(queue, {false});
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(1), 1, "");
        Take(queue, {false});
        NS_TEST_EXPECT_MSG_EQ(queue.Spare(1), 0, "the last");
    }

    void CheckFlush()
    {
        SendQueue queue = Sent(3, 2);
        NS_TEST_EXPECT_MSG_EQ(queue.Flush().size(), 1, "");
        NS_TEST_EXPECT_MSG_EQ(queue.HasNext(), false, "");
        NS_TEST_EXPECT_MSG_EQ(queue.HasShown(), false, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Unacked(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(queue.Size(), 0, "");
    }

    void DoRun() override
    {
        CheckPackets();
        CheckLeaveOut();
        CheckSpareOnRepeat();
        CheckFlush();
    }
};

class SendWindowTest : public TestCase
{
  public:
    SendWindowTest()
        : TestCase("A window counts what is unacknowledged, or what is under way")
    {
    }

  private:
    /// The worked case of send-window.h: 4 packets are allowed, 1 is lost.
    void CheckFlight(bool countsFlight)
    {
        SendQueue queue = Sent(10, 4);
        SelectiveRepeat repeat;
        repeat.Start(0, 0);
        repeat.Answered(0, 2, 4); // 0 and 1 count as lost
        repeat.Answered(0, 3, 4);
        SendWindow window;
        window.Start({1, countsFlight}, 4, 100, false);
        window.Update(queue, repeat, 4);
        NS_TEST_EXPECT_MSG_EQ(window.MayRepeat(), true, "");
        repeat.TakeLost(4);
        repeat.TakeLost(4);
        window.Update(queue, repeat, 4);
        NS_TEST_EXPECT_MSG_EQ(window.MayRepeat(), false, "both are under way again");
        NS_TEST_EXPECT_MSG_EQ(window.UnderWay(queue, repeat, 0), (countsFlight ? 2 : 4), "");
        // Two are under way, so two more may leave.
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), countsFlight, "");
        queue.TakeNext(false);
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), countsFlight, "");
        queue.TakeNext(false);
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), false, "");
        window.Close();
        NS_TEST_EXPECT_MSG_EQ(window.Allows(Sent(1, 0)), false, "");
    }

    /// Every fourth packet asks; two are allowed, so none of the first two does of its own accord.
    void CheckAsking()
    {
        SendQueue queue = Sent(10, 2);
        SelectiveRepeat repeat;
        repeat.Start(0, 0);
        SendWindow window;
        window.Start({4, false}, 2, 100, false);
        NS_TEST_EXPECT_MSG_EQ(window.IsTurnToAsk(3), false, "");
        NS_TEST_EXPECT_MSG_EQ(window.IsTurnToAsk(4), true, "");
        window.Asked(1);
        window.Update(queue, repeat, 2);
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), false, "an answer is to come");
        window.Answered(1, 0);
        window.Update(queue, repeat, 2);
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), false, "it was another's");
        window.Answered(0, 1);
        window.Update(queue, repeat, 2);
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), true, "one more, which asks");
        window.Start({4, false}, 2, 100, true);
        window.Update(queue, repeat, 2);
        NS_TEST_EXPECT_MSG_EQ(window.Allows(queue), false, "pulls come without");
    }

    void DoRun() override
    {
        CheckFlight(false);
        CheckFlight(true);
        CheckAsking();
    }
};

/// Notes what a timer says.
struct FakeWatcher : RetryTimer::Watcher
{
    void WatchDeadline(int64_t deadline, bool anew) override
    {
        last = deadline;
        running += anew ? 1 : 0;
    }

    void ForgetDeadline() override
    {
        --running;
    }

    int64_t last{0};
    int running{0};
};

class RetryTimerTest : public TestCase
{
  public:
    RetryTimerTest()
        : TestCase("One timer for answers that do not come, and for receivers that are not ready")
    {
    }

  private:
    static constexpr int64_t kTimeout = 65'536'000; // 4.096 us * 2^4, in ps

    /// The worked case of retry-timer.h.
    void CheckTimeouts()
    {
        FakeWatcher watcher;
        RetryTimer timer;
        timer.SetWatcher(watcher);
        timer.Configure({4, 1, 7}, kTimeout - 1, "queue pair 0");
        NS_TEST_EXPECT_MSG_EQ(timer.Sent(), true, "the first packet starts it");
        timer.Restart(0, true);
        NS_TEST_EXPECT_MSG_EQ(timer.Sent(), false, "the second does not");
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), kTimeout, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Expire(kTimeout, true), true, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Retry(), true, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), 2 * kTimeout, "it runs at once");
        NS_TEST_EXPECT_MSG_EQ(timer.Sent(), true, "and again with the first repetition");
        timer.Restart(80'000'000, true);
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), 145'536'000, "");
        NS_TEST_EXPECT_MSG_EQ(watcher.last, 145'536'000, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Expire(145'536'000, true), true, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Retry(), false, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Retries(), 1, "");
        NS_TEST_EXPECT_MSG_EQ(watcher.running, 1, "");
        timer.Stop();
        timer.Stop();
        NS_TEST_EXPECT_MSG_EQ(watcher.running, 0, "it has stopped once");
        timer.Progress(0, false, true);
        NS_TEST_EXPECT_MSG_EQ(timer.Retries(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), kNever, "nothing waits");
    }

    /// Code 1 is 10 us; progress does not end the wait.
    void CheckHoldBack()
    {
        FakeWatcher watcher;
        RetryTimer timer;
        timer.SetWatcher(watcher);
        timer.Configure({4, 7, 1}, 0, "queue pair 0");
        NS_TEST_EXPECT_MSG_EQ(timer.HoldBack(1, 5), true, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), 10'000'005, "");
        NS_TEST_EXPECT_MSG_EQ(timer.HoldBack(1, 6), false, "one is the limit");
        timer.PathWorks(7, true);
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), 10'000'005, "");
        NS_TEST_EXPECT_MSG_EQ(timer.IsHeldBack(), true, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Expire(10'000'005, true), false, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(timer.IsHeldBack(), false, "");
        timer.Progress(20'000'000, true, false);
        NS_TEST_EXPECT_MSG_EQ(timer.RnrRetries(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), 20'000'000 + kTimeout, "");
        timer.Configure({4, 7, scaleacross::kEndlessRnrRetries}, 0, "queue pair 0");
        for (int i = 0; i < 20; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(timer.HoldBack(0, i), true, "without end");
        }
    }

    void CheckConfig()
    {
        RetryTimer timer;
        std::string message;
        try
        {
            timer.Configure({4, 7, 7}, kTimeout, "queue pair 0");
        }
        catch (const scaleacross::ConfigError& error)
        {
            message = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(message.find("queue pair 0 Timeout"), std::string::npos, message);
        timer.Configure({0, 7, 7}, kTimeout, "queue pair 0");
        timer.Restart(0, true);
        NS_TEST_EXPECT_MSG_EQ(timer.Deadline(), kNever, "it is off");
    }

    void DoRun() override
    {
        CheckTimeouts();
        CheckHoldBack();
        CheckConfig();
    }
};

class MarkNoticesTest : public TestCase
{
  public:
    MarkNoticesTest()
        : TestCase("Marks are told of by CNPs, one in an interval, and by the next answer")
    {
    }

  private:
    /// The worked case of mark-notices.h.
    void DoRun() override
    {
        MarkNotices notices;
        notices.Configure({true, MicroSeconds(50), 7});
        NS_TEST_EXPECT_MSG_EQ(notices.Note(0), true, "");
        NS_TEST_EXPECT_MSG_EQ(notices.TakeEcho(), true, "answer at 5 us");
        NS_TEST_EXPECT_MSG_EQ(notices.Note(10'000'000), false, "");
        NS_TEST_EXPECT_MSG_EQ(notices.TakeEcho(), true, "answer at 20 us");
        NS_TEST_EXPECT_MSG_EQ(notices.TakeEcho(), false, "answer at 30 us");
        NS_TEST_EXPECT_MSG_EQ(notices.Note(60'000'000), true, "");
        notices.Configure({false, MicroSeconds(50), 7});
        NS_TEST_EXPECT_MSG_EQ(notices.Note(200'000'000), false, "switched off");
        NS_TEST_EXPECT_MSG_EQ(notices.TakeEcho(), true, "");
    }
};

class SendAllowanceTest : public TestCase
{
  public:
    SendAllowanceTest()
        : TestCase("Without a control, Window and RateLimit are what is allowed")
    {
    }

  private:
    /// 10,500 / 1,000 is 10 packets; 500 still allow one. At half the rate of a port of 100 Gb/s,
    /// 1,000 bytes on the wire are 160 ns.
    void DoRun() override
    {
        const TypeId none = RdmaCongestionOps::GetTypeId();
        SendAllowance allowance;
        allowance.SetUp({500, DataRate(0), none}, 1000, "queue pair 0");
        NS_TEST_EXPECT_MSG_EQ(allowance.Packets(), 1, "");
        NS_TEST_EXPECT_MSG_EQ(allowance.IsPaced(), false, "");
        allowance.SetUp({10'500, DataRate("50Gbps"), none}, 1000, "queue pair 0");
        allowance.Start(100'000'000'000, 1000, 0);
        NS_TEST_EXPECT_MSG_EQ(allowance.Packets(), 10, "");
        NS_TEST_EXPECT_MSG_EQ(allowance.IsPaced(), true, "");
        NS_TEST_EXPECT_MSG_EQ(allowance.Rate(), 50'000'000'000, "");
        NS_TEST_EXPECT_MSG_EQ(allowance.Eligible(), 0, "");
        NS_TEST_EXPECT_MSG_EQ(allowance.Sent(0, 1000, 40'000, {0, 0}), false, "no pull");
        NS_TEST_EXPECT_MSG_EQ(allowance.Eligible(), 200'000, "");
    }
};

class MessageLedgerTest : public TestCase
{
  public:
    MessageLedgerTest()
        : TestCase("A message is there when its last segment is, and forgotten in order")
    {
    }

  private:
    /// A message in two parts and one behind it.
    void CheckMissing()
    {
        MessageLedger ledger;
        ledger.Add(10, 70);
        ledger.Add(10, 71);
        NS_TEST_EXPECT_MSG_EQ(ledger.HasArrived(0), false, "nothing is cut");
        ledger.Cut(0, 4);
        ledger.AddSegments(0, 1);
        ledger.Cut(1, 10);
        ledger.AddSegments(1, 1);
        ledger.Arrived(1);
        ledger.Arrived(0);
        NS_TEST_EXPECT_MSG_EQ(ledger.HasArrived(0), false, "6 bytes are to be cut");
        NS_TEST_EXPECT_MSG_EQ(ledger.HasArrived(1), true, "it has arrived");
        NS_TEST_EXPECT_MSG_EQ(ledger.HasBeenAcknowledged(1), false, "it is not acknowledged");
        ledger.Cut(0, 6);
        ledger.AddSegments(0, 1);
        NS_TEST_EXPECT_MSG_EQ(ledger.HasArrived(0), false, "on their way");
        ledger.Arrived(0);
        NS_TEST_EXPECT_MSG_EQ(ledger.HasArrived(0), true, "");
        ledger.Acknowledged(1);
        NS_TEST_EXPECT_MSG_EQ(ledger.HasBeenAcknowledged(1), true, "");
        ledger.Announce(1);
        NS_TEST_EXPECT_MSG_EQ(ledger.HasBeenAcknowledged(1),
                              false,
                              "the announcement is on its way");
        NS_TEST_EXPECT_MSG_EQ(ledger.HasArrived(1), true, "");
    }

    /// The worked case of message-ledger.h, and a message behind it that is done first.
    void CheckWorkedCase()
    {
        MessageLedger ledger;
        NS_TEST_EXPECT_MSG_EQ(ledger.Add(10, 70), 0, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Add(0, 71), 1, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Cut(0, 8), false, "2 bytes are left");
        ledger.AddSegments(0, 2);
        NS_TEST_EXPECT_MSG_EQ(ledger.Arrived(0), false, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Arrived(0), false, "the rest has not been cut");
        NS_TEST_EXPECT_MSG_EQ(ledger.Cut(0, 2), true, "");
        ledger.AddSegments(0, 1);
        NS_TEST_EXPECT_MSG_EQ(ledger.Arrived(0), true, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Cut(1, 0), true, "an empty one");
        ledger.AddSegments(1, 1);
        NS_TEST_EXPECT_MSG_EQ(ledger.Acknowledged(1), true, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Announce(1), true, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Acknowledged(1), true, "of the announcement");
        NS_TEST_EXPECT_MSG_EQ(ledger.Announce(1), false, "once");
        ledger.Forget();
        NS_TEST_EXPECT_MSG_EQ(ledger.TagOf(0), 70, "1 is behind it");
        NS_TEST_EXPECT_MSG_EQ(ledger.Acknowledged(0), false, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Acknowledged(0), false, "");
        NS_TEST_EXPECT_MSG_EQ(ledger.Acknowledged(0), true, "");
        ledger.Forget();
        NS_TEST_EXPECT_MSG_EQ(ledger.Add(5, 72), 2, "numbers go on");
        NS_TEST_EXPECT_MSG_EQ(ledger.TagOf(2), 72, "");
        ledger.Delivered();
        NS_TEST_EXPECT_MSG_EQ(ledger.Undelivered(), 2, "");
    }

    void DoRun() override
    {
        CheckMissing();
        CheckWorkedCase();
    }
};

class SegmentBalanceTest : public TestCase
{
  public:
    SegmentBalanceTest()
        : TestCase("Segments go to the queue pairs in turn, past those that are full")
    {
    }

  private:
    static constexpr uint64_t kKiB = 1024;

    /// The worked case of segment-balance.h.
    void CheckTurns()
    {
        SegmentBalance balance;
        balance.Configure({4, 512 * kKiB, 0}, 4 * kKiB);
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(0, 2304 * kKiB, true), 5, "");
        std::vector<uint32_t> order;
        MessageSegment segment{};
        while (balance.HasWaiting())
        {
            order.push_back(*balance.Turn());
            segment = balance.Take(order.back());
            NS_TEST_EXPECT_MSG_EQ(segment.last, (order.size() == 5), "");
        }
        NS_TEST_EXPECT_MSG_EQ((order == std::vector<uint32_t>{0, 1, 2, 3, 0}), true, "");
        NS_TEST_EXPECT_MSG_EQ(segment.bytes, 256 * kKiB, "");
        NS_TEST_EXPECT_MSG_EQ(*balance.Turn(), 1, "");
        balance.Configure({4, 0, 0}, 4 * kKiB);
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(1, 2304 * kKiB, true), 4, "");
        NS_TEST_EXPECT_MSG_EQ(balance.Take(0).bytes, 576 * kKiB, "");
        balance.Clear();
        NS_TEST_EXPECT_MSG_EQ(balance.HasWaiting(), false, "");
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(1, 36 * kKiB, true), 3, "parts of whole packets");
        for (const uint32_t queuePair : {0, 1, 2})
        {
            NS_TEST_EXPECT_MSG_EQ(*balance.Turn(), queuePair, "");
            NS_TEST_EXPECT_MSG_EQ(balance.Take(queuePair).bytes, 12 * kKiB, "");
        }
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(1, 4 * kKiB, true), 1, "");
        NS_TEST_EXPECT_MSG_EQ(*balance.Turn(), 0, "it comes behind the first part of the other");
        balance.Clear();
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(2, 0, true), 1, "an empty message is one segment");
    }

    /// One queue pair cuts nothing, unless segments are counted.
    void CheckSingle()
    {
        SegmentBalance balance;
        balance.Configure({1, 1000, 0}, 4 * kKiB);
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(0, 5000, true), 1, "");
        balance.Configure({1, 1000, 2}, 4 * kKiB);
        NS_TEST_EXPECT_MSG_EQ(balance.Cut(1, 5000, true), 5, "");
    }

    /// Two queue pairs, one segment each: the third waits for whichever is acknowledged first.
    void CheckOutstanding()
    {
        SegmentBalance balance;
        balance.Configure({2, 1000, 1}, 4 * kKiB);
        balance.Cut(8, 2000, true);
        balance.Cut(9, 1000, true);
        for (const uint32_t queuePair : {0, 1})
        {
            NS_TEST_EXPECT_MSG_EQ(*balance.Turn(), queuePair, "");
            balance.Posted(queuePair, balance.Take(queuePair).id);
        }
        NS_TEST_EXPECT_MSG_EQ(balance.Turn().has_value(), false, "both are full");
        NS_TEST_EXPECT_MSG_EQ(balance.Acknowledged(1), 8, "");
        NS_TEST_EXPECT_MSG_EQ(*balance.Turn(), 1, "0 is passed over");
    }

    /// Two queue pairs and messages of three, one and three segments: queue pair 0 has 8, 8, 10 and
    /// 10, queue pair 1 has 8, 9 and 10.
    void CheckMessages()
    {
        SegmentBalance balance;
        balance.Configure({2, 1000, 0}, 4 * kKiB);
        NS_TEST_EXPECT_MSG_EQ(balance.MessageOf(0, 0), UINT64_MAX, "nothing is posted");
        balance.Cut(8, 3000, true);
        balance.Cut(9, 1000, true);
        balance.Cut(10, 3000, true);
        while (balance.HasWaiting())
        {
            const uint32_t queuePair = *balance.Turn();
            balance.Posted(queuePair, balance.Take(queuePair).id);
        }
        NS_TEST_EXPECT_MSG_EQ(balance.SameMessage(0, 0), 2, "");
        NS_TEST_EXPECT_MSG_EQ(balance.SameMessage(0, 1), 1, "of 8 the second alone");
        NS_TEST_EXPECT_MSG_EQ(balance.SameMessage(0, 2), 2, "");
        NS_TEST_EXPECT_MSG_EQ(balance.SameMessage(1, 0), 1, "");
        NS_TEST_EXPECT_MSG_EQ(balance.SameMessage(1, 3), 0, "there is none");
        NS_TEST_EXPECT_MSG_EQ(balance.MessageOf(1, 1), 9, "");
        NS_TEST_EXPECT_MSG_EQ(balance.MessageOf(1, 3), UINT64_MAX, "");
        balance.Acknowledged(0);
        NS_TEST_EXPECT_MSG_EQ(balance.SameMessage(0, 0), 1, "");
        NS_TEST_EXPECT_MSG_EQ(balance.MessageOf(0, 1), 10, "");
    }

    void DoRun() override
    {
        CheckTurns();
        CheckSingle();
        CheckOutstanding();
        CheckMessages();
    }
};

class QueuePairPartsSuite : public TestSuite
{
  public:
    QueuePairPartsSuite()
        : TestSuite("scaleacross-queue-pair-parts", TestSuite::Type::UNIT)
    {
        AddTestCase(new SendQueueTest);
        AddTestCase(new SendWindowTest);
        AddTestCase(new RetryTimerTest);
        AddTestCase(new MarkNoticesTest);
        AddTestCase(new SendAllowanceTest);
        AddTestCase(new MessageLedgerTest);
        AddTestCase(new SegmentBalanceTest);
    }
};

QueuePairPartsSuite g_queuePairPartsSuite;

} // namespace
