// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/loss-model.h"
#include "ns3/string.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::DropReason;
using scaleacross::FabricPacket;

namespace
{

/// What a model did to packets: how many were lost, and what the runs of losses looked like.
struct Tally
{
    Tally(FabricLossModel& model, uint64_t packets)
    {
        FabricPacket packet{};
        bool before = false;
        for (uint64_t i = 0; i < packets; ++i)
        {
            bool now = model.IsLost(packet);
            lost += now ? 1 : 0;
            pairs += now && before ? 1 : 0;
            before = now;
        }
    }

    uint64_t lost{0};
    uint64_t pairs{0}; //!< losses right after a loss
};

/**
 * Independent losses, n = 10^7 packets, q = 1e-3 and 0.3: n q +- 5 sqrt(n q (1 - q)) losses, and of
 * two neighbours both with q^2. Neighbouring pairs overlap: the variance of their number is
 * n (q^2 (1 - q^2) + 2 (q^3 - q^4)).
 */
class IidTest : public TestCase
{
  public:
    explicit IidTest(double loss)
        : TestCase("Independent loss of " + std::to_string(loss)),
          m_loss(loss)
    {
    }

  private:
    void DoRun() override
    {
        auto model = CreateObject<IidLossModel>();
        model->SetLossRate(m_loss);
        model->AssignStreams(1);
        const double n = 1e7;
        const double q = m_loss;
        Tally tally(*model, static_cast<uint64_t>(n));
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(tally.lost),
                                  n * q,
                                  5 * std::sqrt(n * q * (1 - q)),
                                  "loss rate");
        double variance = q * q * (1 - q * q) + 2 * (q * q * q - q * q * q * q);
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(tally.pairs),
                                  n * q * q,
                                  5 * std::sqrt(n * variance),
                                  "losses in a row");
    }

    double m_loss;
};

/**
 * Gilbert's wire: all packets lost in the bad state, none in the good one; p = 1e-3, r = 0.1.
 *
 * Loss rate q = p / (p + r) = 1/101. Indicators of loss j packets apart have covariance
 * q (1 - q) (1 - p - r)^j, so n packets have n q +- sqrt(n q (1 - q) (1 + 2 l / (1 - l))) losses
 * with l = 1 - p - r = 0.899: the square root has a factor 18.8, and with n = 10^7 one standard
 * deviation is 1.37 % of n q.
 *
 * A burst lasts 1 / r = 10 packets, geometric with variance (1 - r) / r^2 = 90. Lengths of bursts
 * are independent; there are n q r of them, 9,900: their mean is 10 +- sqrt(90 / 9,900) = 0.095.
 * Losses and pairs of losses give it: every burst has one pair less than losses.
 */
class GilbertTest : public TestCase
{
  public:
    GilbertTest()
        : TestCase("Gilbert: loss rate and length of bursts")
    {
    }

  private:
    void DoRun() override
    {
        auto model = CreateObjectWithAttributes<GilbertElliottLossModel>("GoodToBad",
                                                                         DoubleValue(1e-3),
                                                                         "BadToGood",
                                                                         DoubleValue(0.1));
        model->AssignStreams(1);
        const double n = 1e7;
        const double q = 1e-3 / 0.101;
        const double l = 1 - 0.101;
        Tally tally(*model, static_cast<uint64_t>(n));
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(tally.lost),
                                  n * q,
                                  5 * std::sqrt(n * q * (1 - q) * (1 + 2 * l / (1 - l))),
                                  "loss rate");
        const double bursts = static_cast<double>(tally.lost - tally.pairs);
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(tally.lost) / bursts,
                                  10.0,
                                  5 * std::sqrt(90.0 / bursts),
                                  "mean burst");
    }
};

/**
 * Elliott's wire loses some packets in the good state (g) and spares some in the bad one (1 - b).
 *
 * Loss rate q = pG g + pB b; two neighbours are both lost with
 * q2 = pG g (g (1-p) + b p) + pB b (b (1-r) + g r). What is counted in batches of 10^5 packets,
 * which is long against the memory of the wire (1 / (p + r) <= 400 packets), is independent from
 * batch to batch: means over 200 batches are within 5 standard errors, as found from the batches.
 */
class ElliottTest : public TestCase
{
  public:
    ElliottTest(double p, double r, double g, double b)
        : TestCase("Elliott: p " + std::to_string(p) + ", r " + std::to_string(r) + ", losses " +
                   std::to_string(g) + " and " + std::to_string(b)),
          m_p(p),
          m_r(r),
          m_g(g),
          m_b(b)
    {
    }

  private:
    void DoRun() override
    {
        auto model = CreateObject<GilbertElliottLossModel>();
        model->SetGoodToBad(m_p);
        model->SetBadToGood(m_r);
        model->SetLossInGood(m_g);
        model->SetLossInBad(m_b);
        model->AssignStreams(7);
        const uint32_t batches = 200;
        const uint64_t size = 100'000;
        std::array<double, 2> sum{};
        std::array<double, 2> squares{};
        for (uint32_t i = 0; i < batches; ++i)
        {
            Tally tally(*model, size);
            const std::array<double, 2> share{static_cast<double>(tally.lost) / size,
                                              static_cast<double>(tally.pairs) / (size - 1)};
            for (size_t k = 0; k < 2; ++k)
            {
                sum[k] += share[k];
                squares[k] += share[k] * share[k];
            }
        }
        const double good = m_r / (m_p + m_r);
        const double bad = m_p / (m_p + m_r);
        const std::array<double, 2> expected{good * m_g + bad * m_b,
                                             good * m_g * (m_g * (1 - m_p) + m_b * m_p) +
                                                 bad * m_b * (m_b * (1 - m_r) + m_g * m_r)};
        for (size_t k = 0; k < 2; ++k)
        {
            const double mean = sum[k] / batches;
            const double variance = squares[k] / batches - mean * mean;
            const double error = std::sqrt(variance / (batches - 1));
            NS_TEST_ASSERT_MSG_LT(error, 0.05 * expected[k], "the bound says something");
            NS_TEST_ASSERT_MSG_EQ_TOL(mean,
                                      expected[k],
                                      5 * error,
                                      (k == 0 ? "loss rate" : "two in a row"));
        }
    }

    double m_p;
    double m_r;
    double m_g;
    double m_b;
};

/// Where nothing is random: p = r = 1 loses every other packet; p = 0 keeps the wire good.
class CertainTest : public TestCase
{
  public:
    CertainTest()
        : TestCase("Probabilities of 0 and 1")
    {
    }

  private:
    void DoRun() override
    {
        auto model = CreateObject<GilbertElliottLossModel>();
        model->SetGoodToBad(1);
        model->SetBadToGood(1);
        model->AssignStreams(1);
        Tally alternating(*model, 1000);
        NS_TEST_ASSERT_MSG_EQ(alternating.lost, 500, "every other packet");
        NS_TEST_ASSERT_MSG_EQ(alternating.pairs, 0, "never two in a row");
        model->SetGoodToBad(0);
        NS_TEST_ASSERT_MSG_EQ(Tally(*model, 1000).lost, 0, "always good");
        model->SetLossInGood(1);
        NS_TEST_ASSERT_MSG_EQ(Tally(*model, 1000).pairs, 999, "all lost");
        model->SetBadToGood(0); // with p = 0 as well it starts good and stays so
        model->SetLossInGood(0);
        NS_TEST_ASSERT_MSG_EQ(Tally(*model, 1000).lost, 0, "good for ever");
        model->SetGoodToBad(1); // bad from the first packet on: the stationary state
        NS_TEST_ASSERT_MSG_EQ(Tally(*model, 1000).lost, 1000, "bad for ever");
        model->SetLossInBad(0);
        NS_TEST_ASSERT_MSG_EQ(Tally(*model, 1000).lost, 0, "no loss in either state");
    }
};

/// Two NICs back to back over a wire with the given loss; 20 MB one way, or as many bytes as asked.
struct LossyRun
{
    LossyRun(const std::string& lossModel,
             int64_t stream,
             double lossRate = 0,
             uint64_t bytes = 20'000'000)
    {
        Config::SetDefault("ns3::FabricWire::LossModel", StringValue(lossModel));
        FabricHelper fabric;
        UseHpccSizes(fabric);
        Ptr<RdmaNic> a = fabric.AddNic(fabric.AddHost());
        Ptr<RdmaNic> b = fabric.AddNic(fabric.AddHost());
        Ptr<FabricWire> wire =
            fabric.ConnectPorts(a, b, DataRate("100Gbps"), MicroSeconds(1), lossRate);
        Config::SetDefault("ns3::FabricWire::LossModel", StringValue(""));
        fabric.InstallRoutes();
        fabric.AssignStreams(stream);
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(3)); // 33 us
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1000));
        b->TraceConnectWithoutContext("Drop", MakeCallback(&LossyRun::NoteDrop, this));
        auto connection = fabric.CreateConnection(a, b);
        log.Watch(connection);
        connection->Send(Bytes(bytes), 0);
        Simulator::Run();
        lost = wire->GetLost();
        retransmissions = a->GetRetransmissions();
        ackLosses = lost - psns.size();
        balanced = CheckConservation(fabric).inFlight == 0;
        Simulator::Destroy();
    }

    void NoteDrop(const FabricPacket& packet, DropReason reason)
    {
        if (reason == DropReason::WireLoss)
        {
            psns.push_back(packet.psn);
        }
    }

    Log log;
    std::vector<uint64_t> psns; //!< of lost data packets
    uint64_t lost{0};
    uint64_t retransmissions{0};
    uint64_t ackLosses{0};
    bool balanced{false};
};

/**
 * On a wire: LossRate is the short form of IidLossModel to the bit; streams decide; a Gilbert wire
 * loses bursts, in both directions, and everything arrives all the same.
 *
 * p = 1e-3, r = 0.2: 20,000 data packets (and those repeated) meet about 20 bursts of 5 packets on
 * average. Within a burst go-back-N does not act, so lost PSNs are consecutive: at least half of
 * the losses follow the one before (expected 1 - r = 0.8).
 */
class WireTest : public TestCase
{
  public:
    WireTest()
        : TestCase("Loss models on a wire")
    {
    }

  private:
    void DoRun() override
    {
        LossyRun shortForm("", 5, 1e-3);
        LossyRun longForm("ns3::IidLossModel[LossRate=1e-3]", 5);
        NS_TEST_ASSERT_MSG_GT(shortForm.lost, 5, "losses");
        NS_TEST_ASSERT_MSG_EQ((shortForm.psns == longForm.psns), true, "the same packets");
        NS_TEST_ASSERT_MSG_EQ((shortForm.log.completed == longForm.log.completed), true, "times");

        const std::string bursts = "ns3::GilbertElliottLossModel[GoodToBad=1e-3|BadToGood=0.2]";
        LossyRun gilbert(bursts, 5);
        uint64_t consecutive = 0;
        for (size_t i = 1; i < gilbert.psns.size(); ++i)
        {
            consecutive += gilbert.psns[i] == gilbert.psns[i - 1] + 1 ? 1 : 0;
        }
        NS_TEST_ASSERT_MSG_GT(gilbert.psns.size(), 30, "data is lost");
        NS_TEST_ASSERT_MSG_GT(gilbert.ackLosses, 10, "ACKs are lost");
        NS_TEST_ASSERT_MSG_GT(2 * consecutive, gilbert.psns.size(), "in bursts");
        NS_TEST_ASSERT_MSG_EQ(gilbert.log.completed.size(), 1, "everything arrives");
        NS_TEST_ASSERT_MSG_EQ(gilbert.balanced, true, "conserved");

        LossyRun again(bursts, 5);
        NS_TEST_ASSERT_MSG_EQ((again.psns == gilbert.psns), true, "same streams, same losses");
        LossyRun other(bursts, 6);
        NS_TEST_ASSERT_MSG_EQ((other.psns == gilbert.psns), false, "other streams, others");
    }
};

/**
 * Bursts of 10 packets at a loss rate of 1e-3 against independent losses at 1e-3, 300 MB = 300,000
 * packets: 300 losses one by one, or 30 bursts. Go-back-N repeats what has been sent between a loss
 * and the NAK, 2 us and some packets: about 26 of them, once for each gap. So bursts cost a tenth
 * of the retransmissions (and those of the burst itself, which are among the 26); with the
 * randomness of 30 bursts, 1 / sqrt(30) = 18 %, less than a fifth.
 *
 * Stationary: p / (p + r) = 1e-3 with r = 0.1 gives p = 1.001e-4.
 */
class BurstCostTest : public TestCase
{
  public:
    BurstCostTest()
        : TestCase("Go-back-N pays once for a burst")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t bytes = 300'000'000;
        LossyRun single("ns3::IidLossModel[LossRate=1e-3]", 5, 0, bytes);
        LossyRun bursts("ns3::GilbertElliottLossModel[GoodToBad=1.001e-4|BadToGood=0.1]",
                        5,
                        0,
                        bytes);
        // About as many losses: 300 +- 17 and 300 +- 76 (30 bursts of 10 +- 9.5), of data alone.
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(single.psns.size()), 300, 4 * 17, "single");
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(bursts.psns.size()), 300, 4 * 76, "bursts");
        NS_TEST_ASSERT_MSG_GT(bursts.psns.size(), 100, "bursts");
        NS_TEST_ASSERT_MSG_GT(single.retransmissions, 300 * 20, "a round trip for each loss");
        NS_TEST_ASSERT_MSG_LT(5 * bursts.retransmissions, single.retransmissions, "for each burst");
        NS_TEST_ASSERT_MSG_LT(bursts.log.LastCompletion(), single.log.LastCompletion(), "sooner");
    }
};

/// What is no loss model is refused with the allowed values.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Descriptions that are refused")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_NE(Refusal("ns3::Nothing").find("ns3::Nothing"), std::string::npos, "");
        NS_TEST_ASSERT_MSG_NE(Refusal("ns3::FabricWire"), "", "not a loss model");
        NS_TEST_ASSERT_MSG_NE(Refusal("ns3::FabricLossModel"), "", "abstract");
        NS_TEST_ASSERT_MSG_NE(Refusal("ns3::IidLossModel[Rate=0.1]"), "", "no such attribute");
        NS_TEST_ASSERT_MSG_NE(Refusal("ns3::IidLossModel[LossRate=2]"), "", "out of range");
        NS_TEST_ASSERT_MSG_EQ(Refusal("ns3::IidLossModel"), "", "allowed");
        NS_TEST_ASSERT_MSG_EQ(Refusal("ns3::IidLossModel[LossRate=0.5]"), "", "allowed");

        auto wire = CreateObject<FabricWire>();
        auto model = CreateObject<IidLossModel>();
        wire->SetLossModel(0, model);
        std::string text;
        try
        {
            wire->SetLossModel(1, model);
        }
        catch (const scaleacross::ConfigError& error)
        {
            text = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(text.find("share"), std::string::npos, "one model, two directions");
        wire->SetLossRate(0.25);
        NS_TEST_ASSERT_MSG_EQ(wire->GetLossRate(), 0.25, "the last one counts");
        NS_TEST_ASSERT_MSG_NE(wire->GetLossModel(0), model, "another model");
        wire->SetLossModels("ns3::GilbertElliottLossModel");
        NS_TEST_ASSERT_MSG_EQ(wire->GetLossRate(), 0, "not independent any more");
        NS_TEST_ASSERT_MSG_NE(wire->GetLossModel(0), wire->GetLossModel(1), "one each");
    }

    static std::string Refusal(const std::string& description)
    {
        try
        {
            CreateObject<FabricWire>()->SetLossModels(description);
        }
        catch (const scaleacross::ConfigError& error)
        {
            return error.what();
        }
        return "";
    }
};

/**
 * Packets before a loss are left out: the same later packets are lost, as the gaps are those that
 * were drawn. If the first losses are packets a, b, c, ... of a model, and of one that draws the
 * same the first packet is asked about and n of the a - 1 others are left out, they are a - n, b -
 * n, c - n, ...; and if m are left out before the second, c - n - m follows.
 */
class LeaveOutTest : public TestCase
{
  public:
    LeaveOutTest()
        : TestCase("Packets that nobody sends are not lost, and those after them are")
    {
    }

  private:
    /// The next packet that is lost, the first one being 0; `asked` have been asked about so far.
    static uint64_t NextLoss(FabricLossModel& model, uint64_t& asked)
    {
        while (!model.IsLost(FabricPacket{}))
        {
            ++asked;
        }
        return asked++;
    }

    void Check(const Ptr<FabricLossModel>& model)
    {
        std::vector<uint64_t> losses;
        uint64_t asked = 0;
        model->AssignStreams(1);
        for (int i = 0; i < 4; ++i)
        {
            losses.push_back(NextLoss(*model, asked));
        }
        NS_TEST_ASSERT_MSG_GT(losses[0], 10, "or there is nothing to be left out");
        NS_TEST_ASSERT_MSG_GT(losses[2] - losses[1], 10, "likewise");

        model->AssignStreams(1);
        NS_TEST_EXPECT_MSG_EQ(model->Passing(), 0, "nothing is drawn");
        asked = 1;
        NS_TEST_ASSERT_MSG_EQ(model->IsLost(FabricPacket{}), false, "");
        NS_TEST_EXPECT_MSG_EQ(model->Passing(), losses[0] - 1, "");
        const uint64_t n = losses[0] / 2;
        model->LeaveOut(n);
        NS_TEST_EXPECT_MSG_EQ(NextLoss(*model, asked), losses[0] - n, "");
        NS_TEST_EXPECT_MSG_EQ(NextLoss(*model, asked), losses[1] - n, "");
        const uint64_t m = losses[2] - losses[1] - 1;
        NS_TEST_EXPECT_MSG_EQ(model->Passing(), m, "");
        model->LeaveOut(m);
        NS_TEST_EXPECT_MSG_EQ(model->IsLost(FabricPacket{}), true, "the next one at once");
        asked++;
        NS_TEST_EXPECT_MSG_EQ(NextLoss(*model, asked), losses[3] - n - m, "");
        NS_TEST_EXPECT_MSG_EQ(model->Losses(), 8, "four before, four after");
        model->Dispose();
    }

    void DoRun() override
    {
        auto iid = CreateObject<IidLossModel>();
        iid->SetLossRate(1e-3);
        Check(iid);
        Check(CreateObjectWithAttributes<GilbertElliottLossModel>("GoodToBad",
                                                                  DoubleValue(1e-3),
                                                                  "BadToGood",
                                                                  DoubleValue(0.9)));
    }
};

class LossModelSuite : public TestSuite
{
  public:
    LossModelSuite()
        : TestSuite("scaleacross-loss-model")
    {
        AddTestCase(new IidTest(1e-3));
        AddTestCase(new IidTest(0.3));
        AddTestCase(new GilbertTest);
        AddTestCase(new ElliottTest(0.01, 0.05, 0.02, 0.5));
        AddTestCase(new ElliottTest(0.002, 0.0005, 0.1, 0.01));
        AddTestCase(new CertainTest);
        AddTestCase(new LeaveOutTest);
        AddTestCase(new WireTest);
        AddTestCase(new BurstCostTest);
        AddTestCase(new RefusalTest);
    }
};

LossModelSuite g_lossModelSuite;

} // namespace
