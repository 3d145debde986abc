// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MAX_MIN_H
#define SCALEACROSS_MAX_MIN_H

#include "core/engine/state-words.h"

#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace scaleacross
{

/**
 * Max-min fair rates of flows that share resources.
 *
 * Knows nothing of networks: a resource has a capacity of 1, and a flow takes of it what its rate
 * says. Of a link of B bytes/s, a flow that moves x volumes of S bytes per second takes a x with
 * the demand a = S / B seconds.
 *
 * Set, by Add() and Remove(): the flows f, each with a weight w > 0, a limit L > 0 of its rate, and
 * its demand a(f, r) > 0 of every resource r that it uses. Computed, by Solve(): the rates x with
 *
 *     sum over f of a(f, r) x(f) <= 1   for every resource r,
 *     x(f) <= L(f)                      for every flow f,
 *
 * such that no flow's level x / w could rise but at the cost of one that has no higher level. There
 * is exactly one solution: that in which every flow is at its limit, or has a bottleneck, a
 * resource that is full and on which no other flow has a higher level.
 *
 * Progressive filling finds it. All levels rise together from 0, until a flow is at its limit or a
 * resource is full. What is held by that keeps its rate, the others rise on.
 *
 * Kept up incrementally. A resource that would not be full if all of its flows ran at their limits
 * (or at 1 / a of what they use, which limits them as well) holds nobody. Flows that came, and
 * those that had their bottleneck where one went, are filled anew between what the others keep;
 * then the others are looked at with whom they share something that is full: one whose bottleneck
 * is none any more, or who has a higher level where one that was filled anew is held, is filled
 * anew with them, until there is none. So everybody has a bottleneck in the end, as in a filling of
 * all. The rates are a function of the flows that are there, whatever came and went before, up to
 * rounding. Rounding follows from the order of their arrivals alone if that is kept.
 *
 * Worked system: resources P and Q; flow 1 on P and Q, 2 on P, 3 on Q with a demand of 2; weights
 * 1, no limits. Levels rise to 1/3, where Q is full: 1/3 + 2/3. Flows 1 and 3 stay there; 2 rises
 * on to 2/3, where P is full. When flow 3 goes, 1 and 2 share P: 1/2 each. With a limit of 0.1 for
 * flow 1, flow 2 would have 0.9 and flow 3 0.45.
 *
 * With classes (TellClassesApart) a resource first shares among the classes of its flows: strict
 * ones (of weight 0) go first, a larger number before a smaller one; those with weights W share
 * what is left in proportion to W, and what one of them does not use is shared by the others.
 * Within a class all is as above. So a flow has a bottleneck, a resource on which no flow of its
 * class has a higher level, no strict class behind its own has anything, and no class with a weight
 * has more for its W. What a class is sure to get on a resource, whatever else is held back
 * elsewhere, only grows as others are held; flows for which all others on a resource have
 * nothing better elsewhere are held there. Where each waits for another in a circle, which takes
 * classes of unlike numbers of flows, one that goes before the others is held at what it is sure
 * to get. All that shares something with what has changed is filled anew.
 *
 * Worked system with classes: P; two flows of class 0 and one of class 1, weights 1 and 3: 1/8, 1/8
 * and 3/4. Class 1 strict: 0, 0 and 1.
 *
 * Cost of a change: O(k (k + n)) for k flows that are filled anew with n uses in all, less where
 * many are held at once, and a look at all flows of what these use.
 */
class MaxMin
{
  public:
    using Flow = uint32_t;

    struct Use
    {
        uint32_t resource{0};
        double demand{0}; //!< > 0
    };

    /// When a flow came: rounding depends on the order of flows by it, and on nothing else where
    /// it is kept (KeepOrder()).
    struct Arrival
    {
        int64_t time{0};
        uint32_t owner{0};
        uint64_t number{0}; //!< how many flows there were before it

        bool operator<(const Arrival& o) const
        {
            return std::tie(time, owner, number) < std::tie(o.time, o.owner, o.number);
        }
    };

    explicit MaxMin(uint32_t resources);

    /// Before the first flow: sums over the flows of a resource are made in the order of their
    /// arrivals, whenever they were added. Removing a flow then costs as many steps as there are
    /// flows on what it uses.
    void KeepOrder()
    {
        m_keepsOrder = true;
    }

    /// One more resource; its number is that of those before.
    uint32_t AddResource();

    /// Before the first flow: weights by class, 0 for a strict one.
    void TellClassesApart(std::vector<double> weights);

    /// Before the first flow: to this resource all flows are of one class.
    void ServeAlike(uint32_t resource)
    {
        m_resources[resource].alike = true;
    }

    /// Before the first flow: what this resource does not take can wait in front of it, so that it
    /// holds nobody back until its capacity is set.
    void LetWait(uint32_t resource)
    {
        m_resources[resource].waits = true;
        m_resources[resource].capacity = kUnlimited;
    }

    static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

    /// From the next Solve() on a resource has so much of what it had at first. Domain: (0, 1], and
    /// kUnlimited where something may wait.
    void SetCapacity(uint32_t resource, double capacity);

    /// A flow begins, with a rate of 0 until Solve(). Ids of flows that have gone are used again.
    /// Each resource stands in `uses` at most once. Without uses and limit its rate is infinite.
    /// Domain: `flowClass` has a weight, if classes are told apart.
    /// Of flows with one time and owner, those that are added first come first.
    Flow Add(double weight,
             double limit,
             const std::vector<Use>& uses,
             uint32_t flowClass = 0,
             int64_t time = 0,
             uint32_t owner = 0);

    /// A flow came so much later than was said.
    void Delay(Flow flow, int64_t time)
    {
        m_flows[flow].arrival.time += time;
    }

    /// A flow ends.
    void Remove(Flow flow);

    /// Brings the rates up to date with what came and went.
    void Solve();

    /// As of the last Solve().
    double Rate(Flow flow) const
    {
        return m_flows[flow].rate;
    }

    /// Flows whose rate Solve() has changed since the list was last cleared; one may stand there
    /// twice, or have gone.
    std::vector<Flow>& Changed()
    {
        return m_changed;
    }

    /// Calls `look` with each flow that uses a resource.
    template <class Look>
    void ForFlowsOf(uint32_t resource, Look look) const
    {
        for (const User& user : m_resources[resource].flows)
        {
            look(user.flow);
        }
    }

    /// What the flows of a resource would take of it if each were alone.
    double Most(uint32_t resource) const
    {
        return m_resources[resource].most;
    }

    /// The same of one flow; 0 where it does not use it.
    double Most(uint32_t resource, Flow flow) const
    {
        for (const FlowUse& use : m_flows[flow].uses)
        {
            if (use.resource == resource)
            {
                return use.demand * m_flows[flow].most;
            }
        }
        return 0;
    }

    const Arrival& ArrivalOf(Flow flow) const
    {
        return m_flows[flow].arrival;
    }

    /// Writes down all that decides what becomes of a flow, but for its place among the others in
    /// the order in which they came. Domain: the order is kept, nothing has come or gone since
    /// Solve().
    void Describe(Flow flow, StateWords& words) const;

    /// What of a resource is in use, as of the last Solve(): in [0, its capacity], but for
    /// rounding.
    double Load(uint32_t resource) const;

  private:
    /// In place of a resource: nothing but the flow itself.
    static constexpr uint32_t kOwnLimit = UINT32_MAX;

    /// Levels that differ by less are reached at once: what rounding makes of equal ones.
    static constexpr double kSame = 1.0 + 1e-12;

    /// Of what is left of a resource that counts as full, and of levels that count as equal, where
    /// flows that were filled at different times meet.
    static constexpr double kNear = 1e-11;

    struct FlowUse
    {
        uint32_t resource{0};
        uint32_t position{0}; //!< in the resource's list
        double demand{0};
    };

    struct FlowState
    {
        double weight{1};
        double most{0}; //!< the rate that it could have if it were alone
        double rate{0};
        double before{0};               //!< filling: the rate until then
        uint32_t bottleneck{kOwnLimit}; //!< resource that holds it
        uint64_t mark{0};               //!< the filling that it takes part in
        Arrival arrival;
        bool held{false};
        bool there{false};
        uint32_t flowClass{0};
        std::vector<FlowUse> uses;
    };

    struct User
    {
        Flow flow{0};
        uint32_t use{0}; //!< which of its uses this is
    };

    struct ResourceState
    {
        std::vector<User> flows;
        double most{0};    //!< sum of what its flows would take if they were alone
        uint32_t holds{0}; //!< flows that have their bottleneck here, and are not filled
        double capacity{1};
        uint64_t mark{0};
        uint64_t full{0};    //!< the pass in which somebody was held here
        double left{0};      //!< filling: what those leave that are held or take no part
        double weight{0};    //!< filling: demand x weight of those that rise
        uint32_t rising{0};  //!< filling: how many that are
        bool alike{false};   //!< all flows are of one class here
        bool waits{false};   //!< LetWait()
        uint32_t classes{0}; //!< filling: where the ClassState of its first class is
    };

    /// Of a class on a resource, while it is filled.
    struct ClassState
    {
        double held{0};   //!< what those take that are held
        double weight{0}; //!< demand x weight of those that rise
        double level{0};  //!< what they are sure to reach
        bool rising{false};
        bool agreed{true}; //!< none of them is held back more elsewhere
        bool settled{false};
    };

    bool MayBeFull(const ResourceState& resource) const
    {
        return resource.most > resource.capacity;
    }

    void Rise(ResourceState& resource);
    void Erase(ResourceState& resource, uint32_t position);
    void AddUp(ResourceState& resource);
    void Include(Flow flow);
    void SortFilled();
    void Conclude();
    void Connect();
    void Fill();
    void IncludeWhoMayNotStay();
    void Seed(const ResourceState& resource, uint32_t number);
    double NextLevel() const;
    void Hold(Flow flow, double rate);

    // With classes
    void IncludeConnected();
    void FillByClass();
    void FindLevels();
    void FindLevels(ResourceState& resource);
    void Settle(const ResourceState& resource);
    double LevelOf(const FlowState& flow) const;
    bool HoldSettled();
    void HoldFirst();
    void HoldInClass(Flow flow, uint32_t bottleneck, double rate);

    /// On a resource that tells classes apart the flow's class, else the first.
    ClassState& ClassOf(const ResourceState& resource, const FlowState& flow)
    {
        return m_classStates[resource.classes + (resource.alike ? 0 : flow.flowClass)];
    }

    const ClassState& ClassOf(const ResourceState& resource, const FlowState& flow) const
    {
        return m_classStates[resource.classes + (resource.alike ? 0 : flow.flowClass)];
    }

    std::vector<double> m_classWeights; //!< empty: classes are not told apart
    std::vector<FlowState> m_flows;
    std::vector<Flow> m_free;
    std::vector<ResourceState> m_resources;
    std::vector<Flow> m_changed;
    std::vector<Flow> m_seeds;          //!< flows to be filled anew
    std::vector<Flow> m_filled;         //!< scratch: all that are
    std::vector<Flow> m_rising;         //!< scratch: those of them that are not held yet
    std::vector<uint32_t> m_touched;    //!< scratch: the resources that these use
    std::vector<Flow> m_leaving;        //!< scratch: of the others, who is filled in the next pass
    std::vector<uint32_t> m_connecting; //!< scratch: those of them on which somebody rises
    std::vector<ClassState> m_classStates; //!< scratch: by touched resource x class
    uint64_t m_mark{0};                    //!< of flows that are filled
    uint64_t m_pass{0};                    //!< of resources
    uint64_t m_added{0};                   //!< flows so far
    bool m_keepsOrder{false};
};

} // namespace scaleacross

#endif // SCALEACROSS_MAX_MIN_H
