// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-delay.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace scaleacross
{
namespace
{

constexpr double kNever = std::numeric_limits<double>::infinity();

/// One message per round in `chains` chains of `rounds` rounds. No timeout is in the way.
LossyChains
Chains(const LossyMessages& messages, double chains, double rounds, Recovery recovery)
{
    LossyChains all;
    all.chains = chains;
    all.steps = rounds;
    all.recovery = recovery;
    all.rounds = {{rounds, {messages}}};
    return all;
}

LossyMessages
Messages(double loss, double pairs, double packets, double inFlight)
{
    LossyMessages messages;
    messages.loss = loss;
    messages.roundTrip = 10e-3;
    messages.pairs = pairs;
    messages.packets = packets;
    messages.inFlight = inFlight;
    messages.silent = 0;
    messages.circle = kNever;
    return messages;
}

TEST(LossDelay, IsNothingWithoutLoss)
{
    EXPECT_EQ(LossDelay(LossyChains()), 0);
}

TEST(LossDelay, TheWorkedCaseOfTheHeader)
{
    // m << N, so that every delay is a round trip but for m / 2N = 3.4 % on average and q^2 terms.
    const double p = 1 - std::exp(-16 * 512e-5);
    const double rounds = 2 - std::pow(1 - p, 32) - std::pow(1 - p * p, 16);
    EXPECT_NEAR(rounds, 1.02, 0.01);
    const LossyMessages messages = Messages(1e-5, 16, 512, 7500);
    const double delay = LossDelay(Chains(messages, 16, 2, Recovery("selective-repeat")));
    EXPECT_LT(delay, rounds * 10e-3);
    EXPECT_GT(delay, rounds * (1 - 512 / 7500.0) * 10e-3);
}

/**
 * One message of m = 100 packets, q = 1 %, T = 67 ms, t = 10 us. A packet that is lost twice costs
 * T + t less what the packets after it take, t / N each: with p = 1 - (1 - q^2)^m, and the place of
 * the one that is lost anywhere, p (T + t - m t / (2 N)) on average, to the second order of p, and
 * up to t more of those that are lost once. So a slower sender (smaller N) waits hardly less.
 */
TEST(LossDelay, APacketLostTwiceCostsATimeoutWhateverTheRate)
{
    constexpr double kTimeout = 67e-3;
    constexpr double kTrip = 10e-6;
    const double p = 1 - std::pow(1 - 1e-4, 100);
    for (const double inFlight : {100.0, 10.0, 1.0, 0.5})
    {
        LossyMessages messages = Messages(0.01, 1, 100, inFlight);
        messages.roundTrip = kTrip;
        LossyChains chains = Chains(messages, 1, 1, Recovery("selective-repeat"));
        chains.timeout = kTimeout;
        const double twice = p * (kTimeout + kTrip - 100 * kTrip / (2 * inFlight));
        EXPECT_GT(LossDelay(chains), twice * (1 - p)) << inFlight;
        EXPECT_LT(LossDelay(chains), twice + kTrip) << inFlight;
    }
}

TEST(LossDelay, OneRoundIsTheFormulaOfAllMessagesAtOnce)
{
    // R = 1: the slowest of C chains with Q queue pairs is the slowest of C Q, so with L = C Q l,
    // w = m = N: E = t (1 - (1 - exp(-L N)) / (L N)). Repetitions that are lost as well cost up to
    // a round trip (there is no timeout here) with C Q N q^2 = 3.2e-7.
    const double l = -std::log1p(-1e-6);
    const double risk = 8 * 4 * l * 10000;
    const double expected = 10e-3 * (1 - (1 - std::exp(-risk)) / risk);
    const LossyMessages messages = Messages(1e-6, 4, 10000, 10000);
    EXPECT_NEAR(LossDelay(Chains(messages, 8, 1, Recovery("selective-repeat"))),
                expected,
                3.2e-7 * 10e-3);
    // What is more than a round trip before the end has been repeated when the end is there.
    const LossyMessages longer = Messages(1e-6, 4, 1e6, 10000);
    EXPECT_NEAR(LossDelay(Chains(longer, 8, 1, Recovery("selective-repeat"))),
                expected,
                3.2e-7 * 10e-3);
}

TEST(LossDelay, GoBackNStallsForEveryLossOfAQueuePair)
{
    // One queue pair of one chain, m << N: as many round trips as it has losses, m q = 0.5 on
    // average (Poisson). With selective repeat one repairs all: 1 - exp(-0.5).
    const LossyMessages messages = Messages(5e-5, 1, 10000, 1e9);
    const double back = LossDelay(Chains(messages, 1, 1, Recovery("go-back-n")));
    const double repeat = LossDelay(Chains(messages, 1, 1, Recovery("selective-repeat")));
    EXPECT_NEAR(back, 0.5 * 10e-3, 1e-4 * back);
    EXPECT_NEAR(repeat, (1 - std::exp(-0.5)) * 10e-3, 1e-4 * repeat);
}

TEST(LossDelay, WhatNothingTellsOfWaitsForTheNextMessage)
{
    // Four packets per queue pair, all of them silent: 16 x 4 x 1e-4 = 6.4e-3 in each of 2 chains.
    // The next message, 3 ms later, tells of them, and the repetition takes a round trip.
    LossyMessages messages = Messages(1e-4, 16, 4, 1e6);
    messages.silent = 4;
    messages.untold = 3e-3;
    LossyChains chains = Chains(messages, 2, 1, Recovery("selective-repeat"));
    chains.timeout = 67e-3;
    // Repetitions that are lost: 2 x 64 x 1e-8 x 67 ms, under 1e-3 of it.
    const double p = 1 - std::exp(2 * 64 * std::log1p(-1e-4));
    EXPECT_NEAR(LossDelay(chains), p * 13e-3, 2e-3 * p * 13e-3);
    // Where no message follows, a timeout after the round trip of the last ACK.
    chains.rounds[0].messages[0].untold = kNever;
    EXPECT_NEAR(LossDelay(chains), p * 77e-3, 2e-3 * p * 77e-3);
    // Nor does one follow where the two members of a pair both wait: u^2 for both chains together.
    chains.rounds[0].messages[0].untold = 3e-3;
    chains.rounds[0].messages[0].circle = 2;
    const double u = 1 - std::exp(64 * std::log1p(-1e-4));
    const double lost = 128e-8;
    EXPECT_NEAR(LossDelay(chains), p * 13e-3 + (u * u + lost) * 64e-3, 1e-6);
}

TEST(LossDelay, ChunksAreMoreRoundsOfTheSameChains)
{
    // Eight chunks, one after the other: eight rounds of each chain. Two at a time: twice the
    // chains, four rounds each, half as many packets in a round trip.
    LossyMessages messages = Messages(1e-3, 1, 32, 24000);
    LossyChains one = Chains(messages, 8, 1, Recovery("selective-repeat"));
    one.Repeat(8, 1);
    EXPECT_DOUBLE_EQ(LossDelay(one),
                     LossDelay(Chains(messages, 8, 8, Recovery("selective-repeat"))));
    LossyChains two = Chains(messages, 8, 1, Recovery("selective-repeat"));
    two.Repeat(8, 2);
    messages.inFlight = 12000;
    EXPECT_DOUBLE_EQ(LossDelay(two),
                     LossDelay(Chains(messages, 16, 4, Recovery("selective-repeat"))));
}

TEST(LossDelay, OneChainOfAMillionRoundsIsDelayedByTheMean)
{
    // 1e6 rounds, p of each: one chain is delayed by p t a round on average. With timeouts of
    // nothing a lost repetition counts as a loss. m / N = 5e-7.
    const LossyMessages messages = Messages(1e-5, 1, 512, 1e9);
    const double delay = LossDelay(Chains(messages, 1, 1e6, Recovery("selective-repeat")));
    const double p = -std::expm1(512 * (std::log1p(-1e-5) + std::log1p(-1e-10)));
    EXPECT_NEAR(delay, 1e6 * p * 10e-3, 1e-6 * delay);
}

TEST(LossDelay, WhatIsCertainDelaysEveryRound)
{
    // A million packets at q = 0.1: one of the last is lost in every round of every chain, and each
    // costs a round trip but for its place before the end, 1 / (q N) = 1e-5 on average. A timeout
    // of 67 ms besides, for a repetition that is lost as well: q^2 N = 1e4 of them.
    const double t = 10e-3;
    LossyChains chains = Chains(Messages(0.1, 1, 1e6, 1e6), 16, 5, Recovery("selective-repeat"));
    EXPECT_NEAR(LossDelay(chains), 5 * t, 1e-4 * 5 * t);
    chains.timeout = 67e-3;
    EXPECT_NEAR(LossDelay(chains), 5 * (t + 67e-3), 1e-4 * 5 * t);
}

/// Draws rounds of selective repeat packet by packet: mean of the slowest chain, and its standard
/// error.
std::pair<double, double>
Draw(const LossyMessages& of, uint32_t chains, uint32_t rounds)
{
    constexpr uint32_t draws = 4000;
    std::mt19937_64 random(1);
    std::geometric_distribution<uint64_t> until(of.loss);
    double sum = 0;
    double squares = 0;
    for (uint32_t draw = 0; draw < draws; draw++)
    {
        double slowest = 0;
        for (uint32_t chain = 0; chain < chains; chain++)
        {
            double delay = 0;
            for (uint32_t round = 0; round < rounds; round++)
            {
                double worst = 0;
                for (double pair = 0; pair < of.pairs; pair++)
                {
                    // Packets after the last lost one, from the end.
                    const auto after = static_cast<double>(until(random));
                    if (after < of.packets)
                    {
                        worst = std::max(worst, 1 - after / of.inFlight);
                    }
                }
                delay += worst * of.roundTrip;
            }
            slowest = std::max(slowest, delay);
        }
        sum += slowest;
        squares += slowest * slowest;
    }
    const double mean = sum / draws;
    return {mean, std::sqrt((squares / draws - mean * mean) / draws)};
}

TEST(LossDelay, AgreesWithDrawsOfEveryPacket)
{
    // The integral takes the slowest chain at every delay: never less than the draws, but for four
    // standard errors; and more only where delays differ and rounds are many.
    struct Case
    {
        LossyMessages messages;
        uint32_t chains;
        uint32_t rounds;
        double above; //!< part of it
    };

    for (const Case& c : {Case{Messages(1e-5, 16, 512, 7500), 16, 2, 0.01},
                          Case{Messages(1e-4, 16, 512, 7500), 16, 2, 0.02},
                          Case{Messages(1e-5, 16, 512, 750), 16, 2, 0.05},
                          Case{Messages(1e-4, 4, 512, 400), 16, 8, 0.25}})
    {
        const auto [mean, error] = Draw(c.messages, c.chains, c.rounds);
        const double delay =
            LossDelay(Chains(c.messages, c.chains, c.rounds, Recovery("selective-repeat")));
        EXPECT_GT(delay, mean - 4 * error);
        EXPECT_LT(delay, mean * (1 + c.above) + 4 * error);
    }
}

TEST(LossVolume, CountsWhatIsSentInVain)
{
    // q = 1e-3. Half of a queue pair's 100 packets come after a loss, and all are on their way.
    EXPECT_DOUBLE_EQ(LossVolume(Messages(1e-3, 1, 100, 200), Recovery("go-back-n")),
                     (1 - 1e-3 + 50e-3) / (1 - 1e-3));
    // Of 1,000 packets 100 are on their way; the last 100 have 50 after them: 100 - 100^2 / 2000.
    EXPECT_DOUBLE_EQ(LossVolume(Messages(1e-3, 1, 1000, 100), Recovery("go-back-n")),
                     (1 - 1e-3 + 95e-3) / (1 - 1e-3));
    EXPECT_DOUBLE_EQ(LossVolume(Messages(1e-3, 1, 100, 200), Recovery("selective-repeat")),
                     1 / (1 - 1e-3));
}

} // namespace
} // namespace scaleacross
