// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLUID_NETWORK_H
#define SCALEACROSS_FLUID_NETWORK_H

#include "core/base/units.h"
#include "core/engine/transfer-cost.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * Volumes of transfers under way, which share ports and cuts as a fluid.
 *
 * A transfer has a volume of 1 and moves at a rate x (per second). On a cut with total weight W it
 * gets the fraction w / W of the capacity: x <= (w / W) / cutSeconds. On a port the transfers share
 * max-min fairly, where one that its cut holds back leaves the rest to the others: shares f of the
 * port with sum f <= 1 and x = f / portSeconds.
 *
 * Worked case: two transfers of portSeconds 1 start together on one port; the first is held to a
 * tenth of the port by its cut. It gets 0.1, the other 0.9 and ends after 1.11 s.
 */
class FluidNetwork
{
  public:
    using Id = uint32_t;

    FluidNetwork(uint32_t classes, uint32_t cuts);

    /**
     * Starts a transfer of class `classId` at `now`. `cost` must outlive it; its portSeconds > 0.
     *
     * `round` numbers the stretches between which all ranks of the class meet (iterations). Within
     * one, ranks that queued at a cut stay apart by the time they waited, so that at the next
     * transfer the first of them use the cut before the last, whose time this is: of its N = flows
     * turns on the cut up to N - 1 fall into the time the cut was idle, as far as the one before
     * spread them. A closed loop of N customers with think time Z and one server of time s has the
     * period max(N s, Z + s), not N s + Z.
     */
    Id Start(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now);

    /// Ends it; call at its finish time only.
    void Finish(Id id, Duration now);

    /// Starts and ends a transfer that has its port and its cut to itself all the time; returns
    /// when it ends. Domain: nothing of the class is on the port and nothing on the cut, from `now`
    /// to the end.
    Duration Pass(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now);

    /// When its volume will have moved if nothing else changes.
    Duration FinishTime(Id id) const
    {
        return m_transfers[id].finish;
    }

    /// Transfers whose finish time changed since the list was last cleared.
    std::vector<Id>& Changed()
    {
        return m_changed;
    }

  private:
    struct Transfer
    {
        const TransferCost* cost{nullptr};
        uint32_t port{0};
        uint32_t round{0};
        double cutSeconds{0}; //!< of the cost, less what the idle cut has taken already
        double left{0};       //!< volume not moved yet, at `since`
        double rate{0};
        Duration since;
        Duration finish;
    };

    struct Cut
    {
        std::vector<Id> active;
        double weight{0};
        // Of the transfer that ended last:
        uint32_t classId{UINT32_MAX};
        uint32_t round{0};
        Duration end;
        double spread{0}; //!< s by which it set the ranks apart
    };

    double Credit(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now) const;

    /// What a transfer that ends leaves behind for the next one.
    void Leave(const TransferCost& cost, uint32_t classId, uint32_t round, Duration now);

    /// Recomputes what a change on this port and this cut touches.
    void Share(uint32_t port, uint32_t cut, Duration now);
    void SharePort(uint32_t port, Duration now);
    double CutRate(const Transfer& transfer) const;
    void SetRate(Id id, double rate, Duration now);

    std::vector<Transfer> m_transfers;
    std::vector<Id> m_free;
    std::vector<std::vector<Id>> m_ports; //!< active transfers by class x kPorts + port
    std::vector<Cut> m_cuts;
    std::vector<Id> m_changed;
    std::vector<uint32_t> m_touched; //!< scratch of Share
    std::vector<bool> m_settled;     //!< scratch of SharePort
};

} // namespace scaleacross

#endif // SCALEACROSS_FLUID_NETWORK_H
