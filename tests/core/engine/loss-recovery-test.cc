// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/loss-recovery.h"

#include <cmath>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace scaleacross
{
namespace
{

constexpr double kLoss = 0.01;
constexpr double kRoundTrip = 100; // us
constexpr double kLatency = 50;    // us
constexpr double kTimeout = 1000;  // us

Duration
Microseconds(double us)
{
    return Duration::Seconds(us * 1e-6);
}

/// Two queue pairs; of each transfer 8 packets on each that takes part, one every 10 us, so that 10
/// go in a round trip. Losses are those that it is told.
class Connection
{
  public:
    explicit Connection(const std::string& recovery = "selective-repeat")
        : m_losses(m_clock, 2, Recovery(recovery), Microseconds(kTimeout), [this] {
              return Draw();
          })
    {
    }

    /// Says where the next lost packet is, counted from the one before, or from the first.
    void LoseAfter(double packets)
    {
        // Uniform() below (1 - q)^k and above (1 - q)^(k + 1) is a gap of k packets.
        m_draws.push_back(std::pow(1 - kLoss, packets + 0.5));
    }

    void LoseNoMore()
    {
        m_draws.push_back(1e-300);
    }

    void RepeatIsLost(bool lost)
    {
        m_draws.push_back(lost ? kLoss / 2 : 0.5);
    }

    /// Loses the packet after so many, but not what is sent for it, and nothing else of this
    /// transfer and those after it: so many in all.
    void LoseOne(double packets, uint32_t transfers)
    {
        LoseAfter(packets);
        RepeatIsLost(false);
        for (uint32_t i = 0; i < transfers; i++)
        {
            LoseNoMore();
        }
    }

    /// One whose last packet leaves then.
    void Leaves(double us, uint32_t first, uint32_t pairs, double silent = 5)
    {
        GoesOn(us - 80, m_sent, first, pairs, 0, 10);
        Ends(us, first, pairs, 8, silent);
    }

    /// One of so many packets on the first queue pair, the last of which leaves then.
    void LongLeaves(double us, double packets)
    {
        Ends(us, 0, 1, packets, 5);
    }

    /// Of each of its queue pairs it has sent so many packets then; one more takes so long.
    void GoesOn(double us,
                uint32_t number,
                uint32_t first,
                uint32_t pairs,
                double sent,
                double usPerPacket)
    {
        m_clock.At(Microseconds(us), [=] {
            m_losses.GoesOn({number, first, pairs, sent, 1e6 / usPerPacket});
        });
    }

    std::map<uint32_t, double> Arrivals()
    {
        while (m_clock.Earliest() < Duration::Max())
        {
            m_clock.GoOnTo(m_clock.Earliest());
        }
        EXPECT_TRUE(m_draws.empty());
        return m_arrived;
    }

  private:
    void Ends(double us, uint32_t first, uint32_t pairs, double packets, double silent)
    {
        m_clock.At(Microseconds(us), [=, number = m_sent++] {
            LossyMessages lossy;
            lossy.loss = kLoss;
            lossy.roundTrip = kRoundTrip * 1e-6;
            lossy.packets = packets;
            lossy.inFlight = 10;
            lossy.silent = silent;
            m_losses.Leaves({number, first, pairs, packets},
                            lossy,
                            Microseconds(kLatency),
                            [this, number] { m_arrived[number] = m_clock.Now().S() * 1e6; });
        });
    }

    double Draw()
    {
        const double draw = m_draws.front();
        m_draws.pop_front();
        return draw;
    }

    FlowClock m_clock;
    std::deque<double> m_draws;
    LossRecovery m_losses;
    uint32_t m_sent{0};
    std::map<uint32_t, double> m_arrived; //!< us
};

constexpr double kRounding = 1e-3; // us

} // namespace

TEST(LossRecovery, WithoutALossOnlyTheLatencyPasses)
{
    Connection connection;
    connection.Leaves(80, 0, 2);
    connection.LoseNoMore(); // on the one
    connection.LoseNoMore(); // on the other
    EXPECT_NEAR(connection.Arrivals().at(0), 80 + kLatency, kRounding);
}

TEST(LossRecovery, WhatFollowsInTheTransferTellsOfALoss)
{
    // Packet 1 of 8 has 6 after it, of which the fifth tells: 6 - 5 = 1 of the 10 of a round trip
    // has left meanwhile.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.LoseOne(1, 1);
    EXPECT_NEAR(connection.Arrivals().at(0), 80 + kLatency + 0.9 * kRoundTrip, kRounding);
}

TEST(LossRecovery, TheNextTransferTellsOfTheLastPacket)
{
    // Five of 8 packets have left at 200 + 50 us.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.Leaves(280, 0, 1);
    connection.LoseOne(7, 2);
    const auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(0), 250 + kLatency + kRoundTrip, kRounding);
    EXPECT_NEAR(arrivals.at(1), 280 + kLatency, kRounding);
}

TEST(LossRecovery, ALongTransferTellsWhileItLeaves)
{
    // Of 200 packets from 200 us on, one every 10 us, the fifth has left at 250 us. The last one
    // leaves at 2,200 us, and the timeout would tell at 80 + 100 + 1,000 us.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.GoesOn(200, 1, 0, 1, 0, 10);
    connection.LongLeaves(2200, 200);
    connection.LoseOne(7, 2);
    const auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(0), 250 + kLatency + kRoundTrip, kRounding);
    EXPECT_NEAR(arrivals.at(1), 2200 + kLatency, kRounding);
}

TEST(LossRecovery, ATransferTellsLaterWhereItSlowsDown)
{
    // Three packets have left at 230 us; two more take 100 us each from then on: 430 us. The other
    // 195 go one in 2 us again from 440 us on, when 5.1 have left.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.GoesOn(200, 1, 0, 1, 0, 10);
    connection.GoesOn(230, 1, 0, 1, 3, 100);
    connection.GoesOn(440, 1, 0, 1, 5.1, 2);
    connection.LongLeaves(829.8, 200);
    connection.LoseOne(7, 2);
    EXPECT_NEAR(connection.Arrivals().at(0), 430 + kLatency + kRoundTrip, kRounding);
}

TEST(LossRecovery, ATransferThatIsUnderWayTellsByWhatLeavesLater)
{
    // The second one, from 60 us on, has sent two of its packets when the last of the first leaves
    // at 80 us and is lost; its seventh leaves at 130 us.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.Leaves(140, 0, 1);
    connection.LoseOne(7, 2);
    EXPECT_NEAR(connection.Arrivals().at(0), 130 + kLatency + kRoundTrip, kRounding);
}

TEST(LossRecovery, SeveralTransfersTellTogetherWhereOneIsTooShort)
{
    // Twelve are needed: 8 of the second and 4 of the third, which have left at 320 + 40 us.
    Connection connection;
    connection.Leaves(80, 0, 1, 12);
    connection.Leaves(280, 0, 1, 12);
    connection.Leaves(400, 0, 1, 12);
    connection.LoseAfter(7);
    connection.RepeatIsLost(false);
    for (int i = 0; i < 3; i++)
    {
        connection.LoseNoMore();
    }
    EXPECT_NEAR(connection.Arrivals().at(0), 360 + kLatency + kRoundTrip, kRounding);
}

TEST(LossRecovery, ATransferOnOtherQueuePairsTellsOfNothing)
{
    // The second queue pair's last packet. Only the third transfer is on that.
    Connection connection;
    connection.Leaves(80, 0, 2);
    connection.Leaves(280, 0, 1);
    connection.Leaves(480, 1, 1);
    connection.LoseNoMore(); // on the first
    connection.LoseAfter(7);
    connection.RepeatIsLost(false);
    for (int i = 0; i < 3; i++)
    {
        connection.LoseNoMore();
    }
    EXPECT_NEAR(connection.Arrivals().at(0), 450 + kLatency + kRoundTrip, kRounding);
}

TEST(LossRecovery, TheTimeoutTellsIfNothingFollows)
{
    // It begins with the ACK of what came before, a round trip after it was sent.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.LoseOne(7, 1);
    EXPECT_NEAR(connection.Arrivals().at(0), 80 + kRoundTrip + kTimeout + kLatency, kRounding);
}

TEST(LossRecovery, ALostRepetitionCostsATimeout)
{
    // Of the timeout and a round trip 6 of 10 packets have gone meanwhile.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.LoseAfter(1);
    connection.RepeatIsLost(true);
    connection.LoseNoMore();
    EXPECT_NEAR(connection.Arrivals().at(0),
                80 + kLatency + kTimeout + 0.4 * kRoundTrip,
                kRounding);
}

TEST(LossRecovery, ALostRepetitionOfTheLastPacketCostsATimeoutMore)
{
    // One until it is told of, since nothing follows, and one for the repetition.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.LoseAfter(7);
    connection.RepeatIsLost(true);
    connection.LoseNoMore();
    EXPECT_NEAR(connection.Arrivals().at(0), 80 + kRoundTrip + 2 * kTimeout + kLatency, kRounding);
}

TEST(LossRecovery, GoingBackStallsComeBeforeWhatNothingTellsOf)
{
    // Packet 1 stalls for half a round trip as above; then the last one is lost.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.LoseAfter(1);
    connection.LoseAfter(6);
    connection.RepeatIsLost(false);
    EXPECT_NEAR(connection.Arrivals().at(0),
                80 + 0.5 * kRoundTrip + kRoundTrip + kTimeout + kLatency,
                kRounding);
}

TEST(LossRecovery, TheSlowestOfAllLossesCounts)
{
    // Packet 1 comes 90 us late; packet 7 when five of the next transfer have left.
    Connection connection;
    connection.Leaves(80, 0, 1);
    connection.Leaves(280, 0, 1);
    connection.LoseAfter(1);
    connection.RepeatIsLost(false);
    connection.LoseOne(5, 2);
    EXPECT_NEAR(connection.Arrivals().at(0), 250 + kLatency + kRoundTrip, kRounding);
}

TEST(LossRecovery, GoingBackDelaysAddUp)
{
    // The next packet tells. Packet 1 has 6 after it: (6 - 1) of the 10 of a round trip pass. Sent
    // again are 1, 2, 3, ..., of which 3 is lost, with 4 after it: (4 - 1) of 10.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.LoseAfter(1);
    connection.LoseAfter(2);
    connection.LoseNoMore();
    EXPECT_NEAR(connection.Arrivals().at(0), 80 + kLatency + (0.5 + 0.7) * kRoundTrip, kRounding);
}

TEST(LossRecovery, GoingBackALostRepetitionCostsATimeout)
{
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.LoseAfter(1);
    connection.LoseAfter(0);
    connection.LoseNoMore();
    EXPECT_NEAR(connection.Arrivals().at(0),
                80 + kLatency + 0.5 * kRoundTrip + kTimeout,
                kRounding);
}

TEST(LossRecovery, GoingBackTheNextTransferTellsOfTheLastPacket)
{
    // One packet of the second transfer is enough, which has left at 210 us.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.Leaves(280, 0, 1, 1);
    connection.LoseOne(7, 1);
    EXPECT_NEAR(connection.Arrivals().at(0), 210 + kLatency + kRoundTrip, kRounding);
}

TEST(LossRecovery, GoingBackLaterTransfersWaitForWhatWasLost)
{
    // Packet 4 of the first has 3 after it, of which the first tells: it comes 1 - (3 - 1) / 10 of
    // a round trip late, at 80 + 50 + 80 = 210 us. The second leaves by 160 us and is held to that;
    // the third, which leaves by 240 us, comes at 290 us as it would anyway.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.Leaves(160, 0, 1, 1);
    connection.Leaves(240, 0, 1, 1);
    connection.LoseAfter(4);
    connection.LoseNoMore();
    connection.LoseNoMore();
    connection.LoseNoMore();
    auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(0), 210, kRounding);
    EXPECT_NEAR(arrivals.at(1), 210, kRounding);
    EXPECT_NEAR(arrivals.at(2), 290, kRounding);
    // The receiver of selective repeat takes it, and so does one on another queue pair.
    for (const bool selective : {true, false})
    {
        Connection other(selective ? "selective-repeat" : "go-back-n");
        other.Leaves(80, 0, 1, 1);
        other.Leaves(160, selective ? 0 : 1, 1, 1);
        other.LoseAfter(4);
        if (selective)
        {
            other.RepeatIsLost(false);
        }
        other.LoseNoMore();
        other.LoseNoMore();
        arrivals = other.Arrivals();
        EXPECT_NEAR(arrivals.at(0), 210, kRounding);
        EXPECT_NEAR(arrivals.at(1), 160 + kLatency, kRounding);
    }
}

TEST(LossRecovery, GoingBackWhatTellsOfTheLastPacketWaitsForIt)
{
    // The first packet of the second, at 90 us, tells: the first transfer is there at 90 + 100 + 50
    // = 240 us, and so is the second instead of at 210 us.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.Leaves(160, 0, 1, 1);
    connection.LoseOne(7, 1);
    const auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(0), 240, kRounding);
    EXPECT_NEAR(arrivals.at(1), 240, kRounding);
}

TEST(LossRecovery, GoingBackStallsOfTransfersAddUp)
{
    // The first is 80 us late as above, at 210 us, and the second with it: 50 us late, but for its
    // packet 6, which the one after it tells of, a whole round trip before it comes: 310 us.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.Leaves(110, 0, 1, 1);
    connection.LoseAfter(4);
    connection.LoseNoMore();
    connection.LoseAfter(6);
    connection.LoseNoMore();
    const auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(0), 210, kRounding);
    EXPECT_NEAR(arrivals.at(1), 210 + kRoundTrip, kRounding);
}

TEST(LossRecovery, GoingBackNothingTellsOfWhatHasNotBeenTaken)
{
    // The second is held to 210 us as above, so that its last packet, which is lost, is sent again
    // at 160 us the latest. The third's first packet leaves at 120 us, but is taken from then on
    // only: 160 + 100 + 50 us. The third would come at 240 us.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.Leaves(110, 0, 1, 1);
    connection.Leaves(190, 0, 1, 1);
    connection.LoseAfter(4);
    connection.LoseNoMore();
    connection.LoseOne(7, 1);
    const auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(1), 310, kRounding);
    EXPECT_NEAR(arrivals.at(2), 310, kRounding);
}

TEST(LossRecovery, GoingBackWhatFollowsATimeoutIsOnTime)
{
    // Nothing tells of the last packet, until the timeout does at 80 + 100 + 1,000 us. What leaves
    // by 1,280 us would come at 1,330 us, and does.
    Connection connection("go-back-n");
    connection.Leaves(80, 0, 1, 1);
    connection.Leaves(1280, 0, 1, 1);
    connection.LoseOne(7, 1);
    const auto arrivals = connection.Arrivals();
    EXPECT_NEAR(arrivals.at(0), 1180 + kLatency, kRounding);
    EXPECT_NEAR(arrivals.at(1), 1280 + kLatency, kRounding);
}

} // namespace scaleacross
