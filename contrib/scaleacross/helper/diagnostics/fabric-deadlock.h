// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_DEADLOCK_H
#define SCALEACROSS_FABRIC_DEADLOCK_H

#include "ns3/switch-port.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class FabricHelper;

/**
 * A cycle of egress queues, each of which waits for the next one and the last for the first.
 *
 * Queue X waits for queue Z if X is paused by the switch at the other end of its wire, or lacks
 * credits of it, and packets that came in there by that wire, with the priority of X, wait in Z,
 * which is an egress queue of that switch.
 */
struct FabricDeadlock
{
    std::vector<Ptr<SwitchPort>> ports; //!< in order; empty: no deadlock
    std::vector<uint8_t> priorities;    //!< of their queues: all alike but for a LaneMap

    bool Exists() const
    {
        return !ports.empty();
    }

    /// "deadlock: node 0 port 1 priority 3 waits for node 1 port 1, which waits for node 2 port 1,
    /// which waits for node 0 port 1"; "" if there is none. Each port has its priority where they
    /// are not all alike.
    std::string Text() const;
};

/**
 * Finds out whether pauses, or credits that cannot come, have locked the fabric as it is now, and
 * names one cycle.
 *
 * Method: at first every egress queue counts as stuck that holds packets and is paused by a switch
 * that still keeps it so, or lacks credits. A queue is not stuck if that switch could resume it, or
 * grant enough for its first packet, once all packets were gone that are not in stuck queues; this
 * is repeated until nothing changes. What is left cannot go
 * on, whatever else happens (short of packets being thrown away, by a PFC watchdog for instance):
 * there are no false alarms. In what is left every queue waits for another one, so that going on
 * from any of them leads to a cycle.
 *
 * Cost: every queue in the fabric is walked along once. Nothing is kept up to date for it while the
 * simulation runs.
 *
 * Worked case: three switches in a ring, each of which sends what the one before has sent it on to
 * the next. When all three have paused each other, each waits for memory that only the next one
 * can free.
 */
FabricDeadlock FindDeadlock(const FabricHelper& fabric);

} // namespace ns3

#endif // SCALEACROSS_FABRIC_DEADLOCK_H
