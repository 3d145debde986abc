// SPDX-License-Identifier: GPL-2.0-only

#include "collective-group.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CollectiveGroup");
NS_OBJECT_ENSURE_REGISTERED(CollectiveGroup);

TypeId
CollectiveGroup::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CollectiveGroup")
            .SetParent<Object>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<CollectiveGroup>()
            .AddTraceSource(
                "Completed",
                "All members are through with a repetition: its number from 0, the time "
                "since the first of them began it.",
                MakeTraceSourceAccessor(&CollectiveGroup::m_completedTrace),
                "ns3::CollectiveGroup::CompletedTracedCallback");
    return tid;
}

CollectiveGroup::CollectiveGroup() = default;

CollectiveGroup::~CollectiveGroup() = default;

void
CollectiveGroup::Set(scaleacross::TaskGraph graph,
                     Ptr<ClusterTransport> transport,
                     uint32_t repetitions)
{
    m_graph = std::move(graph);
    m_transport = transport;
    m_begun.resize(repetitions);
    m_begins.resize(repetitions);
    m_ends.resize(repetitions);
}

const scaleacross::TaskGraph&
CollectiveGroup::GetGraph() const
{
    return m_graph;
}

Ptr<ClusterTransport>
CollectiveGroup::GetTransport() const
{
    return m_transport;
}

uint32_t
CollectiveGroup::GetRepetitions() const
{
    return static_cast<uint32_t>(m_ends.size());
}

uint32_t
CollectiveGroup::GetCompleted() const
{
    return m_completed;
}

void
CollectiveGroup::Join()
{
    m_members++;
}

void
CollectiveGroup::Leave()
{
    if (--m_members == 0)
    {
        Dispose();
    }
}

void
CollectiveGroup::Begin(uint32_t repetition)
{
    if (m_begins.at(repetition)++ == 0)
    {
        m_begun[repetition] = Simulator::Now();
    }
}

void
CollectiveGroup::End(uint32_t repetition)
{
    if (++m_ends.at(repetition) < m_graph.ranks)
    {
        return;
    }
    m_completed++;
    const Time took = Simulator::Now() - m_begun[repetition];
    NS_LOG_INFO(Simulator::Now().As(Time::US)
                << " " << m_graph.collectives.front().name << " of " << m_graph.ranks
                << " members: repetition " << repetition << " complete after "
                << took.As(Time::US));
    m_completedTrace(repetition, took);
}

void
CollectiveGroup::DoDispose()
{
    if (m_transport)
    {
        m_transport->Dispose();
        m_transport = nullptr;
    }
    Object::DoDispose();
}

} // namespace ns3
