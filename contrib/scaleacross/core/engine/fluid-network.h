// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLUID_NETWORK_H
#define SCALEACROSS_FLUID_NETWORK_H

#include "core/base/units.h"
#include "core/engine/max-min.h"
#include "core/engine/transfer-cost.h"
#include "core/spec/traffic-classes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Who moves a transfer, as far as sharing goes.
struct TransferPlace
{
    uint32_t sender{0};   //!< class on whose outgoing ports it is
    uint32_t receiver{0}; //!< class on whose incoming ports it is
    /// Number of the stretch between which all ranks of the sender meet (the iteration).
    uint32_t round{0};
    /// Groups of its ranks that go on without each other, so that what sets them apart keeps them
    /// apart (see FluidNetwork::Start): replicas that send messages do, ranks of one replica and
    /// members of a collective meet. 1: all meet.
    double parties{1};
    uint32_t trafficClass{0}; //!< of TellApart()
};

/// Part of a transfer that moved at one rate.
struct MovedVolume
{
    const TransferCost* cost{nullptr};
    TransferPlace place;
    double volume{0}; //!< of transfers like it: 1 each
    Duration begin;
    Duration end;
};

/**
 * Volumes of transfers under way, as flows of a MaxMin over the ports of the classes and the cuts.
 *
 * A transfer has a volume of 1 and moves at a rate x (per second), no faster than it could alone.
 * It takes x times its seconds of each port and its demand of each cut on its way, and no port and
 * no cut gives more than it has. Its weight is that of its sender's port: transfers of a class that
 * nothing else holds share the port evenly, and on a cut each has what its NICs offer to it, in
 * equal proportion.
 *
 * Worked case: two transfers of 1 s each start together on one port; the first is held to a tenth
 * of the port by its cut. It gets 0.1, the other 0.9 and ends after 1.11 s.
 */
class FluidNetwork
{
  public:
    using Id = uint32_t;

    FluidNetwork(uint32_t classes, uint32_t cuts);

    /// Before the first transfer: NICs and cuts serve traffic classes as `weights` say
    /// (MaxMin::TellClassesApart); the network inside servers knows none. A transfer may then have
    /// to wait, with a finish time of Duration::Max().
    void TellApart(const ClassWeights& weights);

    /// Before the first transfer: adds all that moves to `moved`, which has to outlive it.
    void Watch(std::vector<MovedVolume>& moved)
    {
        m_moved = &moved;
    }

    /// Leaves out a resource that can hold nothing back (numbered as in ResourceUse). Domain:
    /// before the first transfer.
    void LeaveOut(uint32_t resource)
    {
        m_leftOut[resource] = true;
    }

    /**
     * Starts a transfer at `now`. `cost` must outlive it.
     *
     * Within a round, ranks that queued at a cut stay apart by the time they waited, so that at the
     * next transfer the first of them use the cut before the last, whose time this is: of its
     * N = parties turns on the cut up to N - 1 fall into the time for which nobody else used the
     * cut since, as far as the one before spread them. Ranks of a party use the cut together. A
     * closed loop of N customers with think time Z and one server of time s has the period max(N s,
     * Z + s), not N s + Z. What is taken of idle time is taken once: all work on a cut fits in the
     * time that there was.
     *
     * `alike` transfers that do everything at the same time are one, which takes so many times the
     * ports and cuts and moves no faster than each of them could. It takes `held` seconds at least,
     * for what its connection has under way (ConnectionWindow).
     */
    Id Start(const TransferCost& cost,
             const TransferPlace& place,
             Duration now,
             uint32_t alike = 1,
             double held = 0);

    /// Ends it; call at its finish time only.
    void Finish(Id id, Duration now);

    /// When its volume will have moved if nothing else changes.
    Duration FinishTime(Id id) const
    {
        return m_transfers[id].finish;
    }

    /// Whether a transfer started before another, or at the same time and was to.
    bool IsBefore(Id a, Id b) const
    {
        return m_rates.ArrivalOf(a) < m_rates.ArrivalOf(b);
    }

    /// Writes down all that decides what becomes of a transfer, but for its place among the others
    /// in the order in which they started.
    void Describe(Id id, Duration now, StateWords& words) const;

    /// Writes down what transfers of a class have left on a cut for the next one of the round
    /// (Start()). Not how much of the cut has been used: only what is used from then on counts.
    void DescribeTrace(uint32_t sender,
                       uint32_t cut,
                       uint32_t round,
                       Duration now,
                       StateWords& words) const;

    /// The part of a cut that a transfer takes at most, once it has started.
    static double MostOn(const CutUse& use,
                         const TransferCost& cost,
                         uint32_t alike,
                         double parties)
    {
        // Of a message's time on the cut, the turns of others may have passed before.
        const double least = std::max(cost.PortSeconds(), parties > 1 ? 0.0 : use.seconds);
        const double demand = use.demand * alike;
        return demand < least ? demand / least : 1.0;
    }

    /// The part of a cut that the transfers on it take at most.
    double MostOn(uint32_t cut) const
    {
        return m_rates.Most(m_firstCut + cut);
    }

    /// The same of one transfer.
    double MostOn(uint32_t cut, Id id) const
    {
        return m_rates.Most(m_firstCut + cut, id);
    }

    /// Whether a cut can hold anything back (LeaveOut()).
    bool IsThere(uint32_t cut) const
    {
        return !m_leftOut[m_firstCut + cut];
    }

    /// Time of a cut that has been used so far, in units of its own (kCutUnits).
    uint64_t UsedUnits(uint32_t cut, Duration now) const
    {
        return UsedOf(cut, now);
    }

    /// Units of a cut's time in so many seconds.
    static uint64_t UnitsOf(double seconds);

    /// A transfer takes place so much later.
    void Delay(Id id, Duration by);

    /// What transfers of a class have left on a cut they left so much later, when so many more
    /// units of it had been used.
    void DelayTrace(uint32_t sender, uint32_t cut, Duration by, uint64_t used);

    /// So many units more of a cut have been used.
    void Use(uint32_t cut, uint64_t units)
    {
        m_cuts[cut].done += units;
    }

    /// All ranks of a class have met since they last used a cut, as after a transfer of one party.
    void Meet(uint32_t sender, uint32_t cut)
    {
        TraceOf(sender, cut).round = UINT32_MAX;
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
        TransferPlace place;
        uint32_t alike{1};
        double left{0}; //!< volume not moved yet, at `since`
        double rate{0};
        Duration since;
        Duration finish;
        std::vector<MaxMin::Use> onCuts; //!< what it has to move there
    };

    struct Cut
    {
        uint64_t done{0};       //!< units of its time that have been used, but for those active
        std::vector<Id> active; //!< transfers
    };

    /// Of a class's last transfer on a cut.
    struct Trace
    {
        uint32_t round{UINT32_MAX};
        Duration end;
        uint64_t used{0}; //!< UsedOf() the cut then
        double spread{0}; //!< s by which it set the ranks apart
    };

    Trace& TraceOf(uint32_t sender, uint32_t cut)
    {
        return m_traces[size_t{sender} * m_cuts.size() + cut];
    }

    /// Units of a cut's time per second. Its used time is counted in whole ones, 0.01 ps each, so
    /// that what is used between two times does not depend, by rounding, on what was used before
    /// them. Modulo 2^64: what is used between two times is known up to three days of it.
    static constexpr double kCutUnits = 0x1p46;

    /// Units of a cut's time that have been used.
    uint64_t UsedOf(uint32_t cut, Duration now) const;

    /// Seconds that a class may have used of a cut before a transfer that starts now, at most.
    double HeadStart(const CutUse& use, const TransferPlace& place, Duration now);

    /// How long the last flow of a transfer waits for the turns of the others.
    static double Queue(const TransferCost& cost, const CutUse& use, const TransferPlace& place);

    /// The part of a cut's time that all parties but the last one take.
    static double TurnsOfOthers(const CutUse& use, const TransferPlace& place);

    /// What a transfer that ends leaves behind for the next one.
    void Leave(const Transfer& transfer, const CutUse& use, Duration now);

    /// What a transfer has moved since its rate changed.
    void Tell(const Transfer& transfer, double volume, Duration now);

    /// Brings the rates up to date.
    void Share(Duration now);

    MaxMin m_rates; //!< flows have the ids of their transfers
    uint32_t m_firstCut;
    bool m_tellsApart{false};
    std::vector<bool> m_leftOut; //!< by resource
    std::vector<Transfer> m_transfers;
    std::vector<Cut> m_cuts;
    std::vector<Trace> m_traces; //!< by class x cut
    std::vector<Id> m_changed;
    std::vector<MovedVolume>* m_moved{nullptr}; //!< null: nobody watches
    std::vector<MaxMin::Use> m_uses;            //!< scratch of Start
};

} // namespace scaleacross

#endif // SCALEACROSS_FLUID_NETWORK_H
