// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/server-rings.h"
#include "core/io/read-study.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <tuple>
#include <vector>

namespace scaleacross
{
namespace
{

Duration
Microseconds(double us)
{
    return Duration::Seconds(us * 1e-6);
}

/// Four GPUs of one server in a ring. Messages take 10 us, to the time of a byte (3 ps), and 1 us
/// of latency.
class RingOfFour : public ServerRings::Owner
{
  public:
    RingOfFour()
    {
        const GpuSpec& gpu = m_scenario.cluster.buildings.front().gpu;
        const double rate = (gpu.scaleUpBandwidth * gpu.scaleUpEfficiency).Value();
        m_phase = Phase(Pattern::RingAllGather,
                        RankGroup({{1, 4}}),
                        Bytes(4 * static_cast<uint64_t>(std::llround(rate * 10e-6 / 8))));
        m_phase.inside = StepCost{Microseconds(1), 0};
    }

    bool IsSendingInside(Rank /* rank */) const override
    {
        return false;
    }

    void PhaseOver(Rank rank, uint32_t /* stream */) override
    {
        m_over[rank] = m_clock.Now().S() * 1e6;
    }

    void GoOnWithPhase(Rank rank, uint32_t /* stream */, uint32_t sent, uint32_t received) override
    {
        m_goOn[rank] = {sent, received};
    }

    void SendRest(Rank from,
                  Rank to,
                  Bytes /* bytes */,
                  double left,
                  uint64_t tag,
                  const MessageCare& /* care */) override
    {
        EXPECT_EQ(to, (from + 1) % 4);
        m_rest[{from, tag}] = left;
    }

    void DeliverAt(Duration at, Rank to, uint64_t tag) override
    {
        m_delivered[{to, tag}] = at.S() * 1e6;
    }

    /// All enter, each so late, unless it is negative.
    void Enter(const std::vector<double>& us)
    {
        for (Rank rank = 0; rank < us.size(); rank++)
        {
            if (us[rank] >= 0)
            {
                m_clock.At(Microseconds(us[rank]), [this, rank] {
                    EXPECT_TRUE(m_rings.Takes(rank, {&m_phase, CommClass::Tensor, 0, 100}));
                });
            }
        }
    }

    void RunUntil(double us)
    {
        while (m_clock.Earliest() <= Microseconds(us))
        {
            m_clock.GoOnTo(m_clock.Earliest());
        }
        m_clock.GoOnTo(Microseconds(us));
    }

    Scenario m_scenario{
        ParseStudy("study: ring\n"
                   "cluster: {buildings: {count: 1, gpus: 4, gpus_per_node: 4, gpu: h100}}\n",
                   "ring.yaml",
                   {},
                   StudyScope::Network)
            .scenario};
    Phase m_phase;
    FlowClock m_clock;
    Symmetry m_symmetry{NoSymmetry(4, FlowPaths(m_scenario, 0))};
    ServerRings m_rings{m_scenario, m_symmetry, m_clock, *this};
    std::map<Rank, double> m_over; //!< us
    std::map<Rank, std::pair<uint32_t, uint32_t>> m_goOn;
    std::map<std::pair<Rank, uint64_t>, double> m_rest;
    std::map<std::pair<Rank, uint64_t>, double> m_delivered; //!< us
};

constexpr double kByte = 1e-5; // us: three messages of up to 3 ps each

} // namespace

TEST(ServerRings, MembersWhoEnterTogetherAreThroughTogether)
{
    // Three steps of 10 us and 1 us.
    RingOfFour ring;
    ring.Enter({0, 0, 0, 0});
    ring.RunUntil(100);
    for (Rank rank = 0; rank < 4; rank++)
    {
        EXPECT_NEAR(ring.m_over[rank], 33, kByte) << rank;
    }
    EXPECT_TRUE(ring.m_goOn.empty());
}

TEST(ServerRings, OneWhoEntersLateHoldsUpThoseAfterIt)
{
    // Messages begin at    0: 0, 11, 22    1: 5, 15, 25    2: 0, 16, 26    3: 0, 11, 27.
    // The third of the one before each takes 10 us and comes 1 us later.
    RingOfFour ring;
    ring.Enter({0, 5, 0, 0});
    ring.RunUntil(100);
    EXPECT_NEAR(ring.m_over[1], 33, kByte);
    EXPECT_NEAR(ring.m_over[2], 36, kByte);
    EXPECT_NEAR(ring.m_over[3], 37, kByte);
    EXPECT_NEAR(ring.m_over[0], 38, kByte);
}

TEST(ServerRings, ADisturbedRingGoesOnFromWhereItIs)
{
    // At 20 us, by the times above, two messages of each have begun, of the second of which so much
    // is left; the first of each has come.
    RingOfFour ring;
    ring.Enter({0, 5, 0, 0});
    ring.RunUntil(20);
    ring.m_rings.Disturb(2);
    const double left[] = {0.1, 0.5, 0.6, 0.1};
    for (Rank rank = 0; rank < 4; rank++)
    {
        EXPECT_EQ(ring.m_goOn[rank], std::make_pair(2U, 1U)) << rank;
        EXPECT_EQ(ring.m_rest.count({rank, 100}), 0U) << rank;
        EXPECT_NEAR(ring.m_rest.at({rank, 101}), left[rank], kByte) << rank;
    }
    EXPECT_TRUE(ring.m_delivered.empty());
    ring.RunUntil(100);
    EXPECT_TRUE(ring.m_over.empty());
}

TEST(ServerRings, WhatHasLeftStillComes)
{
    // At 10.5 us the first messages are on their way, but that of member 1.
    RingOfFour ring;
    ring.Enter({0, 5, 0, 0});
    ring.RunUntil(10.5);
    ring.m_rings.Disturb(3);
    EXPECT_EQ(ring.m_rest.size(), 1U);
    EXPECT_NEAR(ring.m_rest.at({1, 100}), 0.45, kByte);
    EXPECT_EQ(ring.m_delivered.size(), 3U);
    for (const Rank rank : {0U, 1U, 3U})
    {
        EXPECT_NEAR(ring.m_delivered.at({rank, 100}), 11, kByte) << rank;
        EXPECT_EQ(ring.m_goOn[rank], std::make_pair(1U, 0U)) << rank;
    }
}

TEST(ServerRings, OneWhoIsStillToEnterAfterADisturbanceGoesByItself)
{
    RingOfFour ring;
    ring.Enter({0, -1, 0, 0});
    ring.RunUntil(3);
    ring.m_rings.Disturb(0);
    EXPECT_EQ(ring.m_goOn.size(), 3U);
    EXPECT_FALSE(ring.m_rings.Takes(1, {&ring.m_phase, CommClass::Tensor, 0, 100}));
    EXPECT_TRUE(ring.m_rings.Takes(1, {&ring.m_phase, CommClass::Tensor, 0, 200})); // the next
}

TEST(ServerRings, TheNextRingIsNotTakenWhileTheOneBeforeIsStillLeaving)
{
    // What member 1 waits for does not depend on itself: entering at 100 us it is through at once,
    // and its three messages have still to leave.
    RingOfFour ring;
    ring.Enter({0, 100, 0, 0});
    ring.RunUntil(101);
    EXPECT_NEAR(ring.m_over.at(1), 100, kByte);
    EXPECT_FALSE(ring.m_rings.Takes(1, {&ring.m_phase, CommClass::Tensor, 0, 200}));
    // At 105 us half of the first is left, and the others go on by themselves.
    ring.RunUntil(105);
    ring.m_rings.Disturb(1);
    EXPECT_NEAR(ring.m_rest.at({1, 100}), 0.5, kByte);
    EXPECT_EQ(ring.m_goOn.count(1), 0U);
    EXPECT_EQ(ring.m_goOn.size(), 3U);
}

TEST(ServerRings, BytesUpToNowCount)
{
    // At 20 us two messages less what is left of the second.
    RingOfFour ring;
    ring.Enter({0, 5, 0, 0});
    ring.RunUntil(20);
    std::vector<double> out(4);
    std::vector<double> in(4);
    ring.m_rings.AddCarried(out, in);
    const double message = static_cast<double>(ring.m_phase.bytes.Count()) / 4;
    const double sent[] = {1.9, 1.5, 1.4, 1.9};
    for (Rank rank = 0; rank < 4; rank++)
    {
        EXPECT_NEAR(out[rank] / message, sent[rank], kByte) << rank;
        EXPECT_NEAR(in[(rank + 1) % 4] / message, sent[rank], kByte) << rank;
    }
}

} // namespace scaleacross
