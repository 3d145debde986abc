// SPDX-License-Identifier: GPL-2.0-only

// Two hosts send to a third one over a lossy wire, with ECN, PFC and other Ethernet packets; what
// the receiving NIC sends and receives goes into a pcap file with real headers. Look at it with
//   tshark -r pcap-trace-3-0.pcap
// and compare with what the trace sinks said: --list writes one line for each packet.

#include "ns3/command-line.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-pcap-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

using namespace ns3;
using scaleacross::FabricPacket;
using scaleacross::PacketKind;

namespace
{

const char*
NameOf(PacketKind kind)
{
    switch (kind)
    {
    case PacketKind::Data:
        return "data";
    case PacketKind::Ack:
        return "ack";
    case PacketKind::Nak:
        return "nak";
    case PacketKind::Cnp:
        return "cnp";
    case PacketKind::Foreign:
        return "foreign";
    default:
        return "other";
    }
}

/// Counts what passes a NIC, and lists it.
class Observer
{
  public:
    Observer(Ptr<RdmaNic> nic, const std::string& list)
    {
        if (!list.empty())
        {
            m_list.open(list);
            m_list << "time_ps,way,kind,psn,queue_pair,payload,priority,marked,ack_requested\n";
        }
        using Sink = Callback<void, const FabricPacket&>;
        nic->TraceConnectWithoutContext("Transmit", Sink([this](const FabricPacket& packet) {
                                            Note("sent", packet);
                                        }));
        nic->TraceConnectWithoutContext("Receive", Sink([this](const FabricPacket& packet) {
                                            Note("received", packet);
                                        }));
    }

    void Print() const
    {
        for (const auto& [name, count] : m_counts)
        {
            std::printf("%-18s %6lu\n", name.c_str(), static_cast<unsigned long>(count));
        }
    }

  private:
    void Note(const std::string& way, const FabricPacket& packet)
    {
        ++m_counts[way + " " + NameOf(packet.kind)];
        if (m_list.is_open())
        {
            m_list << Simulator::Now().GetPicoSeconds() << ',' << way << ',' << NameOf(packet.kind)
                   << ',' << packet.psn << ',' << packet.queuePair << ',' << packet.payload << ','
                   << unsigned{packet.priority} << ',' << packet.ecnMarked << ','
                   << packet.ackRequested << '\n';
        }
    }

    std::map<std::string, uint64_t> m_counts;
    std::ofstream m_list;
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    std::string prefix = "pcap-trace";
    std::string list;
    double loss = 0.01;
    uint32_t snap = 65535;
    CommandLine cmd(__FILE__);
    cmd.AddValue("prefix", "Beginning of the names of the pcap files", prefix);
    cmd.AddValue("list", "File to list the packets of the receiving NIC in", list);
    cmd.AddValue("loss", "Probability that the receiver's wire loses a packet", loss);
    cmd.AddValue("snap", "Most bytes of a packet that the pcap files keep", snap);
    cmd.Parse(argc, argv);

    FabricHelper fabric;
    fabric.SetNicAttribute("PathMtu", UintegerValue(1024));
    fabric.SetSwitchAttribute("BufferSize", UintegerValue(200'000));
    fabric.SetSwitchAttribute("EcnPriorities", UintegerValue(1U << 3));
    fabric.SetQueuePairAttribute("CongestionOps", StringValue("ns3::Dcqcn"));
    fabric.SetQueuePairAttribute("Timeout", UintegerValue(4)); // 66 us
    Ptr<FabricSwitch> leaf = fabric.AddSwitch();
    for (uint32_t i = 0; i < 3; ++i)
    {
        Ptr<RdmaNic> nic = fabric.AddNic(fabric.AddHost());
        fabric.Connect(nic, leaf, DataRate("100Gbps"), MicroSeconds(1), i == 2 ? loss : 0);
    }
    fabric.InstallRoutes();
    fabric.AssignStreams(1);
    Ptr<RdmaNic> receiver = fabric.Nics()[2];

    FabricPcapHelper pcap(fabric);
    pcap.SetSnapLength(snap);
    pcap.EnablePcap(prefix, receiver);
    pcap.EnablePcap(prefix, leaf->GetPort(0));
    Observer observer(receiver, list);

    for (uint32_t i = 0; i < 2; ++i)
    {
        Ptr<RdmaConnection> connection = fabric.CreateConnection(fabric.Nics()[i], receiver);
        for (uint64_t message = 0; message < 4; ++message)
        {
            connection->Send(scaleacross::Bytes(50'001), message);
        }
    }
    for (uint32_t us = 0; us < 20; us += 2)
    {
        Simulator::Schedule(MicroSeconds(us), [&fabric, receiver]() {
            const uint16_t experimental = 0x88B5;
            fabric.Nics()[0]->Send(Create<Packet>(200), receiver->GetAddress(), experimental);
        });
    }
    Simulator::Run();
    observer.Print();
    std::printf("pauses sent by the switch %lu\n", static_cast<unsigned long>(leaf->GetPauses()));
    Simulator::Destroy();
    return 0;
}
