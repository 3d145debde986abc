// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"
#include "fabric-test.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/fabric-address.h"
#include "ns3/fabric-internet-helper.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/flow-monitor.h"
#include "ns3/foreign-frame.h"
#include "ns3/inet-socket-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"

#include <functional>
#include <map>

using namespace ns3;
using namespace fabrictest;
using scaleacross::Bytes;
using scaleacross::ConfigError;
using scaleacross::DropReason;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;

namespace
{

constexpr uint16_t kProtocol = 0x88B5; // EtherType for local experiments
constexpr int64_t kPsPerByte = 80;     // 100 Gb/s
constexpr int64_t kWire = 1'000'000;   // ps, 1 us

/// What a NIC hands up.
struct Arrival
{
    int64_t time;
    uint32_t bytes;
    uint16_t protocol;
    Mac48Address source;
};

/// Notes everything that a NIC hands to the stack above.
class Catcher
{
  public:
    explicit Catcher(Ptr<RdmaNic> nic)
    {
        nic->SetReceiveCallback(NetDevice::ReceiveCallback([this](Ptr<NetDevice>,
                                                                  Ptr<const Packet> packet,
                                                                  uint16_t protocol,
                                                                  const Address& source) {
            arrivals.push_back({Simulator::Now().GetPicoSeconds(),
                                packet->GetSize(),
                                protocol,
                                Mac48Address::ConvertFrom(source)});
            return true;
        }));
        nic->SetPromiscReceiveCallback(
            NetDevice::PromiscReceiveCallback([this](Ptr<NetDevice>,
                                                     Ptr<const Packet>,
                                                     uint16_t,
                                                     const Address&,
                                                     const Address& destination,
                                                     NetDevice::PacketType type) {
                to.push_back(Mac48Address::ConvertFrom(destination));
                return type == NetDevice::PACKET_HOST;
            }));
    }

    std::vector<Arrival> arrivals;
    std::vector<Mac48Address> to;
};

/// Time of `bytes` of a foreign packet on a wire of 100 Gb/s: 14 of Ethernet, 24 of frame.
int64_t
ForeignTime(uint32_t bytes)
{
    return std::max<int64_t>(bytes + 38, 84) * kPsPerByte;
}

/**
 * One packet through a switch is there after 2 (propagation + serialisation): 1,000 bytes take
 * 1,038 x 80 ps = 83.04 ns, so 2,166.08 ns; 10 bytes take the shortest frame's 84 x 80 = 6.72 ns.
 * Addresses and protocol come through.
 */
class CarryTest : public TestCase
{
  public:
    CarryTest()
        : TestCase("A foreign packet arrives in its time, with its addresses")
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t bytes : {1000U, 10U, 1500U})
        {
            FabricHelper fabric;
            BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
            Ptr<RdmaNic> from = fabric.Nics()[0];
            Ptr<RdmaNic> to = fabric.Nics()[1];
            Catcher catcher(to);
            NS_TEST_ASSERT_MSG_EQ(from->Send(Create<Packet>(bytes), to->GetAddress(), kProtocol),
                                  true,
                                  "accepted");
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(catcher.arrivals.size(), 1, "arrived");
            const Arrival& arrival = catcher.arrivals[0];
            NS_TEST_ASSERT_MSG_EQ_TOL(arrival.time,
                                      2 * (kWire + ForeignTime(bytes)),
                                      Rounding(2),
                                      bytes << " bytes");
            NS_TEST_ASSERT_MSG_EQ(arrival.bytes, bytes, "size");
            NS_TEST_ASSERT_MSG_EQ(arrival.protocol, kProtocol, "protocol");
            NS_TEST_ASSERT_MSG_EQ(arrival.source,
                                  Mac48Address::ConvertFrom(from->GetAddress()),
                                  "source");
            NS_TEST_ASSERT_MSG_EQ(catcher.to.at(0),
                                  Mac48Address::ConvertFrom(to->GetAddress()),
                                  "destination");
            NS_TEST_ASSERT_MSG_EQ(from->GetForeignSent(), 1, "sent");
            NS_TEST_ASSERT_MSG_EQ(from->GetControlSent(), 0, "not control");
            NS_TEST_ASSERT_MSG_EQ(CheckConservation(fabric).delivered, 1, "balance");
            Simulator::Destroy();
        }
    }
};

/**
 * A NIC with both kinds to send, 100 Gb/s. N = 50 data packets of 1,048 bytes (D = 83.84 ns), one
 * message, no window; 20 foreign ones of 1,028 + 38 bytes (F = 85.28 ns), all handed over at zero.
 *
 *   foreign priority 0, data 3: all data first; foreign packet k starts at N D + k F
 *   foreign priority 5:         foreign first; packet k starts at k F
 *   both 3:                     in turn, foreign first; packet k starts at k (F + D)
 *
 * In all three no foreign packet waits in the switch: at its priority the packet before it is not
 * longer than the gap it leaves. So each arrives 2 (1 us + F) after its start. The last data packet
 * has left the NIC after N D, or N D + 20 F where foreign packets went before it. The switch, from
 * the end of the first packet on, sends without a gap: the message is delivered two wires and the
 * time of the first packet, D or F, later.
 */
class NicShareTest : public TestCase
{
  public:
    NicShareTest()
        : TestCase("Foreign packets and queue pairs share a NIC by priority, or in turn")
    {
    }

  private:
    static constexpr int64_t kData = 83'840;
    static constexpr int64_t kForeign = 85'280;
    static constexpr int64_t kDataPackets = 50;
    static constexpr int64_t kForeignPackets = 20;

    void DoRun() override
    {
        RunOnce(
            0,
            [](int64_t k) { return kDataPackets * kData + k * kForeign; },
            false);
        RunOnce(
            5,
            [](int64_t k) { return k * kForeign; },
            true);
        RunOnce(
            3,
            [](int64_t k) { return k * (kForeign + kData); },
            true);
    }

    void RunOnce(uint32_t priority, const std::function<int64_t(int64_t)>& start, bool before)
    {
        FabricHelper fabric;
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("ForeignPriority", UintegerValue(priority));
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        Ptr<RdmaNic> from = fabric.Nics()[0];
        Ptr<RdmaNic> to = fabric.Nics()[1];
        Catcher catcher(to);
        Log log;
        auto connection = fabric.CreateConnection(from, to);
        log.Watch(connection);
        connection->Send(Bytes(kDataPackets * 1000), 0);
        for (int64_t k = 0; k < kForeignPackets; ++k)
        {
            from->Send(Create<Packet>(1028), to->GetAddress(), kProtocol);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(catcher.arrivals.size(), kForeignPackets, "all arrived");
        for (int64_t k = 0; k < kForeignPackets; ++k)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(catcher.arrivals[static_cast<size_t>(k)].time,
                                      start(k) + 2 * (kWire + kForeign),
                                      Rounding(2),
                                      "priority " << priority << ", packet " << k);
        }
        const int64_t sent = kDataPackets * kData + (before ? kForeignPackets * kForeign : 0);
        NS_TEST_ASSERT_MSG_EQ_TOL(log.LastDelivery(),
                                  sent + 2 * kWire + (before ? kForeign : kData),
                                  Rounding(2),
                                  "message beside priority " << priority);
        // Packet k waited from zero to its start.
        int64_t waited = 0;
        for (int64_t k = 0; k < kForeignPackets; ++k)
        {
            waited += start(k);
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(from->GetForeignWaitedTime().GetPicoSeconds(),
                                  waited,
                                  Rounding(kForeignPackets),
                                  "time waited");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/**
 * UDP over IP at a fixed rate: every microsecond 1,000 bytes, with UDP 8, IPv4 20, Ethernet 14 and
 * frame 24 1,066 bytes, 85.28 ns. Alone, each is there 2 (1 us + 85.28 ns) = 2,170.56 ns after it
 * was sent, and payload arrives at exactly 8 Gb/s. FlowMonitor, which knows nothing of the fabric,
 * finds the same.
 */
class UdpTest : public TestCase
{
  public:
    UdpTest()
        : TestCase("UDP over the fabric: throughput and delay")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t kPackets = 1000;
        FabricHelper fabric;
        BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        Ipv4InterfaceContainer addresses = FabricInternetHelper().Install(fabric);
        Ptr<Node> from = fabric.Nics()[0]->GetNode();
        Ptr<Node> to = fabric.Nics()[1]->GetNode();
        FlowMonitorHelper monitor;
        Ptr<FlowMonitor> flows = monitor.Install(NodeContainer(from, to));

        std::vector<int64_t> arrivals;
        Ptr<Socket> sink = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink->SetRecvCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
            while (socket->Recv())
            {
                arrivals.push_back(Simulator::Now().GetPicoSeconds());
            }
        }));
        Ptr<Socket> source = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        source->Connect(InetSocketAddress(addresses.GetAddress(1), 9));
        for (int64_t i = 0; i < kPackets; ++i)
        {
            Simulator::ScheduleWithContext(from->GetId(), MicroSeconds(i), [source]() {
                source->Send(Create<Packet>(1000));
            });
        }
        Simulator::Stop(MilliSeconds(2));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), kPackets, "all arrived");
        constexpr int64_t kDelay = 2'170'560;
        for (int64_t i = 0; i < kPackets; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(arrivals[static_cast<size_t>(i)],
                                      i * 1'000'000 + kDelay,
                                      Rounding(2),
                                      "packet " << i);
        }
        NS_TEST_ASSERT_MSG_EQ(flows->GetFlowStats().size(), 1, "one flow");
        const FlowMonitor::FlowStats& flow = flows->GetFlowStats().begin()->second;
        NS_TEST_ASSERT_MSG_EQ(flow.rxPackets, kPackets, "FlowMonitor: packets");
        NS_TEST_ASSERT_MSG_EQ(flow.rxBytes, kPackets * 1028, "FlowMonitor: IP bytes");
        NS_TEST_ASSERT_MSG_EQ(flow.lostPackets, 0, "FlowMonitor: none lost");
        NS_TEST_ASSERT_MSG_EQ_TOL(flow.delaySum.GetPicoSeconds(),
                                  kPackets * kDelay,
                                  Rounding(2 * kPackets),
                                  "FlowMonitor: delay");
        NS_TEST_ASSERT_MSG_EQ(fabric.Nics()[0]->GetForeignRefused(), 0, "no ARP, no broadcast");
        CheckConservation(fabric);
        Simulator::Destroy();
    }
};

/// Two hosts on each of two switches, one wire between the switches; host 0 sends RDMA to host 2,
/// host 1 TCP to host 3.
struct Dumbbell
{
    explicit Dumbbell(uint32_t foreignPriority)
    {
        UseHpccSizes(fabric);
        fabric.SetNicAttribute("ForeignPriority", UintegerValue(foreignPriority));
        Ptr<FabricSwitch> left = fabric.AddSwitch();
        Ptr<FabricSwitch> right = fabric.AddSwitch();
        for (uint32_t i = 0; i < 4; ++i)
        {
            nics.push_back(fabric.AddNic(fabric.AddHost()));
            fabric.Connect(nics[i], i < 2 ? left : right, DataRate("100Gbps"), MicroSeconds(1));
        }
        middle = fabric.Connect(left, right, DataRate("100Gbps"), MicroSeconds(1));
        fabric.InstallRoutes();
        bottleneck = DynamicCast<FabricPort>(middle->GetDevice(0));
    }

    /// `bytes` by TCP from host 1 to host 3, from time zero on.
    void StartTcp(uint64_t bytes)
    {
        addresses = FabricInternetHelper().Install(fabric);
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(addresses.GetAddress(3), 5001));
        source.SetAttribute("MaxBytes", UintegerValue(bytes));
        source.Install(nics[1]->GetNode()).Start(Time(0));
        PacketSinkHelper server("ns3::TcpSocketFactory",
                                InetSocketAddress(Ipv4Address::GetAny(), 5001));
        ApplicationContainer servers = server.Install(nics[3]->GetNode());
        servers.Start(Time(0));
        sink = DynamicCast<PacketSink>(servers.Get(0));
    }

    FabricHelper fabric;
    std::vector<Ptr<RdmaNic>> nics;
    Ptr<FabricWire> middle;
    Ptr<FabricPort> bottleneck;
    Ipv4InterfaceContainer addresses;
    Ptr<PacketSink> sink;
    Log log;
};

/**
 * TCP beside RDMA over one link, TCP in the lower priority.
 *
 * RDMA sends 8 MB at line rate from 20 us on, when TCP is in the middle of its transfer. Priorities
 * are strict and not preemptive. RDMA packets come as fast as they leave, so one TCP packet gets
 * between them: either it is being sent when RDMA begins, or it starts when the port becomes free
 * at the very time at which the next RDMA packet comes in. From then on an RDMA packet is always
 * waiting, and TCP is starved. So at most one TCP segment of 536 bytes (ns-3's default) is
 * delivered that was not beyond the bottleneck when RDMA came, and RDMA is at most that packet
 * later than alone: 536 + TCP 20 + options 12 + IP 20 + 38 = 626 bytes, 50.08 ns. TCP finishes
 * afterwards.
 *
 * With a window that lets RDMA use less than half of the link both progress at the same time.
 */
class TcpBelowRdmaTest : public TestCase
{
  public:
    TcpBelowRdmaTest()
        : TestCase("TCP below RDMA: starved by line rate, beside it otherwise, seen by FlowMonitor")
    {
    }

  private:
    static constexpr uint64_t kTcpBytes = 4'000'000;
    static constexpr uint64_t kRdmaBytes = 8'000'000;

    struct Result
    {
        int64_t rdmaDone{0};
        uint64_t tcpAtStart{0}; //!< bytes when RDMA has filled the bottleneck
        uint64_t tcpAtEnd{0};   //!< when its message has been delivered
    };

    Result RunOnce(uint64_t window, bool tcp)
    {
        Dumbbell net(0);
        net.fabric.SetQueuePairAttribute("Window", UintegerValue(window));
        auto connection = net.fabric.CreateConnection(net.nics[0], net.nics[2]);
        net.log.Watch(connection);
        Result result;
        std::map<Ptr<RdmaNic>, uint64_t> handedUp;
        Ptr<FlowMonitor> flows;
        FlowMonitorHelper monitor;
        if (tcp)
        {
            net.StartTcp(kTcpBytes);
            flows = monitor.InstallAll();
            for (const auto& nic : net.nics)
            {
                uint64_t& bytes = handedUp[nic];
                nic->TraceConnectWithoutContext(
                    "MacRx",
                    Callback<void, Ptr<const Packet>>(
                        [&bytes](Ptr<const Packet> packet) { bytes += packet->GetSize(); }));
            }
            // RDMA is at the bottleneck from 20 us + 1 us + one packet on; what TCP had beyond it
            // by then needs two wires and two packets more.
            Simulator::Schedule(MicroSeconds(24),
                                [&]() { result.tcpAtStart = net.sink->GetTotalRx(); });
        }
        connection->SetDeliveryCallback(RdmaMessageCallback([&](Bytes, uint64_t) {
            result.rdmaDone = Simulator::Now().GetPicoSeconds();
            result.tcpAtEnd = tcp ? net.sink->GetTotalRx() : 0;
        }));
        Simulator::Schedule(MicroSeconds(20),
                            [connection]() { connection->Send(Bytes(kRdmaBytes), 0); });
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        if (tcp)
        {
            CheckTcp(net, *flows, handedUp);
        }
        NS_TEST_EXPECT_MSG_EQ(CheckConservation(net.fabric).inFlight, 0, "nothing is left");
        Simulator::Destroy();
        return result;
    }

    void CheckTcp(const Dumbbell& net,
                  FlowMonitor& flows,
                  std::map<Ptr<RdmaNic>, uint64_t>& handedUp)
    {
        NS_TEST_ASSERT_MSG_EQ(net.sink->GetTotalRx(), kTcpBytes, "TCP has delivered everything");
        flows.CheckForLostPackets();
        NS_TEST_ASSERT_MSG_EQ(flows.GetFlowStats().size(), 2, "TCP there and back");
        uint64_t sent = 0;
        uint64_t arrived = 0;
        for (const auto& [id, flow] : flows.GetFlowStats())
        {
            sent += flow.txPackets;
            arrived += flow.rxPackets;
            // The flow towards host 3 has the data.
            Ptr<RdmaNic> to = flow.rxBytes > kTcpBytes ? net.nics[3] : net.nics[1];
            NS_TEST_ASSERT_MSG_EQ(flow.rxBytes, handedUp[to], "FlowMonitor counts what arrived");
        }
        uint64_t carried = 0;
        uint64_t refused = 0;
        for (const auto& nic : net.nics)
        {
            carried += nic->GetForeignReceived();
            refused += nic->GetForeignRefused();
        }
        NS_TEST_ASSERT_MSG_EQ(carried, arrived, "FlowMonitor counts all that the NICs received");
        NS_TEST_ASSERT_MSG_EQ(sent - arrived,
                              refused + CheckConservation(net.fabric).Dropped(),
                              "and what is missing was dropped and counted");
    }

    void DoRun() override
    {
        const Result alone = RunOnce(0, false);
        const Result beside = RunOnce(0, true);
        constexpr int64_t kTcpPacket = 626 * kPsPerByte;
        NS_TEST_ASSERT_MSG_GT(beside.tcpAtStart, 0, "TCP was under way");
        NS_TEST_ASSERT_MSG_LT(beside.tcpAtStart, kTcpBytes, "and not done");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(beside.tcpAtEnd, beside.tcpAtStart + 536, "TCP is starved");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(beside.rdmaDone, alone.rdmaDone, "RDMA is not faster");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(beside.rdmaDone,
                                    alone.rdmaDone + kTcpPacket + Rounding(3),
                                    "RDMA waits for one packet at most");

        // 32 packets per round trip of 6 us + 3 x (83.84 + 4.8) ns: 42 % of the link.
        const Result half = RunOnce(32'000, true);
        NS_TEST_ASSERT_MSG_GT(half.tcpAtEnd, half.tcpAtStart, "both progress at the same time");
    }
};

/**
 * TCP and RDMA in one lossless priority, over a NIC each; the bottleneck's FIFO serves both, so
 * they share it as their windows are: RDMA 128 packets of 1,048 bytes, TCP 131,072 bytes (ns-3's
 * default buffer) in segments of 536 with 90 bytes of headers and frame. TCP sends 4 MB, a tenth of
 * what RDMA sends, and is done first.
 *
 * RDMA's window is more than rate x round trip = 12.5 GB/s x (6 us + 0.3 us) = 79 kB, so that the
 * bottleneck is never idle from the first RDMA packet, which is there after 1 us + D, until the
 * last one has left: the message is delivered 1 us + D after the bottleneck has sent the RDMA
 * packets and all of TCP, and 1 us later over the last wire. That is, at 3 us + 2 D + 80 ps for
 * every byte that the bottleneck has sent since, to the picosecond.
 */
class TcpBesideRdmaTest : public TestCase
{
  public:
    TcpBesideRdmaTest()
        : TestCase("TCP and RDMA in one lossless priority: nothing lost, no time lost")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t kRdma = 40'000'000;
        constexpr uint64_t kTcp = 4'000'000;
        constexpr int64_t kData = 83'840;
        Dumbbell net(3);
        net.StartTcp(kTcp);
        net.fabric.SetQueuePairAttribute("Window", UintegerValue(128'000));
        auto connection = net.fabric.CreateConnection(net.nics[0], net.nics[2]);
        int64_t rdmaDone = 0;
        uint64_t tcpBytes = 0;
        uint64_t before = 0; // sent by the bottleneck before RDMA: TCP's first SYN
        uint64_t sent = 0;
        Simulator::Schedule(PicoSeconds(kWire + kData - 1),
                            [&]() { before = net.bottleneck->GetSentBytes(); });
        connection->SetDeliveryCallback(RdmaMessageCallback([&](Bytes, uint64_t) {
            rdmaDone = Simulator::Now().GetPicoSeconds();
            tcpBytes = net.sink->GetTotalRx();
            sent = net.bottleneck->GetSentBytes();
        }));
        connection->Send(Bytes(kRdma), 0);
        Simulator::Stop(Seconds(3));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(tcpBytes, kTcp, "TCP is through before RDMA is");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(sent, kRdma / 1000 * 1048 + kTcp / 536 * 626, "and all of it");
        NS_TEST_ASSERT_MSG_EQ_TOL(rdmaDone,
                                  3 * kWire + 2 * kData +
                                      static_cast<int64_t>(sent - before) * kPsPerByte,
                                  Rounding(3),
                                  "the bottleneck was never idle");
        NS_TEST_ASSERT_MSG_EQ(CheckConservation(net.fabric).Dropped(), 0, "nothing dropped");
        Simulator::Destroy();
    }
};

/// What Send refuses, with its name; nothing of it counts in the balance.
class RefuseTest : public TestCase
{
  public:
    RefuseTest()
        : TestCase("Refused packets are counted by reason")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        // Ten packets of 1,038 bytes.
        fabric.SetNicAttribute("ForeignQueueSize", UintegerValue(10'380));
        Ptr<FabricSwitch> centre = BuildStar(fabric, 2, "100Gbps", MicroSeconds(1));
        Ptr<RdmaNic> from = fabric.Nics()[0];
        Ptr<RdmaNic> to = fabric.Nics()[1];
        Catcher catcher(to);
        uint32_t dropped = 0;
        from->TraceConnectWithoutContext(
            "MacTxDrop",
            Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { ++dropped; }));
        auto send = [&](const Address& address, uint32_t bytes) {
            return from->Send(Create<Packet>(bytes), address, kProtocol);
        };
        NS_TEST_ASSERT_MSG_EQ(send(from->GetBroadcast(), 100), false, "broadcast");
        NS_TEST_ASSERT_MSG_EQ(send(Mac48Address("01:00:5e:00:00:01"), 100), false, "multicast");
        NS_TEST_ASSERT_MSG_EQ(send(Mac48Address("00:00:00:00:00:01"), 100), false, "elsewhere");
        NS_TEST_ASSERT_MSG_EQ(send(to->GetAddress(), 1501), false, "longer than the IP MTU");
        for (uint32_t i = 0; i < 20; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(send(to->GetAddress(), 1000), (i < 10), "ten fit, " << i);
        }
        NS_TEST_ASSERT_MSG_EQ(from->GetForeignQueueBytes(), 10'380, "waiting");
        NS_TEST_ASSERT_MSG_EQ(from->GetForeignQueuePackets(), 10, "waiting");
        NS_TEST_ASSERT_MSG_EQ(centre->GetPort(0)->Send(Create<Packet>(1), to->GetAddress(), 1),
                              false,
                              "a switch's port sends nothing");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(catcher.arrivals.size(), 10, "arrived");
        NS_TEST_ASSERT_MSG_EQ(from->GetForeignRefused(DropReason::Broadcast), 2, "broadcast");
        NS_TEST_ASSERT_MSG_EQ(from->GetForeignRefused(DropReason::WrongAddress), 1, "address");
        NS_TEST_ASSERT_MSG_EQ(from->GetForeignRefused(DropReason::Oversize), 1, "oversize");
        NS_TEST_ASSERT_MSG_EQ(from->GetForeignRefused(DropReason::SendQueueFull), 10, "full");
        NS_TEST_ASSERT_MSG_EQ(dropped, 14, "all were traced");
        // An address of the right form which no NIC has: accepted, dropped by the switch.
        Simulator::ScheduleNow([&]() { send(scaleacross::MacOf(77), 100); });
        Simulator::Run();
        FabricBalance balance = CheckConservation(fabric);
        NS_TEST_ASSERT_MSG_EQ(balance.sent, 11, "sent");
        NS_TEST_ASSERT_MSG_EQ(balance.dropped[static_cast<size_t>(DropReason::NoRoute)],
                              1,
                              "no route");
        Simulator::Destroy();
    }
};

/// MAC addresses stand for fabric addresses, and follow them.
class AddressTest : public TestCase
{
  public:
    AddressTest()
        : TestCase("MAC and IPv4 addresses follow the fabric address")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        Ptr<FabricSwitch> first = fabric.AddSwitch();
        Ptr<FabricSwitch> second = fabric.AddSwitch();
        for (uint32_t i = 0; i < 4; ++i)
        {
            Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
            fabric.Connect(nic, i % 2 == 0 ? first : second, DataRate("1Gbps"), MicroSeconds(1));
        }
        fabric.Connect(first, second, DataRate("1Gbps"), MicroSeconds(1));
        bool refused = false;
        try
        {
            FabricInternetHelper().Install(fabric);
        }
        catch (const ConfigError&)
        {
            refused = true; // addresses may still change
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "Install before InstallRoutes");
        fabric.InstallRoutes();
        // NICs 0 and 2 are on the first switch: addresses 0 and 1; 1 and 3 have 2 and 3.
        const char* macs[] = {"02:00:00:00:00:00",
                              "02:00:00:00:00:02",
                              "02:00:00:00:00:01",
                              "02:00:00:00:00:03"};
        const char* ips[] = {"10.0.0.1", "10.0.0.3", "10.0.0.2", "10.0.0.4"};
        Ipv4InterfaceContainer addresses = FabricInternetHelper().Install(fabric);
        fabric.InstallRoutes(); // changes nothing any more
        for (uint32_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(Mac48Address::ConvertFrom(fabric.Nics()[i]->GetAddress()),
                                  Mac48Address(macs[i]),
                                  "NIC " << i);
            NS_TEST_ASSERT_MSG_EQ(addresses.GetAddress(i), Ipv4Address(ips[i]), "NIC " << i);
        }
        refused = false;
        try
        {
            fabric.Nics()[0]->SetAddress(Mac48Address("02:00:00:00:00:09"));
        }
        catch (const ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "another MAC address");
        refused = false;
        FabricHelper small;
        small.SetSwitchAttribute("MaxPacketSize", UintegerValue(1537)); // 1,500 + 38 is longer
        BuildStar(small, 2, "1Gbps", MicroSeconds(1));
        try
        {
            FabricInternetHelper().Install(small);
        }
        catch (const ConfigError&)
        {
            refused = true;
        }
        NS_TEST_ASSERT_MSG_EQ(refused, true, "IP packets that no switch would forward");
        Simulator::Destroy();
    }
};

/// Flows of IP differ by their ports, so that over two parallel wires both carry.
class EntropyTest : public TestCase
{
  public:
    EntropyTest()
        : TestCase("ECMP spreads UDP flows by their ports")
    {
    }

  private:
    void DoRun() override
    {
        FabricHelper fabric;
        Ptr<FabricSwitch> left = fabric.AddSwitch();
        Ptr<FabricSwitch> right = fabric.AddSwitch();
        fabric.Connect(fabric.AddNic(fabric.AddHost()), left, DataRate("100Gbps"), Time(0));
        fabric.Connect(fabric.AddNic(fabric.AddHost()), right, DataRate("100Gbps"), Time(0));
        Ptr<FabricWire> wires[] = {
            fabric.Connect(left, right, DataRate("100Gbps"), MicroSeconds(1)),
            fabric.Connect(left, right, DataRate("100Gbps"), MicroSeconds(1))};
        fabric.InstallRoutes();
        Ipv4InterfaceContainer addresses = FabricInternetHelper().Install(fabric);
        constexpr uint32_t kFlows = 256;
        constexpr uint32_t kPerFlow = 4;
        for (uint32_t flow = 0; flow < kFlows; ++flow)
        {
            Ptr<Socket> socket =
                Socket::CreateSocket(fabric.Nics()[0]->GetNode(), UdpSocketFactory::GetTypeId());
            socket->Connect(
                InetSocketAddress(addresses.GetAddress(1), static_cast<uint16_t>(1000 + flow)));
            for (uint32_t i = 0; i < kPerFlow; ++i)
            {
                socket->Send(Create<Packet>(100));
            }
        }
        Simulator::Run();
        const uint64_t one = DynamicCast<FabricPort>(wires[0]->GetDevice(0))->GetSentPackets();
        const uint64_t two = DynamicCast<FabricPort>(wires[1]->GetDevice(0))->GetSentPackets();
        NS_TEST_ASSERT_MSG_EQ(one + two, kFlows * kPerFlow, "all went over");
        NS_TEST_ASSERT_MSG_EQ(one % kPerFlow, 0, "a flow stays on its wire");
        // 256 flows, half each on average, standard deviation 8: within five of them.
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<int64_t>(one / kPerFlow), 128, 40, "even");
        Simulator::Destroy();
    }
};

/**
 * Wherever a foreign packet ends, its ns3::Packet is released: delivered, lost by a wire, dropped
 * by a switch, or waiting and in flight when the simulation ends. And at any time every packet is
 * somewhere.
 */
class ReleaseTest : public TestCase
{
  public:
    ReleaseTest()
        : TestCase("Foreign packets are released and balanced wherever they end")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<Ptr<const Packet>> carried;
        uint64_t dropped = 0;
        {
            FabricHelper fabric;
            fabric.SetSwitchAttribute("BufferSize", UintegerValue(400'000));
            BuildStar(fabric, 4, "100Gbps", MicroSeconds(1));
            fabric.AssignStreams(1);
            fabric.Wires()[3]->SetLossRate(0.1);
            auto transmit = Callback<void, const FabricPacket&>([&](const FabricPacket& packet) {
                if (packet.kind == PacketKind::Foreign)
                {
                    carried.push_back(scaleacross::FrameOf(packet).packet);
                }
            });
            for (uint32_t i = 0; i < 3; ++i) // three senders, one receiver: the buffer overflows
            {
                fabric.Nics()[i]->TraceConnectWithoutContext("Transmit", transmit);
                for (uint32_t us = 0; us < 100; ++us)
                {
                    Simulator::Schedule(MicroSeconds(us), [&fabric, i]() {
                        for (uint32_t n = 0; n < 9; ++n)
                        {
                            fabric.Nics()[i]->Send(Create<Packet>(1400),
                                                   fabric.Nics()[3]->GetAddress(),
                                                   kProtocol);
                        }
                    });
                }
                auto connection = fabric.CreateConnection(fabric.Nics()[i], fabric.Nics()[3]);
                connection->Send(Bytes(100'000), i);
            }
            bool balanced = true;
            for (uint32_t us = 1; us < 90; us += 3)
            {
                Simulator::Schedule(NanoSeconds(1000 * us + 77),
                                    [&]() { balanced = balanced && BalanceOf(fabric).Holds(); });
            }
            Simulator::Stop(MicroSeconds(95));
            Simulator::Run();
            FabricBalance balance = CheckConservation(fabric);
            NS_TEST_ASSERT_MSG_EQ(balanced, true, "balanced at any time");
            NS_TEST_ASSERT_MSG_GT(balance.inFlight, 0, "some are under way at the end");
            const auto of = [&balance](DropReason reason) {
                return balance.dropped[static_cast<size_t>(reason)];
            };
            NS_TEST_ASSERT_MSG_GT(of(DropReason::WireLoss), 0, "some were lost");
            NS_TEST_ASSERT_MSG_GT(of(DropReason::SharedBufferFull), 0, "some were dropped");
            dropped = balance.Dropped();
            Simulator::Destroy();
        }
        NS_TEST_ASSERT_MSG_GT(carried.size(), dropped, "packets were seen");
        for (const auto& packet : carried)
        {
            NS_TEST_ASSERT_MSG_EQ(packet->GetReferenceCount(), 1, "only this test holds it");
        }
    }
};

class ForeignSuite : public TestSuite
{
  public:
    ForeignSuite()
        : TestSuite("scaleacross-foreign")
    {
        AddTestCase(new CarryTest);
        AddTestCase(new NicShareTest);
        AddTestCase(new UdpTest);
        AddTestCase(new TcpBelowRdmaTest);
        AddTestCase(new TcpBesideRdmaTest);
        AddTestCase(new RefuseTest);
        AddTestCase(new AddressTest);
        AddTestCase(new EntropyTest);
        AddTestCase(new ReleaseTest);
    }
};

ForeignSuite g_foreignSuite;

} // namespace
