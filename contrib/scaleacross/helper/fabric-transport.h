// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_TRANSPORT_H
#define SCALEACROSS_FABRIC_TRANSPORT_H

#include "core/spec/network-plan.h"

#include <set>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Sets up the switches, NICs and queue pairs that are created from now on for a transport, as
 * TransportFacts has it: FabricSwitch::Credits, Trim, TrimThreshold and TrimReferenceRate,
 * RdmaQueuePair::WindowCountsFlight, the sizes of packets (UseFormat); where switches trim, no
 * pauses, and FabricPort::Quanta, which let ten bytes of data by to one of headers and answers.
 * Pauses are left as they are elsewhere. doc/infiniband.md and doc/trimming.md say what for.
 *
 * Trimming needs UseRecovery(selective repeat), which is a choice of its own. `chosen` names
 * attributes ("ns3::Type::Attribute") that are to be left alone.
 */
void UseTransport(FabricHelper& fabric,
                  scaleacross::Transport transport,
                  const std::set<std::string>& chosen = {});

/// Gives the NICs that are created from now on these sizes of packets.
void UseFormat(FabricHelper& fabric,
               const scaleacross::PacketFormat& format,
               const std::set<std::string>& chosen = {});

} // namespace ns3

#endif // SCALEACROSS_FABRIC_TRANSPORT_H
