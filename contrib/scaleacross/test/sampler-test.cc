// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/fabric-building-helper.h"
#include "ns3/fabric-sampler.h"
#include "ns3/string.h"

#include <fstream>
#include <map>
#include <sstream>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;

namespace
{

std::string
ReadAll(const std::string& name)
{
    std::ifstream file(name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The rows of a CSV file without its two lines of head.
std::vector<std::vector<std::string>>
Rows(const std::string& text)
{
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    while (std::getline(lines, line))
    {
        rows.emplace_back();
        std::istringstream fields(line);
        std::string field;
        while (std::getline(fields, field, ','))
        {
            rows.back().push_back(field);
        }
    }
    return rows;
}

/**
 * One flow of 1,000 packets of 1,000 + 48 bytes, D = 83.84 ns at 100 Gb/s, over a switch and two
 * wires of 1 us, from time zero on. At a time t up to 83.84 us floor(t / D) + 1 packets have
 * started, and the line has always been busy; floor((t - 2 us - 2 D) / D) + 1 have been delivered.
 * From 80 to 90 us the line is busy for 3.84 us. Samples every 10 us hit no arrival: 10 k - 2 is no
 * multiple of 131, the large prime in 83,840, for k up to 10.
 */
class SampledFlowTest : public TestCase
{
  public:
    SampledFlowTest()
        : TestCase("Samples of a flow and its port, as computed by hand")
    {
    }

  private:
    static constexpr int64_t kData = 83'840;

    void DoRun() override
    {
        const std::string prefix = CreateTempDirFilename("flow");
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        connection->Send(Bytes(1'000'000), 0);
        FabricSampler sampler(fabric);
        sampler.AddPort(fabric.Nics()[0]);
        sampler.AddConnection(connection);
        sampler.Start(prefix, MicroSeconds(10), MicroSeconds(100));
        const std::string name = fabric.Nics()[0]->Describe();
        Simulator::Run();
        Simulator::Destroy();

        const auto ports = Rows(ReadAll(prefix + "-ports.csv"));
        const auto flows = Rows(ReadAll(prefix + "-flows.csv"));
        NS_TEST_ASSERT_MSG_EQ(ports.size(), 10, "samples of the port");
        NS_TEST_ASSERT_MSG_EQ(flows.size(), 10, "samples of the flow");
        int64_t before = 0;
        for (int64_t i = 0; i < 10; ++i)
        {
            const auto& port = ports[static_cast<size_t>(i)];
            const auto& flow = flows[static_cast<size_t>(i)];
            const int64_t time = (i + 1) * 10'000'000;
            const int64_t started = std::min<int64_t>(time / kData + 1, 1000);
            const int64_t delivered =
                std::min<int64_t>((time - 2'000'000 - 2 * kData) / kData + 1, 1000) * 1000;
            const double busy = i < 8 ? 1.0 : i == 8 ? 0.384 : 0.0;
            NS_TEST_EXPECT_MSG_EQ(port.at(0), std::to_string(time), "time");
            NS_TEST_EXPECT_MSG_EQ(port.at(1), name, "port");
            NS_TEST_EXPECT_MSG_EQ(port.at(2), "0", "a NIC queues no data");
            NS_TEST_EXPECT_MSG_EQ(port.at(3), "0", "nothing is stopped");
            NS_TEST_EXPECT_MSG_EQ(port.at(4), std::to_string(started * 1048), "sent by " << time);
            NS_TEST_EXPECT_MSG_EQ(port.at(5), "0", "nothing is marked");
            NS_TEST_EXPECT_MSG_EQ_TOL(std::stod(port.at(6)), busy, 1e-9, "utilisation at " << time);
            NS_TEST_EXPECT_MSG_EQ(port.at(8), name + " to node 0", "no building, no role");
            NS_TEST_EXPECT_MSG_EQ(port.at(9), "0", "pauses sent");
            NS_TEST_EXPECT_MSG_EQ(port.at(10), "0", "pauses received");
            NS_TEST_EXPECT_MSG_EQ(flow.at(2), std::to_string(delivered), "delivered by " << time);
            // Six digits are written.
            const double rate = static_cast<double>(delivered - before) * 8 / 10e-6;
            NS_TEST_EXPECT_MSG_EQ_TOL(std::stod(flow.at(4)), rate, rate * 1e-5, "goodput");
            NS_TEST_EXPECT_MSG_EQ(flow.at(7), "0", "retransmissions");
            before = delivered;
        }
    }
};

/**
 * Samples of everything in an incast with pauses: the same bytes in the files whether switches run
 * ahead or not, with a period far below the windows and far above, and no message is delivered at
 * another time than without samples.
 */
class SampledIncastTest : public TestCase
{
  public:
    SampledIncastTest()
        : TestCase("Samples change nothing, and do not depend on the engine")
    {
    }

  private:
    /// Longer than the run: 7 x 300,000 bytes and 1 in 20 of headers take 176 us at 100 Gb/s.
    const Time kSampled = MicroSeconds(250);

    struct Result
    {
        std::vector<Event> delivered;
        std::string ports;
        std::string flows;
    };

    Result RunOnce(bool ahead, Time period)
    {
        const std::string prefix = CreateTempDirFilename("incast");
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetSwitchAttribute("BufferSize", UintegerValue(1'000'000));
        fabric.SetSwitchAttribute("LookAhead", BooleanValue(ahead));
        fabric.SetNicAttribute("LookAhead", BooleanValue(ahead));
        BuildStar(fabric, 8, "100Gbps", MicroSeconds(1));
        Log log;
        for (uint32_t i = 0; i < 7; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[7]);
            log.Watch(connection);
            connection->Send(Bytes(300'000), i);
        }
        FabricSampler sampler(fabric);
        Result result;
        if (!period.IsZero())
        {
            sampler.AddAll();
            sampler.Start(prefix, period, kSampled);
        }
        Simulator::Run();
        Simulator::Destroy();
        result.delivered = log.delivered;
        if (!period.IsZero())
        {
            result.ports = ReadAll(prefix + "-ports.csv");
            result.flows = ReadAll(prefix + "-flows.csv");
        }
        return result;
    }

    /// All of a run is over by the last sample: what the switch has sent, the NIC has received, an
    /// even number, as each stop is followed by a resume; a NIC pauses nobody.
    void ExpectPauses(const std::map<std::string, std::pair<std::string, std::string>>& pauses,
                      const std::string& nic,
                      const std::string& centre)
    {
        const auto& ofNic = pauses.at(nic + " to " + centre);
        const auto& ofSwitch = pauses.at(centre + " to " + nic);
        NS_TEST_EXPECT_MSG_EQ(ofNic.first, "0", "sent by a NIC");
        NS_TEST_EXPECT_MSG_EQ(ofSwitch.second, "0", "received from it");
        NS_TEST_EXPECT_MSG_EQ(ofNic.second, ofSwitch.first, "none is lost");
        NS_TEST_EXPECT_MSG_GT(std::stoul(ofNic.second), 0, "some");
    }

    void DoRun() override
    {
        const Result plain = RunOnce(false, Time(0));
        // 10.007 us and 0.307 us, so that samples meet no arrival.
        for (Time period : {NanoSeconds(10'007), NanoSeconds(307)})
        {
            const Result exact = RunOnce(false, period);
            const Result ahead = RunOnce(true, period);
            NS_TEST_ASSERT_MSG_EQ((exact.delivered == plain.delivered), true, "exact");
            NS_TEST_ASSERT_MSG_EQ((ahead.delivered == plain.delivered), true, "ahead");
            NS_TEST_ASSERT_MSG_EQ((ahead.ports == exact.ports), true, "ports");
            NS_TEST_ASSERT_MSG_EQ((ahead.flows == exact.flows), true, "flows");
            const auto rows = Rows(exact.ports);
            // 8 ports of the switch and 8 NICs.
            const int64_t samples = kSampled.GetPicoSeconds() / period.GetPicoSeconds();
            NS_TEST_ASSERT_MSG_EQ(rows.size(), static_cast<size_t>(16 * samples), "rows");
            bool stopped = false;
            std::map<std::string, std::pair<std::string, std::string>> pauses; // by name, the last
            for (const auto& row : rows)
            {
                stopped = stopped || (row.at(3) == "8" && std::stod(row.at(7)) > 0);
                pauses[row.at(8)] = {row.at(9), row.at(10)};
            }
            NS_TEST_ASSERT_MSG_EQ(stopped, true, "priority 3 was seen stopped");
            NS_TEST_ASSERT_MSG_EQ(pauses.size(), 16, "each port has a name of its own");
            ExpectPauses(pauses, "node 1 port 0", "node 0");
        }
    }
};

/// A window of 64,000 bytes is 64 packets of 1,000; a connection of two queue pairs has two of
/// them, and one without a window no limit. Those that come after AddAll are sampled under their
/// labels.
class SampledWindowTest : public TestCase
{
  public:
    SampledWindowTest()
        : TestCase("Windows of connections that come later")
    {
    }

  private:
    void DoRun() override
    {
        const std::string prefix = CreateTempDirFilename("window");
        FabricHelper fabric;
        UseHpccSizes(fabric);
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        {
            FabricSampler gone(fabric); // which nobody tells any more
            gone.AddAll();
        }
        FabricSampler sampler(fabric);
        sampler.AddAll();
        sampler.Start(prefix, MicroSeconds(10), MicroSeconds(10));
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        fabric.SetQueuePairAttribute("Window", UintegerValue(64'000));
        fabric.SetConnectionAttribute("QueuePairs", UintegerValue(2));
        fabric.SetConnectionAttribute("Label", StringValue("two"));
        fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        Simulator::Run();
        Simulator::Destroy();
        const auto flows = Rows(ReadAll(prefix + "-flows.csv"));
        NS_TEST_ASSERT_MSG_EQ(flows.size(), 2, "both");
        NS_TEST_EXPECT_MSG_EQ(flows[0].at(8), "", "no limit");
        NS_TEST_EXPECT_MSG_EQ(flows[1].at(8), "128", "two windows");
        NS_TEST_EXPECT_MSG_EQ(flows[1].at(9), "two", "label");
    }
};

/**
 * Two buildings of two servers with one NIC each behind a leaf and a spine, and a span: NICs and
 * switches are named by building, role and number, ports by what is at the other end.
 */
class SampledNamesTest : public TestCase
{
  public:
    SampledNamesTest()
        : TestCase("Ports are named by building, role and peer")
    {
    }

  private:
    void DoRun() override
    {
        const std::string prefix = CreateTempDirFilename("names");
        FabricHelper fabric;
        FabricBuildingHelper buildings;
        buildings.SetSpanPfc(false);
        buildings.AddBuilding(2, 1, DataRate("100Gbps"));
        buildings.AddBuilding(2, 1, DataRate("100Gbps"));
        buildings.AddSpan(0, 1, DataRate("100Gbps"), MicroSeconds(50));
        buildings.Install(fabric);
        FabricSampler sampler(fabric);
        sampler.AddAll();
        fabric.SetName(fabric.Nics()[3], "mine, \"the last\"");
        sampler.Start(prefix, MicroSeconds(1), MicroSeconds(1));
        Simulator::Run();
        Simulator::Destroy();
        const std::string file = ReadAll(prefix + "-ports.csv");
        for (const std::string name : {"building0/nic0 to building0/leaf0",
                                       "building0/leaf0 to building0/nic0",
                                       "building0/leaf0 to building0/spine0",
                                       "building0/spine0 to building1/spine0",
                                       "building1/spine0 to building1/leaf0",
                                       "building1/nic0 to building1/leaf0",
                                       "\"mine, \"\"the last\"\" to building1/leaf0\""})
        {
            NS_TEST_EXPECT_MSG_NE(file.find("," + name + ",0,0\n"), std::string::npos, name);
        }
    }
};

class SamplerMisuseTest : public TestCase
{
  public:
    SamplerMisuseTest()
        : TestCase("A period of zero and a file that cannot be written are refused")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        for (bool noPeriod : {true, false})
        {
            FabricSampler sampler(fabric);
            sampler.AddAll();
            bool refused = false;
            try
            {
                sampler.Start("/nowhere/at-all", noPeriod ? Time(0) : Time(1), MicroSeconds(1));
            }
            catch (const ConfigError&)
            {
                refused = true;
            }
            NS_TEST_ASSERT_MSG_EQ(refused, true, "refused");
        }
        Simulator::Destroy();
    }
};

class SamplerSuite : public TestSuite
{
  public:
    SamplerSuite()
        : TestSuite("scaleacross-sampler")
    {
        AddTestCase(new SampledFlowTest);
        AddTestCase(new SampledIncastTest);
        AddTestCase(new SampledWindowTest);
        AddTestCase(new SampledNamesTest);
        AddTestCase(new SamplerMisuseTest);
    }
};

SamplerSuite g_samplerSuite;

} // namespace
