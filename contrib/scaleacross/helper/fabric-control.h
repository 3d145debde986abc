// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_CONTROL_H
#define SCALEACROSS_FABRIC_CONTROL_H

#include "core/spec/network-plan.h"

#include <set>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Gives the queue pairs that are created from now on a congestion control, and sets up the switches
 * that are created from now on for it. To be called after UseMultipath, whose marking it replaces
 * if it needs one.
 *
 * What that is for each is said by CongestionControlFacts, and in doc/congestion-control.md.
 * RdmaQueuePair::CongestionOps gets its type, and switches mark data as it needs, else as they do.
 *
 * Thresholds grow with the rate of the port. Receivers send CNPs, one
 * per CnpInterval at most or one for every mark, where the control has a notification; where it
 * pulls, windows count what is under way, and selective repeat is needed. `chosen` names attributes
 * ("ns3::Type::Attribute") that are to be left alone; with RdmaQueuePair::CongestionOps among them,
 * nothing is set.
 */
void UseControl(FabricHelper& fabric,
                scaleacross::CongestionControl control,
                const std::set<std::string>& chosen = {});

} // namespace ns3

#endif // SCALEACROSS_FABRIC_CONTROL_H
