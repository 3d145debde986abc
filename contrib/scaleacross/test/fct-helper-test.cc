// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "core/work/traffic/flow-sizes.h"
#include "fabric-test.h"

#include "ns3/fabric-fct-helper.h"
#include "ns3/ideal-time.h"
#include "ns3/rdma-traffic-application.h"
#include "ns3/rdma-traffic-helper.h"

#include <cmath>
#include <fstream>
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
        for (const char* text : {"bytes,cumulative_probability\n0,0\n100,0.5\n",
                                 "bytes,cumulative_probability\n0,0\n0,1\n",
                                 "bytes,cumulative_probability\n0,0.5\n1,1\n",
                                 "bytes,cumulative_probability\n0,0\nx,1\n",
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

class FctHelperSuite : public TestSuite
{
  public:
    FctHelperSuite()
        : TestSuite("scaleacross-fct-helper")
    {
        AddTestCase(new StoreAndForwardTest);
        AddTestCase(new FctFileTest);
        AddTestCase(new FlowSizesTest);
        AddTestCase(new TrafficTest);
    }
};

FctHelperSuite g_fctHelperSuite;

} // namespace
