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
 * | control | RdmaQueuePair::CongestionOps | marking of data in switches                          |
 * |---------|------------------------------|------------------------------------------------------|
 * | None    | none                         | as it is                                             |
 * | Dcqcn   | ns3::Dcqcn                   | RED 5 to 200 kB at 40 Gb/s, up to 0.01 (its paper)   |
 * | Dctcp   | ns3::DctcpLike               | from 100 kB at 100 Gb/s on (8 us of queue) all       |
 * | Swift   | ns3::Swift                   | as it is                                             |
 * | Timely  | ns3::Timely                  | as it is                                             |
 * | Hpcc    | ns3::Hpcc                    | as it is; MaxPacketSize has to allow TelemetryBytes  |
 * | Nscc    | ns3::Nscc                    | RED 50 to 168 kB at 100 Gb/s (4 to 13 us), up to 1   |
 * | Receiver- | ns3::ReceiverCredit        | the same, for entropies that are recycled            |
 * |  Credit |                              |                                                      |
 * | InfinibandCc | ns3::InfinibandCc       | from 50 kB at 100 Gb/s on (4 us of queue) one of 16  |
 *
 * Thresholds grow with the rate of the port. Of the controls DCQCN has the receivers send CNPs, one
 * per CnpInterval at most, and InfinibandCc one for every mark; ReceiverCredit has windows count
 * what is under way, and needs selective repeat. `chosen` names attributes ("ns3::Type::Attribute")
 * that are to be left alone; with RdmaQueuePair::CongestionOps among them, nothing is set.
 */
void UseControl(FabricHelper& fabric,
                scaleacross::CongestionControl control,
                const std::set<std::string>& chosen = {});

/// Most bytes that it adds to a packet that passes so many switches.
uint32_t TelemetryBytes(scaleacross::CongestionControl control, uint32_t switches);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_CONTROL_H
