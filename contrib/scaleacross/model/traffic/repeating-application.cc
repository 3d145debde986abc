// SPDX-License-Identifier: GPL-2.0-only

#include "repeating-application.h"

#include "ns3/node.h"
#include "ns3/partition-check.h"
#include "ns3/simulator.h"

namespace ns3
{

RepeatingApplication::RepeatingApplication() = default;

RepeatingApplication::~RepeatingApplication() = default;

void
RepeatingApplication::DoInitialize()
{
    scaleacross::CheckPartition(GetNode(), GetInstanceTypeId().GetName());
    Application::DoInitialize();
}

void
RepeatingApplication::DoDispose()
{
    m_next.Remove();
    m_disposed = true;
    Application::DoDispose();
}

void
RepeatingApplication::StartApplication()
{
    if (m_disposed)
    {
        return; // a node starts what it was given
    }
    DoStart();
    // One that has been stopped before it starts would go on for ever.
    if (m_stopTime.IsZero() || Simulator::Now() < m_stopTime)
    {
        ScheduleNext();
    }
}

void
RepeatingApplication::StopApplication()
{
    m_next.Remove(); // a cancelled event would hold up the end of the simulation
}

void
RepeatingApplication::ScheduleNext()
{
    if (const std::optional<Time> gap = NextGap())
    {
        m_next = Simulator::Schedule(*gap, &RepeatingApplication::Repeat, this);
    }
}

void
RepeatingApplication::Repeat()
{
    Act();
    ScheduleNext();
}

} // namespace ns3
