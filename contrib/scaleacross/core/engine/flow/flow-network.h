// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_NETWORK_H
#define SCALEACROSS_FLOW_NETWORK_H

#include "core/base/units.h"
#include "core/engine/max-min.h"
#include "core/spec/multipath.h"
#include "core/spec/traffic-classes.h"

#include <algorithm>
#include <cstdint>
#include <map>
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
 * A bundle is several equal links of which each packet or queue pair takes one. Where a hash
 * chooses, the fullest link holds back what is spread over them, so that a bundle of n links gives
 * 1 / PathSlowdown(flows, n) of its rate while so many flows are there: collisions in expectation.
 *
 * Worked case: two flows of 1 Gbit over one link of 1 Gb/s, the second from 0.5 s on: the first has
 * half of its bits left then, both have 0.5 Gb/s, it ends at 1.5 s and the second at 2 s.
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

    /// Ends it. Domain: its finish time.
    void Finish(Id id, Duration now);

    /// Brings rates up to date with what began and ended.
    void Share(Duration now);

    /// If nothing else changes, of a flow that moves.
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

    /// Whether nothing but its own limit holds a flow back.
    bool IsAtItsLimit(Id id) const
    {
        return m_flows[id].rate >= m_flows[id].limit * (1.0 - kRounding);
    }

    /// Flows whose finish time the last Share() has changed.
    const std::vector<Id>& Changed() const
    {
        return m_changed;
    }

    /// Bytes that each resource has carried up to now.
    std::vector<double> Carried(Duration now) const;

  private:
    static constexpr double kRounding = 1e-9; //!< of rates

    struct Flow
    {
        double bits{0};    //!< in all
        double left{0};    //!< at `since`
        double rate{0};    //!< bit/s
        double limit{0};   //!< bit/s
        double carried{0}; //!< bytes
        Duration since;
        Duration finish;
        bool there{false};
        std::vector<FlowUse> uses;
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

    void Count(const Flow& flow, double sign);
    /// PathSlowdown() of what is on a bundle.
    double SlowdownOf(const Bundle& bundle);

    MaxMin m_rates; //!< flows have the ids of here
    bool m_tellsApart{false};
    std::vector<double> m_bitRates;
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
