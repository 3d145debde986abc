// SPDX-License-Identifier: GPL-2.0-only

#include "collective-application.h"

#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CollectiveApplication);

TypeId
CollectiveApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CollectiveApplication")
            .SetParent<TrainingApplication>()
            .SetGroupName("ScaleAcross")
            .AddConstructor<CollectiveApplication>()
            .AddTraceSource("Completed",
                            "This member is through with a repetition: its number from 0, the time "
                            "since it began.",
                            MakeTraceSourceAccessor(&CollectiveApplication::m_completedTrace),
                            "ns3::CollectiveGroup::CompletedTracedCallback");
    return tid;
}

CollectiveApplication::CollectiveApplication() = default;

CollectiveApplication::~CollectiveApplication() = default;

void
CollectiveApplication::SetMember(Ptr<CollectiveGroup> group, uint32_t member)
{
    m_group = group;
    m_group->Join();
    SetRank(&group->GetGraph(), member, group->GetTransport());
    SetIterations(group->GetRepetitions());
    TraceConnectWithoutContext("Iteration", MakeCallback(&CollectiveApplication::Began, this));
    TraceConnectWithoutContext("Finished", MakeCallback(&CollectiveApplication::Ended, this));
}

Ptr<CollectiveGroup>
CollectiveApplication::GetGroup() const
{
    return m_group;
}

void
CollectiveApplication::Began(scaleacross::Rank /* member */, uint32_t repetition)
{
    if (repetition > 0)
    {
        NoteEnd(repetition - 1);
    }
    m_begun = Simulator::Now();
    m_group->Begin(repetition);
}

void
CollectiveApplication::Ended(scaleacross::Rank /* member */)
{
    NoteEnd(m_group->GetRepetitions() - 1);
}

void
CollectiveApplication::NoteEnd(uint32_t repetition)
{
    m_completedTrace(repetition, Simulator::Now() - m_begun);
    m_group->End(repetition);
}

void
CollectiveApplication::DoDispose()
{
    TrainingApplication::DoDispose(); // lets go of the steps, which are the group's
    if (m_group)
    {
        m_group->Leave();
        m_group = nullptr;
    }
}

} // namespace ns3
