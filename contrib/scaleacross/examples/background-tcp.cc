// SPDX-License-Identifier: GPL-2.0-only

// A TCP transfer beside an RDMA transfer over one link, with TCP below, beside and above RDMA.
// FlowMonitor sees the TCP flow as on any other network.

#include "ns3/bulk-send-helper.h"
#include "ns3/command-line.h"
#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-internet-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/flow-monitor.h"
#include "ns3/inet-socket-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <cstdio>

using namespace ns3;

namespace
{

void
Simulate(uint32_t foreignPriority, uint64_t rdmaBytes, uint64_t tcpBytes)
{
    FabricHelper fabric;
    fabric.SetNicAttribute("ForeignPriority", UintegerValue(foreignPriority)); // RDMA has 3
    fabric.SetQueuePairAttribute("Window", UintegerValue(128 << 10));
    Ptr<FabricSwitch> left = fabric.AddSwitch();
    Ptr<FabricSwitch> right = fabric.AddSwitch();
    for (uint32_t i = 0; i < 4; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, i < 2 ? left : right, DataRate("100Gbps"), MicroSeconds(1));
    }
    fabric.Connect(left, right, DataRate("100Gbps"), MicroSeconds(1));
    fabric.InstallRoutes();

    FabricInternetHelper internet;
    Ipv4InterfaceContainer addresses = internet.Install(fabric);
    BulkSendHelper source("ns3::TcpSocketFactory",
                          InetSocketAddress(addresses.GetAddress(3), 5001));
    source.SetAttribute("MaxBytes", UintegerValue(tcpBytes));
    source.Install(fabric.Nics()[1]->GetNode()).Start(Time(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer sinks = sink.Install(fabric.Nics()[3]->GetNode());
    sinks.Start(Time(0));
    FlowMonitorHelper monitor;
    Ptr<FlowMonitor> flows = monitor.InstallAll();

    Time rdmaDone;
    uint64_t tcpMeanwhile = 0;
    auto connection = fabric.CreateConnection(fabric.Nics()[0], fabric.Nics()[2]);
    connection->SetDeliveryCallback(RdmaMessageCallback([&](scaleacross::Bytes, uint64_t) {
        rdmaDone = Simulator::Now();
        tcpMeanwhile = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    }));
    connection->Send(scaleacross::Bytes(rdmaBytes), 0);
    Simulator::Stop(Seconds(5));
    Simulator::Run();
    CheckConservation(fabric);

    const FlowMonitor::FlowStats& tcp = flows->GetFlowStats().begin()->second;
    const double seconds = (tcp.timeLastRxPacket - tcp.timeFirstTxPacket).GetSeconds();
    std::printf("TCP in priority %u\n", foreignPriority);
    std::printf("  RDMA done after       %10.3f us\n", rdmaDone.ToDouble(Time::US));
    std::printf("  TCP bytes meanwhile   %10lu\n", static_cast<unsigned long>(tcpMeanwhile));
    std::printf("  FlowMonitor: received %10lu bytes of IP, lost %u packets, %.3f Gb/s\n",
                static_cast<unsigned long>(tcp.rxBytes),
                tcp.lostPackets,
                static_cast<double>(tcp.rxBytes) * 8e-9 / seconds);
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint64_t rdmaBytes = 20'000'000;
    uint64_t tcpBytes = 4'000'000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("rdma", "Bytes to send by RDMA", rdmaBytes);
    cmd.AddValue("tcp", "Bytes to send by TCP", tcpBytes);
    cmd.Parse(argc, argv);
    for (uint32_t foreignPriority : {0U, 3U, 5U})
    {
        Simulate(foreignPriority, rdmaBytes, tcpBytes);
    }
    return 0;
}
