// SPDX-License-Identifier: GPL-2.0-only

#include "standard-run.h"

#include "core/base/errors.h"

#include "ns3/fabric-balance.h"
#include "ns3/fabric-packet.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/scheduler.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>

namespace scaleacross
{

namespace
{

/// Between two looks at how many packets are on wires.
const ns3::Time kSampleInterval = ns3::MicroSeconds(100);

void
UseScheduler(const std::string& name)
{
    ns3::TypeId type;
    if (!ns3::TypeId::LookupByNameFailSafe(name, &type) ||
        !type.IsChildOf(ns3::Scheduler::GetTypeId()))
    {
        throw ConfigError("scheduler " + name,
                          "ns-3 has no event list of that name",
                          "ns3::QuadHeapScheduler, ns3::MapScheduler, ns3::HeapScheduler, "
                          "ns3::PriorityQueueScheduler or another child of ns3::Scheduler",
                          "");
    }
    ns3::Simulator::SetScheduler(ns3::ObjectFactory(name));
}

void
ForEachPort(const ns3::FabricHelper& fabric, const std::function<void(ns3::FabricPort&)>& visit)
{
    for (const auto& nic : fabric.Nics())
    {
        visit(*nic);
    }
    for (const auto& fabricSwitch : fabric.Switches())
    {
        for (uint32_t i = 0; i < fabricSwitch->GetNPorts(); ++i)
        {
            visit(*fabricSwitch->GetPort(i));
        }
    }
}

} // namespace

StandardRun::StandardRun(const StandardWork& work, const Options& options)
    : m_work(work)
{
    UseScheduler(options.scheduler);
    m_fabric.SetLookAhead(options.lookAhead);
    BuildFabric(m_work, m_fabric);
    PrepareFlows();
    if (options.check)
    {
        ConnectSinks();
        m_peakOnWires = 0;
        ns3::Simulator::Schedule(kSampleInterval, [this] { Sample(); });
    }
}

StandardRun::SimulatorGuard::~SimulatorGuard()
{
    ns3::Simulator::Destroy();
}

void
StandardRun::PrepareFlows()
{
    PostFlows(m_work, m_fabric);
    m_unfinished = m_work.flows.size();
    m_completions.resize(m_work.flows.size());
    for (const auto& connection : m_fabric.Connections())
    {
        connection->SetCompletionCallback(ns3::RdmaMessageCallback([this](Bytes, uint64_t flow) {
            m_completions[flow] = Duration::Picoseconds(ns3::Simulator::Now().GetPicoSeconds());
            --m_unfinished;
        }));
        connection->SetFailureCallback(ns3::RdmaFailureCallback([this](const std::string& reason) {
            m_failure = m_failure.empty() ? reason : m_failure;
            ns3::Simulator::Stop();
        }));
    }
}

void
StandardRun::ConnectSinks()
{
    using Sink = ns3::Callback<void, const FabricPacket&>;
    const Sink sink([this](const FabricPacket& packet) {
        m_transmitted += packet.kind == PacketKind::Data ? 1 : 0;
    });
    ForEachPort(m_fabric, [&sink](ns3::FabricPort& port) {
        const bool connected = port.TraceConnectWithoutContext("Transmit", sink);
        SCALEACROSS_INVARIANT(connected, "no trace source Transmit on " + port.Describe());
    });
}

void
StandardRun::Sample()
{
    uint64_t sent = 0;
    uint64_t gone = 0; // or in a switch, where control packets may be among those that wait
    for (const auto& nic : m_fabric.Nics())
    {
        sent += nic->GetDataSent();
        gone += nic->GetDataReceived();
    }
    gone += BalanceOf(m_fabric).Dropped();
    for (const auto& fabricSwitch : m_fabric.Switches())
    {
        gone += fabricSwitch->GetQueuedPackets();
    }
    if (sent > gone)
    {
        m_peakOnWires = std::max(*m_peakOnWires, sent - gone);
    }
    if (m_unfinished > 0)
    {
        ns3::Simulator::Schedule(kSampleInterval, [this] { Sample(); });
    }
}

void
StandardRun::Execute()
{
    ns3::Simulator::Run();
    CheckConservation(m_fabric);
    if (!m_failure.empty())
    {
        throw RunError(m_failure);
    }
    if (m_unfinished > 0)
    {
        throw RunError("deadlock: " + std::to_string(m_unfinished) + " of " +
                       std::to_string(m_work.flows.size()) + " flows are not complete; " +
                       DescribeWaiting(m_fabric));
    }
    CheckHops();
}

StandardResult
StandardRun::GetResult() const
{
    StandardResult result;
    for (const auto& nic : m_fabric.Nics())
    {
        result.dataPacketHops += nic->GetDataReceived() * WiresPerFlow(m_work);
        for (uint32_t i = 0; i < nic->GetNQueuePairs(); ++i)
        {
            result.reordered += nic->GetQueuePair(i)->GetCounters().outOfOrder;
        }
    }
    result.events = ns3::Simulator::GetEventCount();
    result.dropped = BalanceOf(m_fabric).Dropped();
    for (const auto& fabricSwitch : m_fabric.Switches())
    {
        result.pauseFrames += fabricSwitch->GetPauses();
    }
    result.completions = m_completions;
    result.peakOnWires = m_peakOnWires;
    return result;
}

void
StandardRun::CheckHops() const
{
    const StandardResult result = GetResult();
    if (result.dropped == 0)
    {
        // Then every packet that was sent, ACKs included, has crossed all wires of its path.
        uint64_t atPorts = 0;
        ForEachPort(m_fabric, [&](ns3::FabricPort& port) { atPorts += port.GetSentPackets(); });
        uint64_t atNics = 0;
        for (const auto& nic : m_fabric.Nics())
        {
            atNics += nic->GetSentPackets();
        }
        SCALEACROSS_INVARIANT(atPorts == atNics * WiresPerFlow(m_work),
                              "ports have sent " + std::to_string(atPorts) + " packets, NICs " +
                                  std::to_string(atNics) + " over " +
                                  std::to_string(WiresPerFlow(m_work)) + " wires each");
    }
    if (m_peakOnWires)
    {
        SCALEACROSS_INVARIANT(m_transmitted == result.dataPacketHops,
                              "sinks have counted " + std::to_string(m_transmitted) +
                                  " data packet-hops, counters say " +
                                  std::to_string(result.dataPacketHops));
    }
}

const ns3::FabricHelper&
StandardRun::GetFabric() const
{
    return m_fabric;
}

} // namespace scaleacross
