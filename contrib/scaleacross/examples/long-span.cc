// SPDX-License-Identifier: GPL-2.0-only

// An all-reduce with DCQCN over two buildings 1 ms apart, whose span loses packets, beside a TCP
// transfer over the same span: by ECMP, and sprayed. Writes long-span-ecmp.csv and
// long-span-spray-adaptive.csv (draw them with analysis/fct.py), and a capture of the first NIC
// each.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/scaleacross-module.h"

#include <cstdio>

using namespace ns3;

void
Simulate(const std::string& paths, const std::string& prefix, uint64_t bytes)
{
    FabricHelper fabric;
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(64 << 20));
    UseMultipath(fabric, paths);
    UseControl(fabric, "dcqcn");
    UseRecovery(fabric, "selective-repeat", paths == "ecmp" ? 0 : 256);
    fabric.SetNicAttribute("ForeignQueueSize", UintegerValue(64 << 20)); // a window of TCP

    FabricBuildingHelper buildings;
    buildings.SetSpines(2);
    buildings.SetSpanPfc(false); // pauses would take headroom of a round trip
    buildings.AddBuilding(4, 1, DataRate("100Gbps"));
    buildings.AddBuilding(4, 1, DataRate("100Gbps"));
    buildings.AddSpan(0, 1, DataRate("200Gbps"), MilliSeconds(1), 1e-5);
    std::vector<RdmaNicContainer> nics = buildings.Install(fabric);
    fabric.AssignStreams(1);

    CollectiveHelper allReduce("all_reduce", bytes);
    allReduce.SetAlgorithm("hierarchical");
    allReduce.SetCompletionCallback(Callback<void, uint32_t, Time>([&](uint32_t, Time took) {
        std::printf("%-14s all-reduce %10.3f ms\n", paths.c_str(), took.ToDouble(Time::MS));
    }));
    allReduce.Install(fabric, nics);

    Ipv4InterfaceContainer addresses = FabricInternetHelper().Install(fabric);
    BulkSendHelper tcp("ns3::TcpSocketFactory", InetSocketAddress(addresses.GetAddress(7), 5001));
    tcp.SetAttribute("MaxBytes", UintegerValue(bytes));
    tcp.Install(nics[0].Get(3)->GetNode());
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    ApplicationContainer sinks = sink.Install(nics[1].Get(3)->GetNode());

    FabricFctHelper fct(fabric);
    fct.Enable(prefix + "-" + paths + ".csv");
    FabricPcapHelper pcap(fabric);
    pcap.SetSnapLength(128);
    pcap.EnablePcap(prefix + "-" + paths, nics[0].Get(3));
    Simulator::Stop(Seconds(2));
    Simulator::Run();
    std::printf("%-14s TCP %lu bytes\n",
                paths.c_str(),
                DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx());
    Simulator::Destroy();
}

int
main(int argc, char* argv[])
{
    std::string prefix = "long-span";
    uint64_t bytes = 16'000'000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("prefix", "Beginning of the names of the files", prefix);
    cmd.AddValue("bytes", "To reduce, and to send by TCP", bytes);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);
    Config::SetDefault("ns3::TcpSocket::SndBufSize",
                       UintegerValue(32 << 20)); // above rate x round trip
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(32 << 20));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(100));
    for (const char* paths : {"ecmp", "spray-adaptive"})
    {
        Simulate(paths, prefix, bytes);
    }
    return 0;
}
