// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_NETWORK_H
#define SCALEACROSS_FLOW_NETWORK_H

#include "core/base/units.h"
#include "core/engine/event-heap.h"
#include "core/engine/max-min.h"
#include "core/spec/multipath.h"
#include "core/spec/traffic-classes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// What a flow takes of a resource: of each of its bits so much goes over it.
struct FlowUse
{
    uint32_t resource{0};
    double share{1};       //!< above 0; above 1 where it stands for several flows
    double connections{0}; //!< of a bundle: that choose among its links,
    double pairs{0};       //!< and their queue pairs
    /// Flows of one group have the same path, and count as one while any of them is there.
    uint32_t group{kNoGroup};

    static constexpr uint32_t kNoGroup = UINT32_MAX;
};

/**
 * Volumes under way over links of given rates, shared max-min fairly: all rates rise together, in
 * proportion to the flows' weights, until a link is full or a flow at its limit (MaxMin).
 *
 * Where there is room to wait in front of a link (LetWait), it holds back nobody until that is
 * full. What comes faster than it leaves waits in the order in which it comes: the last bit of a
 * flow that has left its sender at a time t goes on when all that came until then has, w(t) / c
 * later for w bits that wait and a link of rate c. Of several such links on a way the slowest
 * counts: behind it what a flow sends comes no faster than the others let it. So a flow that began
 * a little earlier is through earlier by r / c times that, with senders of rate r: who waits for
 * the same link again and again comes to take turns. Flows that leave their senders at the same
 * time do so too, as the last packet of each waits for the one before.
 *
 * A bundle is several equal links of which each packet or queue pair takes one. Where a hash
 * chooses, the fullest link holds back what is spread over them, so that a bundle of n links gives
 * 1 / PathSlowdown(flows, n) of its rate while so many flows are there: collisions in expectation.
 *
 * Worked case: two flows of 1 Gbit over one link of 1 Gb/s, the second from 0.5 s on: the first has
 * half of its bits left then, both have 0.5 Gb/s, it ends at 1.5 s and the second at 2 s. With
 * senders of 2 Gb/s each, the second from 0.25 s on: they would end at 1.75 s and 2 s; with room to
 * wait the first has left its sender at 0.5 s, when 1 Gbit waits of the 1.5 that have come, and
 * ends at 1.5 s; the second has left at 0.75 s, when 1.25 Gbit wait, and ends at 2 s.
 */
class FlowNetwork
{
  public:
    using Id = uint32_t;

    /// Of a flow or a resource that may be as fast as it likes.
    static inline const BitRate kNoLimit{1e18};

    /// Rates of resources 0, 1, ...
    explicit FlowNetwork(const std::vector<BitRate>& rates);

    /// Before the first flow: all resources serve traffic classes as `weights` say
    /// (MaxMin::TellClassesApart). A flow may then have to wait, with a finish time of
    /// Duration::Max().
    void TellApart(const ClassWeights& weights);

    /**
     * Before the first flow that uses it: in front of a resource there is so much room for what
     * comes too fast, in packets of so many bytes. Without room: as before.
     */
    void LetWait(uint32_t resource, Bytes room, Bytes packet);

    /// One more resource; its number.
    uint32_t AddLink(BitRate rate);

    /// A bundle of `links` with `rate` in all; its number.
    uint32_t AddBundle(BitRate rate, uint32_t links, Multipath multipath);

    /**
     * Begins a flow of so many bits on the wire, of which `carried` bytes count for what resources
     * carry. It moves from the next Share() on, no faster than `limit`.
     */
    Id Start(double bits,
             double carried,
             double weight,
             BitRate limit,
             const std::vector<FlowUse>& uses,
             Duration now,
             uint32_t trafficClass = 0);

    /// All of it has left its sender. Domain: its finish time. Returns how long its last bit waits
    /// on its way.
    Duration Finish(Id id, Duration now);

    /// Brings rates up to date with what began and ended.
    void Share(Duration now);

    /// When to Share() next, if nothing begins or ends until then; Duration::Max(): never.
    Duration NextChange() const;

    /// Whether flows have left their senders at the same time for where something waits, so that
    /// the order in which they are told decides who is through first; those that one stands for do
    /// so.
    bool OrderDecides() const
    {
        return m_orderDecides;
    }

    /// How long a bit waits on its way that leaves its sender now.
    Duration WaitNow(const std::vector<FlowUse>& uses, Duration now) const;

    /// When a flow that moves has left its sender, if nothing else changes.
    Duration FinishTime(Id id) const
    {
        return m_flows[id].finish;
    }

    /// Bits that have not been sent.
    double Left(Id id, Duration now) const
    {
        const Flow& flow = m_flows[id];
        return std::max(0.0, flow.left - flow.rate * (now - flow.since).S());
    }

    /// The part of it that has been sent.
    double Sent(Id id, Duration now) const
    {
        return 1.0 - Left(id, now) / m_flows[id].bits;
    }

    /// The part of it that is sent in a second.
    double SentPerSecond(Id id) const
    {
        return m_flows[id].rate / m_flows[id].bits;
    }

    /// Flows whose finish time the last Share() has changed.
    const std::vector<Id>& Changed() const
    {
        return m_changed;
    }

    /// Bytes that each resource has carried up to now: those that have come to it less those that
    /// wait.
    std::vector<double> Carried(Duration now) const;

  private:
    struct Flow
    {
        double bits{0};    //!< in all
        double left{0};    //!< at `since`
        double rate{0};    //!< bit/s
        double carried{0}; //!< bytes
        Duration since;
        Duration finish;
        bool there{false};
        std::vector<FlowUse> uses;
    };

    /// What waits in front of a resource, in seconds of its rate.
    struct Queue
    {
        double room{0};
        double packet{0};
        double waiting{0};  //!< at `since`
        double load{0};     //!< that comes in a second
        double capacity{1}; //!< that leaves in a second, at most
        Duration since;
        bool full{false};
        bool touched{false};
        uint32_t alike{0};               //!< flows that stand for several here
        Duration ended{Duration::Max()}; //!< when flows last left their senders,
        uint32_t behind{0};              //!< and how many of these have not been told yet
    };

    /// What has left its sender, and stays among those that choose links until it is through.
    struct Departing
    {
        Duration at;
        std::vector<FlowUse> uses;

        bool operator<(const Departing& other) const
        {
            return at > other.at; // earliest on top
        }
    };

    struct Bundle
    {
        uint32_t links{1};
        Multipath multipath;
        double connections{0};
        double pairs{0};
        bool changed{false};
        std::unordered_map<uint32_t, uint32_t> groups; //!< flows of each
    };

    void Count(const std::vector<FlowUse>& uses, double sign);
    Duration WaitOf(const FlowUse& use, Duration now);
    uint32_t EndingOn(uint32_t resource, Duration now) const;
    static double WaitingAt(const Queue& queue, Duration now);
    void Touch(uint32_t resource, Duration now);
    void TakeRates(Duration now);
    bool Settle(Duration now);
    bool Settle(uint32_t resource, Duration now);

    /// PathSlowdown() of what is on a bundle.
    double SlowdownOf(const Bundle& bundle);

    MaxMin m_rates; //!< flows have the ids of here
    bool m_tellsApart{false};
    std::vector<double> m_bitRates;
    std::vector<Queue> m_queues;     //!< by resource; without room nothing waits
    std::vector<uint32_t> m_touched; //!< queues whose load has changed
    EventHeap m_fills;               //!< when there will be no room left
    std::priority_queue<Departing> m_departing;
    bool m_orderDecides{false};
    std::vector<double> m_sent; //!< bits of flows that have ended, by resource
    std::vector<Flow> m_flows;
    std::vector<double> m_carried;        //!< bytes of flows that have ended, by resource
    std::map<uint32_t, Bundle> m_bundles; //!< by resource
    std::vector<uint32_t> m_recounted;    //!< bundles whose flows have changed
    std::map<std::pair<uint64_t, uint64_t>, double> m_slowdowns; //!< by flows and links
    std::vector<Id> m_changed;
    std::vector<MaxMin::Use> m_scratch;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_NETWORK_H
