// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-events.h"

#include "cluster-helper.h"
#include "core/topology/event-target.h"
#include "study-attributes.h"

#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"

#include <string>

namespace ns3
{

using namespace scaleacross;

namespace
{

Time
ToTime(Duration duration)
{
    return PicoSeconds(duration.Ps());
}

} // namespace

Ptr<FabricEvents>
ScheduleEvents(const Scenario& scenario, ClusterHelper& cluster)
{
    if (scenario.events.empty())
    {
        return nullptr;
    }
    cluster.AddForeignTraffic(scenario);
    auto events = CreateObject<FabricEvents>();
    for (const auto& [name, value] : StudyAttributesOf(FabricEvents::GetTypeId(), scenario.network))
    {
        events->SetAttribute(name, *value);
    }
    events->SetFabric(cluster.GetFabric());
    for (size_t i = 0; i < scenario.events.size(); i++)
    {
        const EventSpec& event = scenario.events[i];
        const EventTarget where =
            TargetOf(scenario.cluster, cluster.GetGraph(), event, PlaceOf(scenario.events, i));
        FabricTarget target;
        target.name = event.target;
        for (const uint32_t link : where.links)
        {
            target.wires.push_back(cluster.GetWire(link));
        }
        for (const uint32_t vertex : where.switches)
        {
            target.switches.push_back(cluster.GetSwitch(vertex));
        }
        const Time at = ToTime(event.at);
        switch (event.kind->change)
        {
        case EventChange::Fails:
            events->Fail(target, at, ToTime(event.until));
            break;
        case EventChange::Slows:
            events->Degrade(target, event.factor, at, ToTime(event.until));
            break;
        case EventChange::Flaps:
            events->Flap(target, at, ToTime(event.down), ToTime(event.period), event.count);
            break;
        case EventChange::Shares:
            break; // by AddForeignTraffic
        }
    }
    return events;
}

} // namespace ns3
