// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_CLASSES_H
#define SCALEACROSS_FABRIC_CLASSES_H

#include "core/spec/network-plan.h"

#include <cstdint>
#include <set>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Sets up the NICs and switches that are created from now on to serve the traffic classes of a
 * study, after all else that is set up for its transport and control; nothing if all is in one.
 *
 * Class c has priority ClassPriority(c), below those of ACKs (6) and CNPs (7). Priorities of
 * classes in use are lossless where there are pauses (FabricSwitch::LosslessPriorities), and marked
 * where the control goes by marks (EcnPriorities). Strict classes need no more, as larger
 * priorities go first; if one has a weight, ports send as many full packets of it in its turn
 * (FabricPort::Quanta of NICs and switches) as its weight over the greatest common divisor of all.
 * With trimming, trimmed headers and answers keep their share beside data, one byte to ten.
 *
 * `chosen` names attributes ("ns3::Type::Attribute") that are to be left alone.
 *
 * Worked case: weights 2:6 and packets of 4,178 bytes: classes 0 and 1 are priorities 2 and 3 with
 * quanta 0,0,4178,12534,0,0,0,0.
 */
void UseClasses(FabricHelper& fabric,
                const scaleacross::NetworkPlan& network,
                const std::set<std::string>& chosen = {});

/// The priority of packets of a traffic class, if there are several.
constexpr uint8_t
ClassPriority(uint32_t trafficClass)
{
    return static_cast<uint8_t>(2 + trafficClass);
}

/// Gives the queue pairs that are created from now on the priority of a class; nothing if all is in
/// one.
void UseClass(FabricHelper& fabric,
              const scaleacross::TrafficClasses& classes,
              uint32_t trafficClass);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_CLASSES_H
