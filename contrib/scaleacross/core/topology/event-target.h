// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_EVENT_TARGET_H
#define SCALEACROSS_EVENT_TARGET_H

#include "core/spec/scenario.h"
#include "core/topology/fabric-graph.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What an event happens to, as indices into a FabricGraph.
struct EventTarget
{
    std::vector<uint32_t> links;    //!< all of them, those of the switches included
    std::vector<uint32_t> switches; //!< vertices whose own failure it is; none for a link
};

/**
 * The target of an event by its name. Throws ConfigError (where = path + ".target") if there is no
 * such target, or not of the kind the event needs; the message says which there are.
 */
EventTarget TargetOf(const ClusterSpec& cluster,
                     const FabricGraph& graph,
                     const EventSpec& event,
                     const std::string& path);

/// Checks the targets of all events of a scenario (where = PlaceOf() + ".target").
void CheckEventTargets(const Scenario& scenario);

/// Removes the events whose targets are not there. Throws ConfigError (where = PlaceOf() +
/// ".lanes") for more lanes than a target has that is there.
void EraseEventsWithoutTarget(Scenario& scenario);

/// The same for a scenario whose cluster is a part of `whole` (OnlyBuildings), and whose events are
/// told of the whole one: what happens to a switch or span that forwards, happens to it in the
/// hub that is there in place of its building. Throws ConfigError as CheckEventTargets() of the
/// whole one does, also for events that the part does not have.
void KeepEventsOfPart(const ClusterSpec& whole, Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_EVENT_TARGET_H
