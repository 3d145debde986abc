// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/work/traffic/flow-sizes.h"
#include "fabric-test.h"

#include "ns3/fabric-fct-helper.h"
#include "ns3/ideal-time.h"
#include "ns3/rdma-traffic-application.h"
#include "ns3/rdma-traffic-helper.h"
#include "ns3/string.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::FlowSizes;

namespace
{

/// The closed form against D(i, k) packet by packet, with links in every order of speeds.
class StoreAndForwardTest : public TestCase
{
  public:
    StoreAndForwardTest()
        : TestCase("The closed form of store and forward is the recurrence")
    {
    }

  private:
    static double ByRecurrence(const std::vector<IdealLink>& path, const std::vector<double>& sizes)
    {
        std::vector<double> left(path.size(), 0);
        double delays = 0;
        for (const double size : sizes)
        {
            double before = 0;
            for (size_t i = 0; i < path.size(); ++i)
            {
                before = left[i] = std::max(before, left[i]) + size * 8 / path[i].rate;
            }
        }
        for (const IdealLink& link : path)
        {
            delays += link.delay;
        }
        return left.back() + delays;
    }

    void DoRun() override
    {
        const double rates[] = {25e9, 100e9, 400e9};
        for (uint32_t draw = 0; draw < 27; ++draw)
        {
            const std::vector<IdealLink> path{{rates[draw % 3], 1e-6},
                                              {rates[draw / 3 % 3], 2e-6},
                                              {rates[draw / 9 % 3], 1e-3}};
            for (const uint64_t middle : {0, 1, 2, 50})
            {
                std::vector<double> sizes{4194};
                sizes.insert(sizes.end(), middle, 4178);
                sizes.push_back(90);
                NS_TEST_ASSERT_MSG_EQ_TOL(StoreAndForwardTime(path, 4194, middle, 4178, 90),
                                          ByRecurrence(path, sizes),
                                          1e-15,
                                          "the same time");
            }
        }
        // 2 us + 4 x 83.84 ns, as the page says.
        const std::vector<IdealLink> two{{100e9, 1e-6}, {100e9, 1e-6}};
        NS_TEST_ASSERT_MSG_EQ_TOL(StoreAndForwardTime(two, 1048, 1, 1048, 1048),
                                  2.33536e-6,
                                  1e-15,
                                  "the worked case");
    }
};

/**
 * A message alone takes the ideal time, over links of different rates, with whole and partial last
 * packets; of two at once to one NIC over a queue each takes its time longer. The file says so.
 */
class FctFileTest : public TestCase
{
  public:
    FctFileTest()
        : TestCase("A message alone has a slowdown of 1, and the file has a row of it")
    {
    }

  private:
    void DoRun() override
    {
        const std::string file = CreateTempDirFilename("fct.csv");
        FabricHelper fabric;
        const auto left = fabric.AddSwitch();
        const auto right = fabric.AddSwitch();
        fabric.Connect(fabric.AddNic(fabric.AddHost()), left, DataRate("100Gbps"), MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()),
                       right,
                       DataRate("400Gbps"),
                       MicroSeconds(1));
        fabric.Connect(left, right, DataRate("40Gbps"), MicroSeconds(100));
        fabric.InstallRoutes();
        FabricFctHelper fct(fabric);
        fct.Enable(file);
        const std::vector<uint64_t> sizes{1, 4096, 4097, 10'000, 1'000'000};
        const auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        for (size_t i = 0; i < sizes.size(); ++i)
        {
            Simulator::Schedule(MilliSeconds(10 * i), [connection, size = sizes[i], i] {
                connection->Send(Bytes(size), i);
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(fct.GetDelivered(), sizes.size(), "all are written");
        NS_TEST_ASSERT_MSG_EQ(fct.GetUnfinished(), 0, "none is left");
        fct.Close();
        Simulator::Destroy();

        std::ifstream in(file);
        std::string line;
        std::getline(in, line);
        NS_TEST_ASSERT_MSG_EQ(line.front(), '#', "a comment");
        std::getline(in, line);
        NS_TEST_ASSERT_MSG_EQ(
            line,
            "start_ps,fct_ps,bytes,ideal_ps,slowdown,source,destination,label,tag",
            "the columns");
        for (size_t i = 0; i < sizes.size(); ++i)
        {
            int64_t start = 0;
            int64_t took = 0;
            uint64_t bytes = 0;
            int64_t ideal = 0;
            char comma = 0;
            in >> start >> comma >> took >> comma >> bytes >> comma >> ideal;
            std::getline(in, line);
            NS_TEST_ASSERT_MSG_EQ(bytes, sizes[i], "in their order");
            NS_TEST_ASSERT_MSG_EQ(start, static_cast<int64_t>(i) * 10'000'000'000, "from Send");
            NS_TEST_ASSERT_MSG_EQ_TOL(took, ideal, 3 + Rounding(3), "alone it takes the least");
        }
    }
};

/**
 * The file of two connections between the same NICs, of which one has two queue pairs and so a
 * lower ideal: store and forward counts the first and last link only. A label with a comma and
 * quotation marks is one field. Without a route there is no ideal, and nothing is noted after
 * Close. A first Enable that cannot write leaves a second one possible.
 */
class FctRowsTest : public TestCase
{
  public:
    FctRowsTest()
        : TestCase("Rows are of their own connection, and end with Close")
    {
    }

  private:
    void DoRun() override
    {
        const std::string file = CreateTempDirFilename("rows.csv");
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        const auto left = fabric.Nics()[0];
        const auto right = fabric.Nics()[1];
        const auto beyond = fabric.AddSwitch();
        fabric.Connect(fabric.Switches()[0], beyond, DataRate("1Gbps"), MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()),
                       beyond,
                       DataRate("100Gbps"),
                       MicroSeconds(1));
        fabric.InstallRoutes();
        const auto far = fabric.Nics()[2];
        FabricFctHelper fct(fabric);
        bool refused = false;
        try
        {
            fct.Enable(file + "/no/folder.csv");
        }
        catch (const scaleacross::ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "no folder");
        fct.Enable(file);
        fabric.SetConnectionAttribute("Label", StringValue("a, \"b\""));
        const auto one = fabric.CreateConnection(left, far);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        const auto two = fabric.CreateConnection(left, far);
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(1));
        const auto cut = fabric.CreateConnection(left, right);
        Simulator::Schedule(MilliSeconds(0), [one] { one->Send(Bytes(100'000), 0); });
        Simulator::Schedule(MilliSeconds(10), [two] { two->Send(Bytes(100'000), 1); });
        Simulator::Schedule(MilliSeconds(20), [cut, &fabric] {
            fabric.SetRoutes(std::vector<scaleacross::SwitchRoutes>(2));
            cut->Send(Bytes(1'000), 2);
            fabric.UpdateRoutes();
        });
        Simulator::Schedule(MilliSeconds(30), [cut, &fct] {
            fct.Close();
            cut->Send(Bytes(1'000), 3);
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(fct.GetDelivered(), 3, "before Close");
        NS_TEST_ASSERT_MSG_EQ(fct.GetUnfinished(), 0, "nothing is noted after it");
        const Time ideals[] = {IdealTime(*one, 100'000), IdealTime(*two, 100'000)};
        NS_TEST_ASSERT_MSG_LT(ideals[1], ideals[0], "two queue pairs have a lower bound");
        Simulator::Destroy();

        std::ifstream in(file);
        std::vector<std::string> rows;
        for (std::string line; std::getline(in, line);)
        {
            rows.push_back(line);
        }
        NS_TEST_ASSERT_MSG_EQ(rows.size(), 5, "a comment, the columns, three rows");
        for (size_t i = 0; i < 2; ++i)
        {
            const std::string ideal = ",100000," + std::to_string(ideals[i].GetPicoSeconds()) + ",";
            NS_TEST_ASSERT_MSG_NE(rows[2 + i].find(ideal), std::string::npos, rows[2 + i]);
            NS_TEST_ASSERT_MSG_NE(rows[2 + i].find(",\"a, \"\"b\"\"\","),
                                  std::string::npos,
                                  "quoted");
        }
        NS_TEST_ASSERT_MSG_NE(rows[4].find(",1000,,,"), std::string::npos, rows[4]);
    }
};

/// Means by hand: sums of (p_i - p_(i-1)) (b_i + b_(i-1)) / 2.
class FlowSizesTest : public TestCase
{
  public:
    FlowSizesTest()
        : TestCase("Published flow sizes have the means of their points")
    {
    }

  private:
    void DoRun() override
    {
        // .15 x 5,000 + .05 x 15,000 + .1 x 25,000 + .1 x 40,000 + .13 x 65,000 + .07 x 140,000
        // + .1 x 600,000 + .1 x 1,500,000 + .1 x 3,500,000 + .07 x 7,500,000 + .03 x 20,000,000
        NS_TEST_ASSERT_MSG_EQ_TOL(FlowSizes::Named("web-search").Mean(), 1'711'250, 1e-6, "");
        // .1 x (90 + 198 + 388 + 730 + 1,000 + 1,485 + 2,515 + 6,580 + 205,000)
        // + .05 x 1,780,000 + .03 x 51,580,000 + .02 x 550,000,000
        NS_TEST_ASSERT_MSG_EQ_TOL(FlowSizes::Named("data-mining").Mean(), 12'658'198.6, 1e-6, "");
        NS_TEST_ASSERT_MSG_EQ_TOL(
            FlowSizes::Parse("bytes,cumulative_probability\n0,0\n100,0.5\n300,1\n", "here").Mean(),
            125,
            1e-9,
            "the worked case");
        NS_TEST_ASSERT_MSG_EQ_TOL(
            FlowSizes::Parse("\xef\xbb\xbf"
                             "bytes,cumulative_probability\r\n0,0\r\n100,0.5\r\n300,1\r\n",
                             "here")
                .Mean(),
            125,
            1e-9,
            "as other programs write it");
        for (const char* text : {"bytes,cumulative_probability\n0,0\n100,0.5\n",
                                 "bytes,cumulative_probability\n0,0\n0,1\n",
                                 "bytes,cumulative_probability\n0,0.5\n1,1\n",
                                 "bytes,cumulative_probability\n0,0\n100,0\n200,1\n",
                                 "bytes,cumulative_probability\n0,0\n10,0.5\n20,0.5\n30,1\n",
                                 "bytes,cumulative_probability\n0,0\nx,1\n",
                                 "bytes,cumulative_probability\n0,0\n1e16,1\n",
                                 "size,p\n0,0\n1,1\n"})
        {
            bool refused = false;
            try
            {
                FlowSizes::Parse(text, "here");
            }
            catch (const scaleacross::ConfigError& error)
            {
                refused = error.Where().rfind("here", 0) == 0;
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, "refused: " << text);
        }
    }
};

/**
 * Poisson flows of one size, 10,000 bytes, at a load of 0.1 of 100 Gb/s: 125,000 a second and NIC,
 * so 4 x 125,000 x 0.02 = 10,000 flows in 20 ms from four NICs, with a standard deviation of 100;
 * five of them are allowed for. Each destination gets as many. The same streams give the same
 * flows.
 */
class TrafficTest : public TestCase
{
  public:
    TrafficTest()
        : TestCase("Background flows begin at the rate of their load")
    {
    }

  private:
    static std::vector<uint64_t> Run(int64_t stream)
    {
        FabricHelper fabric;
        BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
        RdmaTrafficHelper helper(
            FlowSizes::Parse("bytes,cumulative_probability\n9999.999,0\n10000.001,1\n", "test"),
            0.1);
        ApplicationContainer sources = helper.Install(fabric, fabric.Nics());
        RdmaTrafficHelper::AssignStreams(sources, stream);
        sources.Start(Time(0));
        sources.Stop(MilliSeconds(20));
        Simulator::Run();
        CheckConservation(fabric);
        std::vector<uint64_t> counts;
        for (uint32_t i = 0; i < sources.GetN(); ++i)
        {
            counts.push_back(DynamicCast<RdmaTrafficApplication>(sources.Get(i))->GetFlows());
        }
        for (const auto& nic : fabric.Nics())
        {
            counts.push_back(nic->GetDeliveredBytes());
        }
        Simulator::Destroy();
        return counts;
    }

    void DoRun() override
    {
        const std::vector<uint64_t> counts = Run(1);
        const uint64_t flows = counts[0] + counts[1] + counts[2] + counts[3];
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(flows), 10'000, 500, "flows");
        for (uint32_t i = 4; i < 8; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(counts[i]), 25e6, 5 * 0.5e6, "bytes");
        }
        NS_TEST_ASSERT_MSG_EQ((Run(1) == counts), true, "repeatable");
        NS_TEST_ASSERT_MSG_EQ((Run(100) == counts), false, "drawn");
    }
};

/// A wire of a star of two NICs breaks: what begins from then on fails, and is counted.
class FailedFlowsTest : public TestCase
{
  public:
    FailedFlowsTest()
        : TestCase("Background flows that fail are counted")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetQueuePairAttribute("RetryCount", UintegerValue(1));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        RdmaTrafficHelper helper(
            FlowSizes::Parse("bytes,cumulative_probability\n9999.999,0\n10000.001,1\n", "test"),
            0.1);
        helper.SetMaxFlows(3);
        ApplicationContainer sources = helper.Install(fabric, fabric.Nics());
        RdmaTrafficHelper::AssignStreams(sources, 1);
        fabric.Wires()[0]->SetUp(false);
        Simulator::Run();
        const auto source = DynamicCast<RdmaTrafficApplication>(sources.Get(0));
        NS_TEST_ASSERT_MSG_EQ(source->GetFlows(), 3, "begun");
        NS_TEST_ASSERT_MSG_EQ(source->GetFailed(), 3, "and failed");
        Simulator::Destroy();
    }
};

/// A helper that is gone before the run notes on; a source that is stopped before it starts is
/// still, and one that is stopped holds up no end.
class ScopeTest : public TestCase
{
  public:
    ScopeTest()
        : TestCase("Scopes and orders of calls")
    {
    }

  private:
    void DoRun() override
    {
        const std::string file = CreateTempDirFilename("scope.csv");
        auto built = std::make_unique<FabricHelper>();
        FabricHelper& fabric = *built;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        {
            FabricFctHelper fct(fabric);
            fct.Enable(file);
        }
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1])->Send(Bytes(1000), 7);
        RdmaTrafficHelper helper("hadoop", 1e-9); // a flow in more than an hour
        helper.Install(fabric, fabric.Nics()).Stop(MicroSeconds(10));
        RdmaTrafficHelper busy("hadoop", 0.5);
        ApplicationContainer early = busy.Install(fabric, fabric.Nics());
        early.Stop(MicroSeconds(1));
        early.Start(MicroSeconds(2));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_LT(Simulator::Now(), MilliSeconds(1), "the end of the message");
        Simulator::Destroy();
        built.reset();
        std::ifstream in(file);
        std::string line;
        int rows = 0;
        while (std::getline(in, line))
        {
            rows++;
        }
        NS_TEST_ASSERT_MSG_EQ(rows, 3, "a comment, the columns, a row");
    }
};

/// A sink may add others, of any number, which see the connections after that one.
class AddedSinksTest : public TestCase
{
  public:
    AddedSinksTest()
        : TestCase("Sinks of connections may add sinks")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        uint32_t seen = 0;
        fabric.AddConnectionSink([&fabric, &seen](const Ptr<RdmaConnection>&) {
            for (uint32_t i = 0; i < 100; ++i)
            {
                fabric.AddConnectionSink([&seen](const Ptr<RdmaConnection>&) { ++seen; });
            }
        });
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        NS_TEST_ASSERT_MSG_EQ(seen, 0, "not the one at hand");
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        NS_TEST_ASSERT_MSG_EQ(seen, 100, "the next one");
        Simulator::Destroy();
    }
};

class FctHelperSuite : public TestSuite
{
  public:
    FctHelperSuite()
        : TestSuite("scaleacross-fct-helper")
    {
        AddTestCase(new StoreAndForwardTest);
        AddTestCase(new FctFileTest);
        AddTestCase(new FctRowsTest);
        AddTestCase(new FlowSizesTest);
        AddTestCase(new FailedFlowsTest);
        AddTestCase(new AddedSinksTest);
        AddTestCase(new ScopeTest);
        AddTestCase(new TrafficTest);
    }
};

FctHelperSuite g_fctHelperSuite;

} // namespace
