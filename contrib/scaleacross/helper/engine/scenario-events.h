// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCENARIO_EVENTS_H
#define SCALEACROSS_SCENARIO_EVENTS_H

#include "core/spec/scenario.h"

#include "ns3/fabric-events.h"

namespace ns3
{

class ClusterHelper;

/**
 * Makes the events of a scenario happen in the cluster that was built from it, with the delays of
 * its network plan. To be called before the run; the cluster has to outlive it. Null if there are
 * no events. Throws ConfigError for a target that does not exist.
 */
Ptr<FabricEvents> ScheduleEvents(const scaleacross::Scenario& scenario, ClusterHelper& cluster);

} // namespace ns3

#endif // SCALEACROSS_SCENARIO_EVENTS_H
