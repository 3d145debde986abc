// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RESOURCE_USE_H
#define SCALEACROSS_RESOURCE_USE_H

#include "core/engine/class-costs.h"

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

namespace scaleacross
{

/**
 * What the programs of a task graph put on ports and cuts in one iteration, and who does.
 *
 * Resources are numbered as the evaluator's: kPorts for every class, then the cuts.
 */
class ResourceUse
{
  public:
    /// Whether a body may be taken in one step.
    enum class Step : uint8_t
    {
        Never,
        WhileIdle, //!< while no gather and no reduction of its class is queued
        Always
    };

    /// Sets the demands of the costs, too (ClassCosts::ShareCuts).
    ResourceUse(const TaskGraph& graph, ClassCosts& costs);

    /// Resources of a graph with so many classes, before the cuts.
    static uint32_t Ports(const TaskGraph& graph)
    {
        return static_cast<uint32_t>(graph.classes.size()) * kPorts;
    }

    static uint32_t OfPort(uint32_t classId, Port port)
    {
        return classId * kPorts + static_cast<uint32_t>(port);
    }

    /// Payload and headers in one iteration: of a port, those of the class's busiest rank; of a
    /// cut, all.
    double Bytes(uint32_t resource) const
    {
        return m_resources[resource].bytes;
    }

    /// Calls `visit` with every resource that a transfer uses, and its payload and headers there.
    void ForEach(const TransferCost& cost,
                 uint32_t sender,
                 uint32_t receiver,
                 const std::function<void(uint32_t, double)>& visit) const;

    /// Of these, what has to pass it however packets are routed: all but detours.
    double InevitableBytes(uint32_t resource) const
    {
        return m_resources[resource].bytes - m_resources[resource].detours;
    }

    /// Of the inevitable, what gathers and reductions put on it.
    double InevitableOfParameters(uint32_t resource) const
    {
        return m_resources[resource].parameters;
    }

    /**
     * Whether a resource can hold anything back; if not, it need not be looked at.
     *
     * Not one that would not be full if every class that uses it did nothing else: a class has one
     * NIC and one NVLink, so that of what it has under way no more than the greatest demand per
     * second of its port comes together. And not one with another beside it of which every transfer
     * takes as much or more, whatever head start it may have there (FluidNetwork::Start).
     */
    bool IsNeeded(uint32_t resource) const
    {
        return m_resources[resource].needed;
    }

    /**
     * A body's collectives are what they take alone if nothing else is on what they use. On what
     * messages use, or other classes, something may come at any time. What the class's own gathers
     * and reductions use is free while none of them is queued: a body posts none.
     */
    Step StepOf(uint32_t classId, uint32_t body) const;

  private:
    /// A kind of transfer.
    struct Known
    {
        const TransferCost* cost{nullptr};
        uint32_t sender{0};
        uint32_t receiver{0};
        uint32_t atOnce{1};
    };

    /// What one kind of transfer takes of a resource.
    struct Share
    {
        const TransferCost* cost{nullptr};
        uint32_t sender{0};
        uint32_t receiver{0};
        double demand{0};
        double seconds{0};  //!< alone
        double flows{0};    //!< on a cut
        uint32_t atOnce{1}; //!< how many of the kind may be under way: chunks
    };

    struct Resource
    {
        double bytes{0};
        double detours{0};
        double parameters{0}; //!< of gathers and reductions, without detours
        bool shared{false};   //!< messages use it, or several classes
        bool data{false};     //!< gathers and reductions do
        uint32_t user{UINT32_MAX};
        bool needed{false};
        std::vector<Share> shares;
    };

    /// Calls `visit` with every resource that a transfer uses, its bytes there, and what of them is
    /// on detours.
    template <class Visit>
    void ForEachOf(const TransferCost& cost, uint32_t sender, uint32_t receiver, Visit visit) const;
    void CountFlows(const TransferCost& cost);
    void Know(const Known& known);
    void AddShares(const Known& known);
    bool MayBeFull(const Resource& resource) const;
    bool IsCovered(uint32_t resource) const;
    bool SharesAlike(uint32_t a, uint32_t b) const;
    bool Covers(uint32_t other, uint32_t resource) const;
    bool HasHeadStarts(uint32_t resource) const;
    void AddMessage(uint32_t classId, const Op& op);
    void AddCollective(uint32_t classId, const Op& op, double times);
    void AddClass(uint32_t classId);

    const TaskGraph& m_graph;
    ClassCosts& m_costs;
    std::vector<Resource> m_resources;
    // Flows that may be on a cut at once: of each class, those of the transfer that has most.
    std::vector<double> m_flows;        //!< by cut, of the classes counted so far
    std::vector<double> m_flowsOfClass; //!< by cut, of the class being counted
    std::unordered_set<const TransferCost*> m_seen;
    std::vector<Known> m_known;
};

} // namespace scaleacross

#endif // SCALEACROSS_RESOURCE_USE_H
