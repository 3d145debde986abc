// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-sampler.h"

#include "core/base/csv-field.h"
#include "core/base/errors.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

using scaleacross::ConfigError;

namespace
{

void
Open(std::ofstream& file, const std::string& name, Time period, const char* columns)
{
    file.open(name);
    file << "# ns3::FabricSampler, every " << period.GetPicoSeconds() << " ps\n" << columns << "\n";
    if (!file)
    {
        throw ConfigError("FabricSampler::Start",
                          "cannot write " + name,
                          "a folder that exists",
                          "");
    }
}

} // namespace

FabricSampler::FabricSampler(FabricHelper& fabric)
    : m_fabric(fabric)
{
}

FabricSampler::~FabricSampler()
{
    m_event.Cancel();
    if (m_follows)
    {
        *m_follows = false;
    }
}

void
FabricSampler::AddPort(Ptr<FabricPort> port)
{
    m_ports.push_back({port, Time(0), Time(0), ""});
}

void
FabricSampler::AddConnection(Ptr<RdmaConnection> connection)
{
    m_flows.push_back({connection});
}

void
FabricSampler::AddAll()
{
    for (const auto& fabricSwitch : m_fabric.Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            AddPort(fabricSwitch->GetPort(i));
        }
    }
    for (const auto& nic : m_fabric.Nics())
    {
        AddPort(nic);
    }
    for (const auto& connection : m_fabric.Connections())
    {
        AddConnection(connection);
    }
    if (!m_follows)
    {
        m_follows = std::make_shared<bool>(true);
        m_fabric.AddConnectionSink(
            [this, follows = m_follows](const Ptr<RdmaConnection>& connection) {
                if (*follows)
                {
                    AddConnection(connection);
                }
            });
    }
}

void
FabricSampler::Start(const std::string& prefix, Time period, Time last)
{
    if (period.IsZero() || !m_event.IsExpired())
    {
        throw ConfigError("FabricSampler::Start",
                          period.IsZero() ? "a period of 0" : "called twice",
                          "more than 0, once",
                          "");
    }
    m_period = period;
    m_last = last;
    if (!m_ports.empty())
    {
        Open(m_portFile,
             prefix + "-ports.csv",
             period,
             "time_ps,port,queue_bytes,stopped_priorities,sent_bytes,ecn_marked,utilisation,"
             "stopped_share,name,pauses_sent,pauses_received");
    }
    if (!m_flows.empty() || m_follows)
    {
        Open(m_flowFile,
             prefix + "-flows.csv",
             period,
             "time_ps,flow,delivered_bytes,acked_bytes,goodput_bps,allowed_bps,unacked_packets,"
             "retransmissions,window_packets,label");
    }
    for (auto& sampled : m_ports)
    {
        sampled.busy = sampled.port->GetBusyTime();
        sampled.stopped = sampled.port->GetPausedTime();
    }
    for (const auto& wire : m_fabric.Wires())
    {
        m_reach = std::max(m_reach, wire->GetDelay());
    }
    m_announced = Simulator::Now();
    Announce(Simulator::Now());
    if (Simulator::Now() + m_period <= m_last)
    {
        m_event = Simulator::Schedule(m_period, &FabricSampler::Sample, this);
    }
}

void
FabricSampler::Announce(Time from)
{
    // A switch may be ahead by a wire's delay: samples are announced before it can be there.
    while (m_announced + m_period <= std::min(m_last, from + m_reach + m_period))
    {
        m_announced += m_period;
        m_fabric.HoldAt(m_announced);
    }
}

void
FabricSampler::Sample()
{
    for (auto& sampled : m_ports)
    {
        SamplePort(sampled);
    }
    for (size_t i = 0; i < m_flows.size(); ++i)
    {
        SampleFlow(m_flows[i], i);
    }
    const Time now = Simulator::Now();
    Announce(now);
    if (now + m_period <= m_last)
    {
        m_event = Simulator::Schedule(m_period, &FabricSampler::Sample, this);
        return;
    }
    m_portFile.close();
    m_flowFile.close();
}

void
FabricSampler::SamplePort(SampledPort& sampled)
{
    FabricPort& port = *sampled.port;
    uint64_t queue = port.GetQueueBytes();
    if (Ptr<RdmaNic> nic = DynamicCast<RdmaNic>(sampled.port))
    {
        queue += nic->GetForeignQueueBytes();
    }
    uint32_t stopped = 0;
    for (uint8_t priority = 0; priority < scaleacross::kPriorities; ++priority)
    {
        stopped |= port.IsPaused(priority) ? 1U << priority : 0U;
    }
    Ptr<SwitchPort> switchPort = DynamicCast<SwitchPort>(sampled.port);
    const uint64_t marked = switchPort ? switchPort->GetEcnMarked() : 0;
    const Time busy = port.GetBusyTime();
    const Time paused = port.GetPausedTime();
    const double period = m_period.GetSeconds();
    if (sampled.name.empty())
    {
        sampled.name = scaleacross::CsvField(m_fabric.NameOf(port));
    }
    m_portFile << Simulator::Now().GetPicoSeconds() << ',' << port.Describe() << ',' << queue << ','
               << stopped << ',' << port.GetSentBytes() << ',' << marked << ','
               << (busy - sampled.busy).GetSeconds() / period << ','
               << (paused - sampled.stopped).GetSeconds() / period << ',' << sampled.name << ','
               << port.GetPausesSent() << ',' << port.GetPausesReceived() << '\n';
    sampled.busy = busy;
    sampled.stopped = paused;
}

void
FabricSampler::SampleFlow(SampledFlow& sampled, size_t number)
{
    const RdmaConnection& connection = *sampled.connection;
    uint64_t delivered = 0;
    uint64_t acked = 0;
    uint64_t unacked = 0;
    uint64_t allowed = 0;
    uint64_t window = 0;
    bool bounded = true;
    for (uint32_t i = 0; i < connection.GetNQueuePairs(); ++i)
    {
        Ptr<RdmaQueuePair> sender = connection.GetQueuePair(i);
        delivered += connection.GetRemoteQueuePair(i)->GetCounters().deliveredBytes;
        acked += sender->GetCounters().ackedBytes;
        unacked += sender->GetUnacked();
        allowed += sender->GetRate().GetBitRate(); // brings what follows up to date as well
        const uint64_t packets = sender->Requester().Allowance().Packets();
        bounded = bounded && packets < scaleacross::kMostUnacked;
        window += packets;
    }
    const double rate =
        static_cast<double>(delivered - sampled.delivered) * 8 / m_period.GetSeconds();
    m_flowFile << Simulator::Now().GetPicoSeconds() << ',' << number << ',' << delivered << ','
               << acked << ',' << rate << ',' << allowed << ',' << unacked << ','
               << connection.GetRetransmissions() << ',' << (bounded ? std::to_string(window) : "")
               << ',' << scaleacross::CsvField(connection.GetLabel()) << '\n';
    sampled.delivered = delivered;
}

} // namespace ns3
