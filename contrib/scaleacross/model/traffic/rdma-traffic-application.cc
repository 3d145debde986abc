// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-traffic-application.h"

#include "core/base/errors.h"

#include "ns3/log.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaTrafficApplication");
NS_OBJECT_ENSURE_REGISTERED(RdmaTrafficApplication);

TypeId
RdmaTrafficApplication::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RdmaTrafficApplication")
                            .SetParent<Application>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<RdmaTrafficApplication>();
    return tid;
}

RdmaTrafficApplication::RdmaTrafficApplication()
    : m_destination(CreateObject<UniformRandomVariable>()),
      m_failed(std::make_shared<uint64_t>(0))
{
}

RdmaTrafficApplication::~RdmaTrafficApplication() = default;

void
RdmaTrafficApplication::SetInterval(Ptr<RandomVariableStream> seconds)
{
    m_interval = seconds;
}

void
RdmaTrafficApplication::SetSize(Ptr<RandomVariableStream> bytes)
{
    m_size = bytes;
}

void
RdmaTrafficApplication::SetDestinations(uint32_t count, ConnectionMaker make)
{
    m_destinations = count;
    m_make = std::move(make);
}

void
RdmaTrafficApplication::SetMaxFlows(uint64_t flows)
{
    m_maxFlows = flows;
}

uint64_t
RdmaTrafficApplication::GetFlows() const
{
    return m_flows;
}

uint64_t
RdmaTrafficApplication::GetBytes() const
{
    return m_bytes;
}

uint64_t
RdmaTrafficApplication::GetFailed() const
{
    return *m_failed;
}

int64_t
RdmaTrafficApplication::AssignStreams(int64_t stream)
{
    m_interval->SetStream(stream);
    m_size->SetStream(stream + 1);
    m_destination->SetStream(stream + 2);
    return 3;
}

void
RdmaTrafficApplication::DoDispose()
{
    m_make = nullptr;
    m_interval = nullptr;
    m_size = nullptr;
    m_destination = nullptr;
    RepeatingApplication::DoDispose();
}

void
RdmaTrafficApplication::DoStart()
{
    if (!m_make || !m_interval || !m_size)
    {
        throw scaleacross::ConfigError("RdmaTrafficApplication",
                                       "it has no destinations, intervals or sizes",
                                       "applications with all three set",
                                       "RdmaTrafficHelper installs them");
    }
}

std::optional<Time>
RdmaTrafficApplication::NextGap()
{
    if (m_maxFlows != 0 && m_flows >= m_maxFlows)
    {
        return std::nullopt;
    }
    return Seconds(m_interval->GetValue());
}

void
RdmaTrafficApplication::Act()
{
    const auto bytes = static_cast<uint64_t>(std::max(1.0, m_size->GetValue()));
    const uint32_t to = m_destination->GetInteger(0, m_destinations - 1);
    const Ptr<RdmaConnection> connection = m_make(to);
    NS_LOG_INFO(Simulator::Now().As(Time::US) << " " << connection->Describe() << ": flow "
                                              << m_flows << " of " << bytes << " bytes");
    using Sink = Callback<void, Ptr<const RdmaConnection>, const std::string&>;
    connection->TraceConnectWithoutContext(
        "Failed",
        Sink([failed = m_failed](Ptr<const RdmaConnection>, const std::string&) { ++*failed; }));
    if (!connection->Send(scaleacross::Bytes(bytes), m_flows))
    {
        ++*m_failed; // before there was a sink
    }
    m_flows++;
    m_bytes += bytes;
}

} // namespace ns3
