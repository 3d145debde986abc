// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_BALANCE_H
#define SCALEACROSS_FABRIC_BALANCE_H

#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * Where all packets of a fabric are: sent = delivered + dropped + in flight.
 *
 * Data, ACKs and NAKs count, pause frames do not. "Sent" has begun to leave a NIC, "delivered" has
 * arrived at the NIC it was meant for, whatever the transport there makes of it. Packets in flight
 * are really counted, along every wire and queue; nothing is computed from the other figures.
 */
struct FabricBalance
{
    uint64_t sent{0};
    uint64_t delivered{0};
    uint64_t inFlight{0};
    std::array<uint64_t, scaleacross::kDropReasons> dropped{}; //!< by DropReason

    uint64_t Dropped() const;
    bool Holds() const;
    /// "sent 10 = delivered 7 + dropped 1 (wire-loss 1) + in flight 2".
    std::string Text() const;
};

/// May be called at any time.
FabricBalance BalanceOf(const FabricHelper& fabric);

/// Aborts with the figures if the balance does not hold, or CheckCapacity finds something; returns
/// it.
FabricBalance CheckConservation(const FabricHelper& fabric);

/// Aborts with wire, bytes and capacity if a direction of a wire has carried more than its rate
/// allows in the time it was up (LaneMeter). May be called at any time.
void CheckCapacity(const FabricHelper& fabric);

/**
 * Who waits for whom, one line each: first the cycle of ports if there is a deadlock
 * (FindDeadlock), then queue pairs with messages that are not acknowledged, and ports
 * that hold packets of a paused priority, or of a lane without enough credits, with the port that
 * they wait for. Empty if nobody waits.
 *
 * For the message of a simulation that has stopped before its messages were delivered.
 */
std::string DescribeWaiting(const FabricHelper& fabric);

/// Messages that have been sent and neither delivered nor given up because their connection failed.
uint64_t CountUndelivered(const FabricHelper& fabric);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_BALANCE_H
