// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/flow-track.h"
#include "ns3/test.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

using namespace ns3;
using scaleacross::FlowTrack;
using scaleacross::SlopeOf;
using scaleacross::Thin;

namespace
{

constexpr double kTiny = 1e-12;

class SlopeTest : public TestCase
{
  public:
    SlopeTest()
        : TestCase("Slopes of least squares, of whole packets too")
    {
    }

  private:
    /// Three samples 0, 1, 4: sum of (k - 1) y(k) is 4, that of (k - 1)^2 is 2.
    void CheckClosedForm()
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf({3, 5, 7, 9}, 0), 2.0, kTiny, "a line");
        NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf({0, 1, 4}, 0), 2.0, kTiny, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf({90, 80, 0, 1, 4}, 2), 2.0, kTiny, "from 2 on");
        NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf({1e9, 1e9 + 7}, 0), 7.0, kTiny, "two samples");
        NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf({5, 5, 5}, 0), 0.0, kTiny, "");
    }

    /**
     * 33 samples of floor(a + s k). With s = 1/2 and a = 0 the odd ones are half a packet short;
     * they lie evenly on both sides of the middle, so the slope is 1/2 all the same. In general
     * y(k) is off by -1/2 +- 1/2: the slope is off by at most 1/2 times the sum of |k - 16|, 2 (1 +
     * ... + 16) = 272, over that of (k - 16)^2, 33 (33^2 - 1) / 12 = 2,992: by 1/22.
     */
    void CheckWholePackets()
    {
        std::vector<double> halves(33);
        for (std::size_t k = 0; k < halves.size(); ++k)
        {
            halves[k] = static_cast<double>(k / 2);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf(halves, 0), 0.5, kTiny, "");
        for (const double slope : {12.34, 5.59, 1.0 / 3, 17.001})
        {
            for (double phase = 0; phase < 1; phase += 0.09)
            {
                std::vector<double> samples(33);
                for (std::size_t k = 0; k < samples.size(); ++k)
                {
                    samples[k] = std::floor(phase + slope * static_cast<double>(k));
                }
                NS_TEST_EXPECT_MSG_EQ_TOL(SlopeOf(samples, 0), slope, 1.0 / 22, "");
            }
        }
    }

    void CheckThin()
    {
        std::vector<double> samples{0, 1, 2, 3, 4};
        Thin(samples);
        NS_TEST_EXPECT_MSG_EQ((samples == std::vector<double>{0, 2, 4}), true, "");
        Thin(samples);
        Thin(samples);
        NS_TEST_EXPECT_MSG_EQ((samples == std::vector<double>{0}), true, "");
    }

    void DoRun() override
    {
        CheckClosedForm();
        CheckWholePackets();
        CheckThin();
    }
};

/// By sample.
using Count = std::function<uint64_t(uint64_t)>;

/// So many intervals of a flow of one queue pair.
FlowTrack
Track(uint64_t intervals, const Count& sent, const Count& inFlight)
{
    FlowTrack track(1);
    for (uint64_t k = 0; k <= intervals; ++k)
    {
        track.Add({sent(k)}, inFlight(k));
    }
    return track;
}

Count
Always(uint64_t value)
{
    return [value](uint64_t) { return value; };
}

Count
Each(uint64_t packets)
{
    return [packets](uint64_t k) { return packets * k; };
}

/// Halves of 16 intervals each.
class SteadyTest : public TestCase
{
  public:
    SteadyTest()
        : TestCase("A flow is steady if it goes on as it was and nothing piles up")
    {
    }

  private:
    static constexpr uint64_t kLook = 32;

    /**
     * 12 packets between two samples are 192 in a half, of which 0.5 % and two packets are 2.96: 2
     * fewer are steady, 3 fewer are not; in flight 0.5 % and half a packet are 1.46. If one of 12
     * stays on the way, the means over samples 0 to 15 and 17 to 32 are 17 apart.
     */
    void CheckFlight()
    {
        const auto full = Each(12);
        NS_TEST_EXPECT_MSG_EQ(Track(kLook, full, Always(30)).IsSteady(0), true, "");
        NS_TEST_EXPECT_MSG_EQ(Track(kLook, full, [](uint64_t k) { return 30 + k; }).IsSteady(0),
                              false,
                              "one of twelve stays");
        for (const uint64_t more : {1, 2})
        {
            const auto late = [more](uint64_t k) { return k > 16 ? 30 + more : 30; };
            NS_TEST_EXPECT_MSG_EQ(Track(kLook, full, late).IsSteady(0),
                                  (more == 1),
                                  more << " more in flight");
        }
        for (const uint64_t fewer : {2, 3})
        {
            const auto sent = [fewer](uint64_t k) { return 12 * k - (k > 16 ? fewer : 0); };
            NS_TEST_EXPECT_MSG_EQ(Track(kLook, sent, Always(30)).IsSteady(0),
                                  (fewer == 2),
                                  fewer << " fewer sent");
        }
    }

    /// What rests waits for something, also if all has arrived.
    void CheckRest()
    {
        const auto rests = Always(700);
        NS_TEST_EXPECT_MSG_EQ(Track(kLook, rests, Always(0)).IsSteady(0), false, "");
        NS_TEST_EXPECT_MSG_EQ(Track(kLook, rests, [](uint64_t k) { return 32 - k; }).IsSteady(0),
                              false,
                              "it still arrives");
        const auto begins = [](uint64_t k) { return k > 16 ? 12 * (k - 16) : 0; };
        NS_TEST_EXPECT_MSG_EQ(Track(kLook, begins, Always(0)).IsSteady(0), false, "it begins");
        const auto ends = [](uint64_t k) { return k > 16 ? 192 : 12 * k; };
        NS_TEST_EXPECT_MSG_EQ(Track(kLook, ends, Always(0)).IsSteady(0), false, "it ends");
    }

    /// kLeast is 40 in either half: 10 intervals of 4 packets, not 9 of 4 nor 16 of 2.
    void CheckLeast()
    {
        const auto track = [](uint64_t intervals, uint64_t packets) {
            return Track(intervals, Each(packets), Always(9)).IsSteady(0);
        };
        NS_TEST_EXPECT_MSG_EQ(FlowTrack::kLeast, 40, "");
        NS_TEST_EXPECT_MSG_EQ(track(20, 4), true, "");
        NS_TEST_EXPECT_MSG_EQ(track(18, 4), false, "");
        NS_TEST_EXPECT_MSG_EQ(track(32, 2), false, "");
    }

    /// It starts at sample 8, with 30 in flight from 10 on: samples 10 to 42 are steady.
    void CheckFrom()
    {
        const auto sent = [](uint64_t k) { return k > 8 ? 12 * (k - 8) : 0; };
        const auto track = Track(42, sent, [](uint64_t k) { return k < 10 ? 0 : 30; });
        NS_TEST_EXPECT_MSG_EQ(track.IsSteady(0), false, "");
        NS_TEST_EXPECT_MSG_EQ(track.IsSteady(10), true, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(track.Slope(0, 10), 12.0, kTiny, "");
    }

    void DoRun() override
    {
        CheckFlight();
        CheckRest();
        CheckLeast();
        CheckFrom();
    }
};

/// Two queue pairs with 4 and 8 packets an interval, together 12: each has its slope, and half as
/// many samples show twice as much.
class QueuePairsTest : public TestCase
{
  public:
    QueuePairsTest()
        : TestCase("A flow of several queue pairs, and every second sample of it")
    {
    }

  private:
    void DoRun() override
    {
        FlowTrack track(2);
        for (uint64_t k = 0; k <= 32; ++k)
        {
            track.Add({4 * k, 8 * k}, 30);
        }
        NS_TEST_EXPECT_MSG_EQ(track.Size(), 33, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(track.Slope(0, 0), 4.0, kTiny, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(track.Slope(1, 16), 8.0, kTiny, "");
        track.Thin();
        NS_TEST_EXPECT_MSG_EQ(track.Size(), 17, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(track.Slope(0, 0), 8.0, kTiny, "");
        NS_TEST_EXPECT_MSG_EQ_TOL(track.Slope(1, 8), 16.0, kTiny, "");
        NS_TEST_EXPECT_MSG_EQ(track.IsSteady(0), true, "");
        track.Add({4 * 34, 8 * 34}, 30);
        NS_TEST_EXPECT_MSG_EQ_TOL(track.Slope(0, 0), 8.0, kTiny, "it goes on at every second");
    }
};

class FlowTrackSuite : public TestSuite
{
  public:
    FlowTrackSuite()
        : TestSuite("scaleacross-flow-track", TestSuite::Type::UNIT)
    {
        AddTestCase(new SlopeTest);
        AddTestCase(new SteadyTest);
        AddTestCase(new QueuePairsTest);
    }
};

FlowTrackSuite g_flowTrackSuite;

} // namespace
