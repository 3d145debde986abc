// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "dcqcn-fixed-point.h"
#include "fabric-test.h"
#include "rate-oracle.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/dcqcn.h"
#include "ns3/double.h"
#include "ns3/string.h"

#include <cmath>
#include <random>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::kNever;

namespace
{

constexpr double kG = 1.0 / 256;
constexpr int64_t kUs = 1'000'000; //!< ps

/// A DCQCN object without a network around it.
struct Bench
{
    explicit Bench(double gbps)
    {
        state.lineRate = static_cast<uint64_t>(gbps * 1e9);
        state.rate = state.lineRate;
    }

    void Init()
    {
        control->Init(state);
    }

    void Cnp(int64_t us)
    {
        Advance(us);
        control->OnCnp(state, us * kUs);
    }

    void Advance(int64_t us)
    {
        if (control->NextDeadline() <= us * kUs)
        {
            control->Advance(state, us * kUs);
        }
    }

    double Rate() const
    {
        return static_cast<double>(state.rate) * 1e-9;
    }

    double Target() const
    {
        return control->GetTargetRate() * 1e-9;
    }

    Ptr<Dcqcn> control{CreateObject<Dcqcn>()};
    RdmaCongestionState state;
};

constexpr double kBit = 1e-9; //!< Gb/s: rates are whole bit/s

/**
 * The rates of one queue pair after CNPs at 0 and 340 us, line rate 40 Gb/s, by hand. The first cut
 * is with alpha = 1: to 20 Gb/s, alpha stays 1 ((1 - g) 1 + g). Timer and alpha run out every 55
 * us. At 340 us alpha is (255/256)^6 and the rate 39.6875; after it, five steps of fast recovery
 * halve the distance to 39.6875, the sixth adds 0.04 to the target, the seventh too.
 */
class TableTest : public TestCase
{
  public:
    TableTest()
        : TestCase("Rates of one queue pair by hand")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench(40);
        bench.Init();
        NS_TEST_ASSERT_MSG_EQ(bench.Rate(), 40, "line rate at first");
        NS_TEST_ASSERT_MSG_EQ(bench.control->NextDeadline(), kNever, "and no timer");
        bench.Cnp(0);
        const std::vector<std::pair<int64_t, double>> first{{0, 20},
                                                            {54, 20},
                                                            {55, 30},
                                                            {110, 35},
                                                            {165, 37.5},
                                                            {220, 38.75},
                                                            {275, 39.375},
                                                            {330, 39.6875}};
        for (const auto& [us, rate] : first)
        {
            bench.Advance(us);
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), rate, kBit, "at " << us << " us");
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), 40, kBit, "target at " << us << " us");
        }
        double alpha = std::pow(1 - kG, 6);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetAlpha(), alpha, 1e-15, "alpha at 330 us");
        bench.Cnp(340);
        const double cut = 39.6875 * (1 - alpha / 2);
        alpha = (1 - kG) * alpha + kG;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), cut, kBit, "second cut");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), 39.6875, kBit, "its target");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetAlpha(), alpha, 1e-15, "alpha after it");
        for (int64_t step = 1; step <= 5; ++step)
        {
            bench.Advance(340 + 55 * step);
            const double rate = 39.6875 - (39.6875 - cut) / std::pow(2, step);
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), rate, kBit, "fast recovery " << step);
        }
        bench.Advance(340 + 55 * 6);
        double rate = (39.7275 + 39.6875 - (39.6875 - cut) / 32) / 2;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), 39.7275, kBit, "additive increase");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), rate, kBit, "additive increase");
        bench.Advance(340 + 55 * 7);
        rate = (39.7675 + rate) / 2;
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), 39.7675, kBit, "and once more");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), rate, kBit, "and once more");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.control->GetAlpha(),
                                  alpha * std::pow(1 - kG, 7),
                                  1e-15,
                                  "alpha decays every 55 us");
    }
};

/**
 * The byte counter and hyper increase, line rate 100 Gb/s. Three CNPs in 50 us steps: 50, 25, 12.5
 * Gb/s, target 25. Then every 55 us 10 MB are sent, just after the timer: ten steps of fast
 * recovery to 25 - 12.5 / 1024. T = 6, B = 5: additive, target 25.04. T = B = 6: hyper, i =
 * 1: 25.44. T = 7, B = 6: still i = 1: 25.84. T = B = 7: i = 2: 26.64.
 */
class HyperTest : public TestCase
{
  public:
    HyperTest()
        : TestCase("Byte counter and hyper increase")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench(100);
        bench.Init();
        bench.Cnp(0);
        bench.Cnp(50);
        bench.Cnp(100);
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), 12.5, kBit, "three cuts");
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), 25, kBit, "three cuts");
        double rate = 12.5;
        double target = 25;
        auto expect = [&](double increase, const std::string& what) {
            target += increase;
            rate = (rate + target) / 2;
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), target, kBit, what);
            NS_TEST_ASSERT_MSG_EQ_TOL(bench.Rate(), rate, kBit, what);
        };
        auto send10Megabytes = [&](int64_t us) {
            for (uint32_t packet = 0; packet < 10'000; ++packet)
            {
                bench.control->OnSent(bench.state, 1000, us * kUs);
            }
        };
        const std::vector<std::pair<double, double>>
            increases{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0.04, 0.4}, {0.4, 0.8}};
        for (size_t i = 0; i < increases.size(); ++i)
        {
            const auto us = static_cast<int64_t>(155 + 55 * i);
            bench.Advance(us);
            expect(increases[i].first, "timer " + std::to_string(i + 1));
            send10Megabytes(us);
            expect(increases[i].second, "byte counter " + std::to_string(i + 1));
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(bench.Target(), 26.64, kBit, "target at the end");
    }
};

/// The ends of the scale: MinRate, line rate again, targets that are not clamped, refusals, copies.
class LimitsTest : public TestCase
{
  public:
    LimitsTest()
        : TestCase("Limits of DCQCN")
    {
    }

  private:
    void DoRun() override
    {
        Bench low(40);
        low.Init();
        for (int64_t i = 0; i < 20; ++i)
        {
            low.Cnp(50 * i);
        }
        NS_TEST_ASSERT_MSG_EQ(low.Rate(), 0.1, "40 / 2^20 would be 38 kb/s");
        NS_TEST_ASSERT_MSG_EQ(low.Target(), 0.1, "the rate before");

        // The distance of 20 Gb/s to the line rate halves every 55 us: below half a bit/s after 36
        // times.
        Bench back(40);
        back.Init();
        back.Cnp(0);
        back.Advance(35 * 55);
        NS_TEST_ASSERT_MSG_LT(back.state.rate, back.state.lineRate, "35 times");
        back.Advance(36 * 55);
        NS_TEST_ASSERT_MSG_EQ(back.state.rate, back.state.lineRate, "36 times");
        back.Advance(1000 * 55);
        NS_TEST_ASSERT_MSG_EQ_TOL(back.control->GetAlpha(),
                                  std::pow(1 - kG, 1000),
                                  1e-12,
                                  "alpha goes on");

        Bench free(100);
        free.control->SetAttribute("ClampTargetRate", BooleanValue(false));
        free.Init();
        free.Cnp(0);
        free.Cnp(50);
        NS_TEST_ASSERT_MSG_EQ_TOL(free.Rate(), 25, kBit, "cut twice");
        NS_TEST_ASSERT_MSG_EQ_TOL(free.Target(), 100, kBit, "target of the first cut");
        free.Cnp(106);
        NS_TEST_ASSERT_MSG_EQ_TOL(free.Target(), 62.5, kBit, "raised in between: clamped");

        auto copy = DynamicCast<Dcqcn>(free.control->Fork());
        BooleanValue clamp;
        copy->GetAttribute("ClampTargetRate", clamp);
        NS_TEST_ASSERT_MSG_EQ(clamp.Get(), false, "a copy has the same attributes");
        NS_TEST_ASSERT_MSG_EQ(copy->GetAlpha(), 1, "and a fresh state");

        Bench slow(0.05);
        bool refused = false;
        try
        {
            slow.Init();
        }
        catch (const scaleacross::ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "MinRate above the line rate");
    }
};

/// Whether time passes in one step or in many, the state is the same to the bit.
class LazyTest : public TestCase
{
  public:
    LazyTest()
        : TestCase("Advancing in one step or many")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(1);
        Bench one(100);
        Bench many(100);
        one.Init();
        many.Init();
        int64_t us = 0;
        for (uint32_t i = 0; i < 1000; ++i)
        {
            const int64_t until = us + 1 + random() % (i % 10 == 0 ? 5000 : 200);
            for (; us < until; us += 1 + random() % 3)
            {
                many.Advance(us);
            }
            us = until;
            if (random() % 2 == 0)
            {
                one.Cnp(us);
                many.Cnp(us);
            }
            else
            {
                one.Advance(us);
                many.Advance(us);
                one.control->OnSent(one.state, 3'000'000, us * kUs);
                many.control->OnSent(many.state, 3'000'000, us * kUs);
            }
            NS_TEST_ASSERT_MSG_EQ(one.state.rate, many.state.rate, "rate, step " << i);
            NS_TEST_ASSERT_MSG_EQ(one.control->GetAlpha(), many.control->GetAlpha(), "alpha");
            NS_TEST_ASSERT_MSG_EQ(one.control->GetTargetRate(),
                                  many.control->GetTargetRate(),
                                  "target");
        }
    }
};

/**
 * Packets of a queue pair that gets one CNP at 10 us, at 40 Gb/s: a packet of 8,384 bit every 209.6
 * ns until then, and after it whenever 8,384 bit have been worked off at R, which is 20 Gb/s for 55
 * us, then 30, 35, 37.5, and so on to 39.6875; all in whole picoseconds, what is left over carried
 * on.
 */
class SpacingTest : public TestCase
{
  public:
    explicit SpacingTest(bool eager)
        : TestCase(std::string("Spacing after a CNP") + (eager ? ", eager" : "")),
          m_eager(eager)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(m_eager));
        FabricHelper fabric;
        UseHpccSizes(fabric);
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        fabric.ConnectPorts(a, b, DataRate("40Gbps"), MicroSeconds(1));
        fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::Dcqcn"));
        auto connection = fabric.CreateConnection(a, b);
        Log log;
        log.Watch(connection);
        for (uint64_t i = 0; i < 2000; ++i)
        {
            connection->Send(Bytes(1000), i);
        }
        Simulator::Schedule(MicroSeconds(10), [=]() {
            a->CatchUp(10 * kUs);
            connection->GetQueuePair(0)->Requester().HandleCnp(10 * kUs);
            a->Kick(10 * kUs);
        });
        Simulator::Run();
        const std::vector<uint64_t> rates{20'000'000'000,
                                          30'000'000'000,
                                          35'000'000'000,
                                          37'500'000'000,
                                          38'750'000'000,
                                          39'375'000'000,
                                          39'687'500'000};
        const auto rateAt = [&rates](int64_t time) {
            if (time < 10 * kUs)
            {
                return RatePiece{40'000'000'000, 10 * kUs};
            }
            const auto step = static_cast<size_t>((time - 10 * kUs) / (55 * kUs));
            return RatePiece{rates.at(step), static_cast<int64_t>(10 + 55 * (step + 1)) * kUs};
        };
        int64_t start = 0;
        uint64_t rest = 0;
        size_t compared = 0;
        for (; compared < 2000; ++compared)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(log.delivered.at(compared).time,
                                      start + 209'600 + kUs,
                                      Rounding(1),
                                      "packet " << compared);
            if (start >= 394 * kUs) // the last of the rates holds from 340 us to 395 us
            {
                break;
            }
            start = WorkedOff(1048, start, rest, rateAt);
        }
        NS_TEST_ASSERT_MSG_GT(compared, 1500, "over all seven rates");
        Simulator::Destroy();
        Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
    }

    bool m_eager;
};

// --- Many to one
// ----------------------------------------------------------------------------------

/// N hosts send to one for ever, over one switch; 40 Gb/s, 1 us, packets of 4,178 bytes.
struct ManyToOne
{
    uint32_t senders{2};
    Time cnpInterval{MicroSeconds(50)};
    uint64_t kmin{5000};
    uint64_t kmax{200'000};
    double pmax{0.01};
    std::string additive{"40Mbps"};
    Time warmUp{MilliSeconds(200)};
    Time measured{MilliSeconds(300)};
    Time stagger{MilliSeconds(1)}; //!< between the starts of two senders

    // Results
    double marked{0};          //!< share of packets marked
    double queue{0};           //!< bytes waiting, mean over time
    double share{0};           //!< of the line that is used
    std::vector<double> rates; //!< Gb/s on the wire, per sender
    uint64_t pauses{0};
    uint64_t drops{0};

    double Jain() const
    {
        double sum = 0;
        double squares = 0;
        for (double rate : rates)
        {
            sum += rate;
            squares += rate * rate;
        }
        return sum * sum / (squares * static_cast<double>(rates.size()));
    }

    void Run()
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
        fabric.SetSwitchAttribute("EcnKmin", UintegerValue(kmin));
        fabric.SetSwitchAttribute("EcnKmax", UintegerValue(kmax));
        fabric.SetSwitchAttribute("EcnPmax", DoubleValue(pmax));
        fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::Dcqcn"));
        fabric.SetQueuePairAttribute("CnpInterval", TimeValue(cnpInterval));
        fabric.SetQueuePairAttribute("AckInterval", UintegerValue(64));
        Config::SetDefault("ns3::Dcqcn::AdditiveIncrease", StringValue(additive));
        auto centre = BuildStar(fabric, senders + 1, "40Gbps", MicroSeconds(1));
        fabric.AssignStreams(1);
        std::vector<Ptr<RdmaConnection>> connections;
        for (uint32_t i = 0; i < senders; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[senders]);
            connections.push_back(connection);
            Simulator::Schedule(stagger * i,
                                [connection]() { connection->Send(Bytes(uint64_t{8} << 30), 0); });
        }
        auto egress = centre->GetPort(senders);
        std::vector<uint64_t> before;
        uint64_t marksBefore = 0;
        uint64_t sentBefore = 0;
        auto delivered = [&connections]() {
            std::vector<uint64_t> bytes;
            for (const auto& connection : connections)
            {
                bytes.push_back(connection->GetRemoteQueuePair(0)->GetCounters().deliveredBytes);
            }
            return bytes;
        };
        Simulator::Schedule(warmUp, [&]() {
            before = delivered();
            marksBefore = egress->GetEcnMarked();
            sentBefore = egress->GetSentPackets();
        });
        double samples = 0;
        for (Time at = warmUp; at < warmUp + measured; at += MicroSeconds(20))
        {
            Simulator::Schedule(at, [&]() {
                queue += static_cast<double>(egress->GetQueueBytes(3));
                ++samples;
            });
        }
        Simulator::Stop(warmUp + measured);
        Simulator::Run();
        const std::vector<uint64_t> after = delivered();
        for (uint32_t i = 0; i < senders; ++i)
        {
            // 4,178 bytes on the wire carry 4,096.
            rates.push_back(static_cast<double>(after[i] - before[i]) * 4178 / 4096 * 8e-9 /
                            measured.GetSeconds());
            share += rates.back() / 40;
        }
        queue /= samples;
        marked = static_cast<double>(egress->GetEcnMarked() - marksBefore) /
                 static_cast<double>(egress->GetSentPackets() - sentBefore);
        pauses = centre->GetPauses();
        drops = centre->GetDrops();
        Simulator::Destroy();
        Config::SetDefault("ns3::Dcqcn::AdditiveIncrease", StringValue("40Mbps"));
    }
};

/**
 * Fair shares with all of the paper's parameters, RED's included. Senders start 5 ms apart at line
 * rate, so the last one meets others that have settled; from 200 ms on, Jain's index of the rates
 * over 300 ms is at least 0.99. Nothing is lost and the line is used: no bound is published for
 * that; a queue that is empty now and then costs some percent.
 */
class FairnessTest : public TestCase
{
  public:
    explicit FairnessTest(uint32_t senders)
        : TestCase("Fair shares of " + std::to_string(senders)),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        ManyToOne run;
        run.senders = m_senders;
        run.stagger = MilliSeconds(5);
        run.Run();
        NS_TEST_ASSERT_MSG_GT_OR_EQ(run.Jain(), 0.99, "Jain's index");
        NS_TEST_ASSERT_MSG_GT(run.share, 0.9, "share of the line used");
        NS_TEST_ASSERT_MSG_EQ(run.drops, 0, "no drop");
    }

    uint32_t m_senders;
};

/**
 * The fixed point. The published one is that of a fluid model, in which marks count at any time; so
 * it is to be met where CNPs may follow each other closely, 5 us, a tenth of the timers. The slope
 * of RED is chosen for a queue of Kmin + 300 kB there (p itself does not depend on it), and Kmax,
 * where everything is marked at once and nothing is linear, is far away.
 *
 * Bounds: the simulation differs from p by
 *  - the fluid model's approximations in time: RenewalMarking says 4 % to 6 % more;
 *  - fluctuations: what a queue pair loses grows with the third power of p (how often it is cut,
 * how much of the last cut is left, alpha). E p^3 = (E p)^3 (1 + 3 v^2) for a relative deviation v,
 * so the mean of p is lower by v^2: 9 % if the queue varies by 0.3, as with two senders;
 *  - chance: some 1,000 cuts per 500 ms and sender, 3 %.
 * The first two have opposite signs: 10 %.
 *
 * With the paper's 50 us, marks right after a cut count for nothing and more of them are needed.
 * The renewal process knows that, and is to be met within 10 % for the last two reasons; what is
 * published is too low by a fifth, so the simulation has to be above it by more than 10 %.
 *
 * 16 senders at 40 Mb/s of additive increase are not among the cases: one packet in 20 is marked,
 * the queue oscillates, and p is 12 % above the published one (5 us), 19 % above the renewal's (50
 * us).
 */
class FixedPointTest : public TestCase
{
  public:
    FixedPointTest(uint32_t senders, uint32_t additiveMbps, uint32_t cnpIntervalUs)
        : TestCase("Fixed point of " + std::to_string(senders) + ", " +
                   std::to_string(additiveMbps) + " Mbps, " + std::to_string(cnpIntervalUs) +
                   " us"),
          m_senders(senders),
          m_additiveMbps(additiveMbps),
          m_cnpIntervalUs(cnpIntervalUs)
    {
    }

  private:
    void DoRun() override
    {
        const double bits = 8.0 * 4178;
        const DcqcnModel model{40e9 / bits / m_senders,
                               m_cnpIntervalUs * 1e-6,
                               55e-6,
                               55e-6,
                               10e6 / 4178,
                               5,
                               m_additiveMbps * 1e6 / bits};
        const double published = PublishedMarking(model);
        const double renewal = RenewalMarking(model);
        const bool paper = m_cnpIntervalUs == 50;
        const double expected = paper ? renewal : published;
        NS_TEST_ASSERT_MSG_LT(published, renewal, "the fluid model overrates losses");
        NS_TEST_ASSERT_MSG_EQ((renewal < 1.07 * published), !paper, "by little only at 5 us");

        ManyToOne run;
        run.senders = m_senders;
        run.cnpInterval = MicroSeconds(m_cnpIntervalUs);
        run.additive = std::to_string(m_additiveMbps) + "Mbps";
        run.pmax = std::min(1.0, 20 * published);
        run.kmax = run.kmin + static_cast<uint64_t>(300'000 * run.pmax / published);
        run.warmUp = MilliSeconds(200);
        run.measured = MilliSeconds(600);
        run.Run();
        NS_TEST_ASSERT_MSG_EQ_TOL(run.marked / expected, 1, 0.1, "marking probability");
        const auto range = static_cast<double>(run.kmax - run.kmin);
        const double queue = expected * range / run.pmax;
        NS_TEST_ASSERT_MSG_EQ_TOL((run.queue - static_cast<double>(run.kmin)) / queue,
                                  1,
                                  0.1,
                                  "queue");
        NS_TEST_ASSERT_MSG_EQ((run.marked > 1.1 * published), paper, "above the published one");
        for (double rate : run.rates)
        {
            // Jain's index of 0.99 is a deviation of 10 %.
            NS_TEST_ASSERT_MSG_EQ_TOL(rate * m_senders / 40, 1, 0.1, "C / N");
        }
        NS_TEST_ASSERT_MSG_GT_OR_EQ(run.Jain(), 0.99, "Jain's index");
        NS_TEST_ASSERT_MSG_EQ(run.pauses + run.drops, 0, "by marks alone");
    }

    uint32_t m_senders;
    uint32_t m_additiveMbps;
    uint32_t m_cnpIntervalUs;
};

// --- Equality
// -------------------------------------------------------------------------------------

/// What came of a fabric with everything in it that decides when a packet leaves.
struct Outcome
{
    std::vector<Event> delivered;
    std::vector<Event> completed;
    std::vector<uint64_t> counts;

    bool operator==(const Outcome& other) const
    {
        return delivered == other.delivered && completed == other.completed &&
               counts == other.counts;
    }
};

/**
 * Two leaves, one spine wire, hosts on both; DCQCN on most queue pairs, limits on others, several
 * per NIC; RED; a buffer so small that PFC pauses as well; some loss. Wires are all alike or all
 * different.
 */
Outcome
RunMixture(uint32_t seed, bool eager, bool lookAhead, const std::string& scheduler)
{
    Simulator::SetScheduler(ObjectFactory(scheduler));
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(eager));
    Outcome result;
    Log log;
    {
        std::mt19937 random(seed);
        const bool alike = random() % 2 == 0;
        auto delay = [&]() { return NanoSeconds(alike ? 1000 : 300 + random() % 5000); };
        FabricHelper fabric;
        fabric.SetLookAhead(lookAhead);
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(random() % 2 == 0 ? kMiB : 8 * kMiB));
        fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
        fabric.SetSwitchAttribute("EcnPmax", DoubleValue(0.1));
        fabric.SetSwitchAttribute("EcnAtDeparture", BooleanValue(random() % 2 == 0));
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(6)); // 262 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(100));
        Ptr<FabricSwitch> leaves[] = {fabric.AddSwitch(), fabric.AddSwitch()};
        fabric.Connect(leaves[0], leaves[1], DataRate("40Gbps"), delay());
        for (uint32_t i = 0; i < 8; ++i)
        {
            const double loss = random() % 4 == 0 ? 1e-4 : 0.0;
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           leaves[i % 2],
                           DataRate("40Gbps"),
                           delay(),
                           loss);
        }
        fabric.InstallRoutes();
        fabric.AssignStreams(100);
        for (uint32_t i = 0; i < 16; ++i)
        {
            const bool limited = random() % 4 == 0;
            const uint64_t limit = limited ? 1'000'000'007 * (1 + random() % 12) : 0;
            const bool dcqcn = random() % 4 != 0;
            fabric.SetQueuePairAttribute("RateLimit", DataRateValue(DataRate(limit)));
            fabric.SetQueuePairAttribute(
                "CongestionOps",
                StringValue(dcqcn ? "ns3::Dcqcn" : "ns3::RdmaCongestionOps"));
            fabric.SetQueuePairAttribute("Window", UintegerValue(random() % 3 == 0 ? 20'000 : 0));
            const uint32_t from = random() % 8;
            const uint32_t to = random() % 2 == 0 ? (from + 1 + random() % 7) % 8 : (from + 3) % 8;
            auto connection = fabric.CreateConnection(fabric.Nics()[from], fabric.Nics()[to]);
            log.Watch(connection);
            for (uint64_t message = 0; message < 3; ++message)
            {
                const Bytes bytes(1 + random() % 400'000);
                const uint64_t tag = i * 10 + message;
                const Time when = message == 0 ? Time(0) : NanoSeconds(1000 * (1 + tag));
                Simulator::Schedule(when, [=]() { connection->Send(bytes, tag); });
            }
        }
        Simulator::Run();
        for (const auto& connection : fabric.Connections())
        {
            const auto& counters = connection->GetRemoteQueuePair(0)->GetCounters();
            result.counts.push_back(counters.markedPackets);
            result.counts.push_back(counters.cnpsSent);
            result.counts.push_back(connection->GetRetransmissions());
        }
        for (const auto& fabricSwitch : fabric.Switches())
        {
            result.counts.push_back(fabricSwitch->GetPauses());
            result.counts.push_back(fabricSwitch->GetEcnMarked());
        }
        CheckConservation(fabric);
        Simulator::Destroy();
    }
    Config::SetDefault("ns3::FabricPort::Eager", BooleanValue(false));
    Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
    Simulator::Destroy();
    result.delivered = log.delivered;
    result.completed = log.completed;
    std::sort(result.delivered.begin(), result.delivered.end());
    std::sort(result.completed.begin(), result.completed.end());
    return result;
}

/// Lazy departures, events for every departure, and look-ahead give the same result to the bit,
/// marks and CNPs of every flow included.
class EqualityTest : public TestCase
{
  public:
    EqualityTest()
        : TestCase("Lazy, eager and look-ahead agree")
    {
    }

  private:
    void DoRun() override
    {
        uint64_t cnps = 0;
        uint64_t pauses = 0;
        for (uint32_t seed = 1; seed <= 20; ++seed)
        {
            const Outcome lazy = RunMixture(seed, false, false, "ns3::MapScheduler");
            NS_TEST_ASSERT_MSG_EQ(lazy.delivered.size(), 48, "all delivered, seed " << seed);
            const Outcome eager = RunMixture(seed, true, false, "ns3::MapScheduler");
            NS_TEST_ASSERT_MSG_EQ((lazy == eager), true, "eager, seed " << seed);
            const Outcome ahead = RunMixture(seed, false, true, "ns3::MapScheduler");
            NS_TEST_ASSERT_MSG_EQ((lazy == ahead), true, "look-ahead, seed " << seed);
            const Outcome other = RunMixture(seed, false, false, "ns3::QuadHeapScheduler");
            NS_TEST_ASSERT_MSG_EQ((lazy == other), true, "another event list, seed " << seed);
            for (size_t i = 1; i < 48; i += 3)
            {
                cnps += lazy.counts[i];
            }
            pauses += lazy.counts[48] + lazy.counts[50];
        }
        NS_TEST_ASSERT_MSG_GT(cnps, 1000, "DCQCN had something to do");
        NS_TEST_ASSERT_MSG_GT(pauses, 10, "PFC too");
    }
};

class DcqcnSuite : public TestSuite
{
  public:
    DcqcnSuite()
        : TestSuite("scaleacross-dcqcn")
    {
        AddTestCase(new TableTest);
        AddTestCase(new HyperTest);
        AddTestCase(new LimitsTest);
        AddTestCase(new LazyTest);
        AddTestCase(new SpacingTest(false));
        AddTestCase(new SpacingTest(true));
        AddTestCase(new EqualityTest);
        for (uint32_t senders : {2, 4, 8, 16})
        {
            AddTestCase(new FairnessTest(senders));
        }
        for (uint32_t interval : {5, 50})
        {
            AddTestCase(new FixedPointTest(2, 40, interval));
            AddTestCase(new FixedPointTest(4, 40, interval));
            AddTestCase(new FixedPointTest(4, 10, interval));
            AddTestCase(new FixedPointTest(8, 10, interval));
            AddTestCase(new FixedPointTest(16, 10, interval));
        }
    }
};

DcqcnSuite g_dcqcnSuite;

} // namespace
