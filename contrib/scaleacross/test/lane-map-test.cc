// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/boolean.h"
#include "ns3/buffer-dependency.h"
#include "ns3/fabric-deadlock.h"
#include "ns3/lane-map.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <set>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::FabricPacket;
using scaleacross::LaneMap;
using scaleacross::PacketKind;

namespace
{

/// The worked case of the header: level 0 by port 1 on lane 1 unless it came in by port 2.
class RulesTest : public TestCase
{
  public:
    RulesTest()
        : TestCase("Rules, and what is wrong with them")
    {
    }

  private:
    static std::string Complaint(const std::string& text, uint32_t lanes = 255)
    {
        try
        {
            LaneMap::Parse(text, "x").Resolve(4, lanes, "x");
        }
        catch (const ConfigError& error)
        {
            return error.what();
        }
        return "";
    }

    void DoRun() override
    {
        LaneMap map = LaneMap::Parse("in any out 1 0:1,3:4; in 2 out 1 0:0", "x");
        map.Resolve(4, 255, "x");
        for (uint32_t in = 0; in < 4; ++in)
        {
            for (uint32_t out = 0; out < 4; ++out)
            {
                for (uint8_t level = 0; level < 8; ++level)
                {
                    uint32_t expected = level;
                    if (out == 1 && level == 0)
                    {
                        expected = in == 2 ? 0 : 1;
                    }
                    if (out == 1 && level == 3)
                    {
                        expected = 4;
                    }
                    NS_TEST_ASSERT_MSG_EQ(+map.LaneOf(in, out, level),
                                          expected,
                                          "from " << in << " to " << out << ", " << +level);
                }
            }
        }
        const std::map<std::string, std::string> wrong{
            {"out 1 0:1", "rule 1: 'out 1 0:1' does not begin"},
            {"in 1 out 0:1", "rule 1: 'in 1 out 0:1' does not begin"},
            {"in any out 1 0:1; in x out 1 0:1", "rule 2: 'in x out 1 0:1' does not begin"},
            {"in 1 out 2", "rule 1: 'in 1 out 2' does not end"},
            {"in 1 out 2 0:1,", "does not end with SL:VL"},
            {"in 1 out 2 0:1; in 1 out 2 0:8", "rule 2: '0:8' is not SL:VL"},
            {"in 1 out 2 8:0", "'8:0' is not SL:VL"},
            {"in 1 out 2 0-1", "'0-1' is not SL:VL"},
            {"in 1 out 2 0:1;  ", "rule 2: '' does not begin"},
            {"in 4 out 2 0:1", "names port 4"},
            {"in 1 out any 0:1;in any out 9 0:1", "names port 9"}};
        for (const auto& [text, complaint] : wrong)
        {
            NS_TEST_ASSERT_MSG_NE(Complaint(text).find(complaint),
                                  std::string::npos,
                                  text << ": " << Complaint(text));
        }
        NS_TEST_ASSERT_MSG_NE(Complaint("in any out any 0:5", 0xF).find("virtual lane 5"),
                              std::string::npos,
                              "a lane without a buffer");
    }
};

void
UseCredits(FabricHelper& fabric)
{
    UseHpccSizes(fabric);
    fabric.SetSwitchAttribute("Credits", BooleanValue(true));
}

/**
 * A row of three switches that send level 3 on by lanes 5, 2 and 0. What leaves the NIC has lane 3;
 * each port sees its own lane only, for all packets; answers, of level 6, keep theirs. Each lane's
 * credits come back on the wire that it was used on, by what the buffers say at the end: nothing is
 * held. As all lanes have the same buffers and nothing competes, the message takes as long as
 * without maps, to the picosecond.
 */
class RowTest : public TestCase
{
  public:
    RowTest()
        : TestCase("Lanes change from switch to switch")
    {
    }

  private:
    int64_t Deliver(bool maps, std::vector<std::set<uint32_t>>& lanes)
    {
        FabricHelper fabric;
        UseCredits(fabric);
        const DataRate rate("100Gbps");
        std::vector<Ptr<FabricSwitch>> row;
        for (uint32_t i = 0; i < 3; ++i)
        {
            row.push_back(fabric.AddSwitch());
        }
        fabric.Connect(fabric.AddNic(fabric.AddHost()), row[0], rate, MicroSeconds(1));
        fabric.Connect(row[0], row[1], rate, MicroSeconds(1));
        fabric.Connect(row[1], row[2], rate, MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), row[2], rate, MicroSeconds(1));
        const char* texts[] = {"in 0 out 1 3:5", "in any out any 3:2", "in any out 1 3:0"};
        for (uint32_t i = 0; maps && i < 3; ++i)
        {
            row[i]->SetAttribute("LaneMap", StringValue(texts[i]));
        }
        fabric.InstallRoutes();
        std::vector<Ptr<FabricPort>> way{fabric.Nics()[0]};
        for (const auto& place : row)
        {
            way.push_back(place->GetPort(1));
        }
        lanes.assign(way.size(), {});
        for (size_t i = 0; i < way.size(); ++i)
        {
            auto note = [&lanes, i](const FabricPacket& packet) {
                lanes[i].insert(packet.kind == PacketKind::Data ? packet.priority : 100);
            };
            way[i]->TraceConnectWithoutContext("Transmit",
                                               Callback<void, const FabricPacket&>(note));
        }
        Log log;
        auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[1]);
        log.Watch(connection);
        connection->Send(Bytes(500'000), 1);
        Simulator::Run();
        CheckConservation(fabric);
        for (const auto& place : row)
        {
            for (uint32_t port = 0; port < 2; ++port)
            {
                for (uint8_t lane = 0; lane < 8; ++lane)
                {
                    NS_TEST_EXPECT_MSG_EQ(place->GetHeld(port, lane), 0, "bytes held");
                    NS_TEST_EXPECT_MSG_EQ(place->GetPort(port)->GetHeldBlocks(lane),
                                          0,
                                          "blocks held");
                }
            }
        }
        const int64_t time = log.completed.empty() ? -1 : log.LastCompletion();
        Simulator::Destroy();
        return time;
    }

    void DoRun() override
    {
        std::vector<std::set<uint32_t>> lanes;
        const int64_t plain = Deliver(false, lanes);
        NS_TEST_ASSERT_MSG_GT(plain, 0, "completed");
        for (const auto& seen : lanes)
        {
            NS_TEST_ASSERT_MSG_EQ((seen == std::set<uint32_t>{3}), true, "without maps");
        }
        const int64_t mapped = Deliver(true, lanes);
        const uint32_t expected[] = {3, 5, 2, 0};
        for (size_t i = 0; i < lanes.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ((lanes[i] == std::set<uint32_t>{expected[i]}), true, "hop " << i);
        }
        NS_TEST_ASSERT_MSG_EQ(mapped, plain, "as long as without");
    }
};

/**
 * Three switches in a ring, each host sends to the one before it, over two wires of the ring. On
 * one lane every wire's buffer fills with packets for the next wire, whose buffer is full: a
 * deadlock. It can be seen in the routes, and when it has happened it is named, with the lanes that
 * lack credits.
 *
 * A dateline: whoever has come by the ring goes on by lane 4 at switches 2 and 0. So wire 0-1 on
 * lane 3 is followed by wire 1-2 on lane 3, that by wire 2-0 on lane 4; wire 2-0 on lane 3 by wire
 * 0-1 on lane 4; what is on lane 4 has arrived. No circle is left: everything is delivered.
 * (Answers go one wire far, on lanes 6 and 7 by the same rule. No NIC sends on 4 and 7 by itself,
 * and if one did it would go on by 3 and 6.)
 */
class DatelineTest : public TestCase
{
  public:
    explicit DatelineTest(bool dateline)
        : TestCase(dateline ? "A dateline breaks the circle" : "A ring on one lane locks up"),
          m_dateline(dateline)
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseCredits(fabric);
        fabric.SetSwitchAttribute("VirtualLanes", UintegerValue(0xD8)); // 3, 4, 6, 7
        fabric.SetQueuePairAttribute("Timeout", UintegerValue(0));
        std::vector<Ptr<FabricSwitch>> ring;
        const DataRate rate("100Gbps");
        for (uint32_t i = 0; i < 3; ++i)
        {
            ring.push_back(fabric.AddSwitch());
            fabric.Connect(fabric.AddNic(fabric.AddHost()), ring[i], rate, MicroSeconds(1));
        }
        // Switch 0 leaves by port 1 and is entered by port 2; the others the other way round.
        for (uint32_t i = 0; i < 3; ++i)
        {
            fabric.Connect(ring[i], ring[(i + 1) % 3], rate, MicroSeconds(1));
        }
        if (m_dateline)
        {
            const std::string all = "in any out any 4:3,7:6";
            ring[0]->SetAttribute("LaneMap", StringValue(all + "; in 2 out 1 3:4,4:4,6:7,7:7"));
            ring[1]->SetAttribute("LaneMap", StringValue(all));
            ring[2]->SetAttribute("LaneMap", StringValue(all + "; in 1 out 2 3:4,4:4,6:7,7:7"));
        }
        fabric.InstallRoutes();
        for (uint32_t i = 0; i < 3; ++i)
        {
            auto& routes = ring[i]->Routes();
            routes.Clear();
            for (uint32_t to = 0; to < 3; ++to)
            {
                const uint32_t address = fabric.Nics()[to]->GetFabricAddress();
                const uint16_t port = to == i ? 0 : (i == 0 ? 1 : 2);
                routes.Add(address, address, {{port}, {}});
            }
        }
        const std::string cycle = FindBufferDependencyCycle(fabric).Text();
        NS_TEST_ASSERT_MSG_EQ(cycle,
                              (m_dateline ? ""
                                          : "cyclic buffer dependency: node 0 port 1 -> node 2 "
                                            "port 2 -> node 4 port 2 -> node 0 port 1 in priority "
                                            "3"),
                              "in the routes");
        Log log;
        for (uint32_t i = 0; i < 3; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[(i + 2) % 3]);
            log.Watch(connection);
            connection->Send(Bytes(4 * kMiB), i);
        }
        Simulator::Run(); // ends by itself
        CheckConservation(fabric);
        const FabricDeadlock deadlock = FindDeadlock(fabric);
        if (m_dateline)
        {
            NS_TEST_ASSERT_MSG_EQ(deadlock.Text(), "", "no deadlock");
            NS_TEST_ASSERT_MSG_EQ(DescribeWaiting(fabric), "", "nobody waits");
            NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 3, "every message");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(deadlock.Text(),
                                  "deadlock: node 0 port 1 priority 3 waits for node 2 port 2, "
                                  "which waits for node 4 port 2, which waits for node 0 port 1",
                                  "named");
            const std::string waiting = DescribeWaiting(fabric);
            NS_TEST_ASSERT_MSG_NE(waiting.find("node 2 port 2 lane 3 has "),
                                  std::string::npos,
                                  waiting);
            NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 0, "no message");
        }
        Simulator::Destroy();
    }

    bool m_dateline;
};

/**
 * No false alarm while two switches only wait for a receiver that is slow: four to one over a wire
 * between two switches, asked for every 5 us. Each time a queue lacks credits the next one can
 * still go on.
 */
class NoAlarmTest : public TestCase
{
  public:
    NoAlarmTest()
        : TestCase("Waiting for credits is no deadlock")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        UseCredits(fabric);
        auto first = fabric.AddSwitch();
        auto second = fabric.AddSwitch();
        for (uint32_t i = 0; i < 4; ++i)
        {
            fabric.Connect(fabric.AddNic(fabric.AddHost()),
                           first,
                           DataRate("100Gbps"),
                           MicroSeconds(1));
        }
        fabric.Connect(first, second, DataRate("100Gbps"), MicroSeconds(1));
        fabric.Connect(fabric.AddNic(fabric.AddHost()),
                       second,
                       DataRate("10Gbps"),
                       MicroSeconds(1));
        fabric.InstallRoutes();
        Log log;
        for (uint32_t i = 0; i < 4; ++i)
        {
            auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[4]);
            log.Watch(connection);
            connection->Send(Bytes(200'000), i);
        }
        uint32_t alarms = 0;
        uint32_t blocked = 0;
        for (uint32_t us = 5; us < 700; us += 5)
        {
            Simulator::Schedule(MicroSeconds(us), [&]() {
                alarms += FindDeadlock(fabric).Exists() ? 1 : 0;
                blocked += first->GetPort(4)->IsBlocked(3) ? 1 : 0;
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(alarms, 0, "no alarm");
        NS_TEST_ASSERT_MSG_GT(blocked, 50, "although the wire between lacked credits");
        NS_TEST_ASSERT_MSG_EQ(log.completed.size(), 4, "every message");
        Simulator::Destroy();
    }
};

class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("A map without credits")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        fabric.SetSwitchAttribute("LaneMap", StringValue("in any out any 3:4"));
        std::string complaint;
        try
        {
            BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        }
        catch (const ConfigError& error)
        {
            complaint = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(complaint.find("LaneMap"), std::string::npos, complaint);
        Simulator::Destroy();
    }
};

class LaneMapSuite : public TestSuite
{
  public:
    LaneMapSuite()
        : TestSuite("scaleacross-lane-map")
    {
        AddTestCase(new RulesTest);
        AddTestCase(new RowTest);
        AddTestCase(new DatelineTest(false));
        AddTestCase(new DatelineTest(true));
        AddTestCase(new NoAlarmTest);
        AddTestCase(new RefusalTest);
    }
};

LaneMapSuite g_laneMapSuite;

} // namespace
