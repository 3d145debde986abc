// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/resource-use.h"

#include <algorithm>
#include <map>

namespace scaleacross
{

ResourceUse::ResourceUse(const TaskGraph& graph, ClassCosts& costs)
    : m_graph(graph),
      m_costs(costs),
      m_resources(Ports(graph) + costs.Cuts()),
      m_flows(costs.Cuts(), 0.0)
{
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        m_flowsOfClass.assign(costs.Cuts(), 0.0);
        AddClass(c);
        for (uint32_t cut = 0; cut < costs.Cuts(); cut++)
        {
            m_flows[cut] += m_flowsOfClass[cut];
        }
    }
    costs.ShareCuts(m_flows);
    for (const Known& known : m_known)
    {
        AddShares(known);
    }
    for (uint32_t r = 0; r < m_resources.size(); r++)
    {
        m_resources[r].needed = MayBeFull(m_resources[r]);
    }
    for (uint32_t r = 0; r < m_resources.size(); r++)
    {
        m_resources[r].needed = m_resources[r].needed && !IsCovered(r);
    }
}

template <class Visit>
void
ResourceUse::ForEachOf(const TransferCost& cost,
                       uint32_t sender,
                       uint32_t receiver,
                       Visit visit) const
{
    for (uint32_t p = 0; p < kPorts; p++)
    {
        if (cost.ports[p] > 0)
        {
            const auto port = static_cast<Port>(p);
            visit(OfPort(IsIncoming(port) ? receiver : sender, port), cost.portBytes[p], 0.0);
        }
    }
    for (const CutUse& use : cost.cuts)
    {
        visit(Ports(m_graph) + use.cut, use.bytes, use.detours);
    }
}

void
ResourceUse::ForEach(const TransferCost& cost,
                     uint32_t sender,
                     uint32_t receiver,
                     const std::function<void(uint32_t, double)>& visit) const
{
    ForEachOf(cost, sender, receiver, [&](uint32_t resource, double bytes, double /*detours*/) {
        visit(resource, bytes);
    });
}

void
ResourceUse::CountFlows(const TransferCost& cost)
{
    for (const CutUse& use : cost.cuts)
    {
        m_flowsOfClass[use.cut] = std::max(m_flowsOfClass[use.cut], use.flows);
    }
}

void
ResourceUse::Know(const Known& known)
{
    if (m_seen.insert(known.cost).second)
    {
        m_known.push_back(known);
    }
}

void
ResourceUse::AddShares(const Known& known)
{
    const TransferCost& cost = *known.cost;
    for (uint32_t p = 0; p < kPorts; p++)
    {
        if (cost.ports[p] > 0)
        {
            const auto port = static_cast<Port>(p);
            const uint32_t owner = IsIncoming(port) ? known.receiver : known.sender;
            m_resources[OfPort(owner, port)].shares.push_back({&cost,
                                                               known.sender,
                                                               known.receiver,
                                                               cost.ports[p],
                                                               cost.ports[p],
                                                               0,
                                                               known.atOnce});
        }
    }
    for (const CutUse& use : cost.cuts)
    {
        m_resources[Ports(m_graph) + use.cut].shares.push_back({&cost,
                                                                known.sender,
                                                                known.receiver,
                                                                use.demand,
                                                                use.seconds,
                                                                use.flows,
                                                                known.atOnce});
    }
}

bool
ResourceUse::MayBeFull(const Resource& resource) const
{
    // By sender and by which of its ports the transfer is of.
    std::map<std::pair<uint32_t, bool>, double> most;
    for (const Share& share : resource.shares)
    {
        const TransferCost& cost = *share.cost;
        const double own = cost.OutSeconds();
        // Who is held back alone is held back, whoever else is there.
        if (own <= 0 || share.seconds > cost.PortSeconds())
        {
            return true;
        }
        double& greatest = most[{share.sender, cost.On(Port::NicOut) > 0}];
        greatest = std::max(greatest, share.demand / own);
    }
    double sum = 0;
    for (const auto& [source, greatest] : most)
    {
        sum += greatest;
    }
    // One transfer alone that fills it is not held back by it, two are.
    uint32_t atOnce = 0;
    for (const Share& share : resource.shares)
    {
        atOnce += share.atOnce;
    }
    return sum > 1 || (sum == 1 && atOnce > 1);
}

/// Whether a transfer may find that its class has used the resource before it begins.
bool
ResourceUse::HasHeadStarts(uint32_t resource) const
{
    const std::vector<Share>& shares = m_resources[resource].shares;
    return resource >= Ports(m_graph) &&
           std::any_of(shares.begin(), shares.end(), [](const Share& share) {
               return share.seconds > share.cost->PortSeconds();
           });
}

/// Whether both tell traffic classes apart, or neither does.
bool
ResourceUse::SharesAlike(uint32_t a, uint32_t b) const
{
    const auto tellsApart = [this](uint32_t resource) {
        return resource >= Ports(m_graph) || IsNic(static_cast<Port>(resource % kPorts));
    };
    return m_costs.Classes().AreOne() || tellsApart(a) == tellsApart(b);
}

bool
ResourceUse::Covers(uint32_t other, uint32_t resource) const
{
    const std::vector<Share>& covered = m_resources[resource].shares;
    const std::vector<Share>& shares = m_resources[other].shares;
    // Twins have the same head starts: the two directions of a span, or buildings that are alike.
    bool twins = covered.size() == shares.size() && resource >= Ports(m_graph);
    bool covers = true;
    const bool headStarts = HasHeadStarts(other);
    for (const Share& share : covered)
    {
        const auto same =
            std::find_if(shares.begin(), shares.end(), [&share](const Share& candidate) {
                return candidate.cost == share.cost;
            });
        if (same == shares.end())
        {
            return false;
        }
        twins = twins && same->demand == share.demand && same->seconds == share.seconds &&
                same->flows == share.flows;
        const double kept = headStarts ? 1.0 / std::max(1.0, same->flows) : 1.0;
        covers =
            covers && same->demand * kept >= share.demand && same->seconds * kept >= share.seconds;
    }
    return twins || covers;
}

bool
ResourceUse::IsCovered(uint32_t resource) const
{
    const std::vector<Share>& shares = m_resources[resource].shares;
    if (shares.empty())
    {
        return true;
    }
    bool covered = false;
    const Share& first = shares.front();
    ForEachOf(*first.cost, first.sender, first.receiver, [&](uint32_t other, double, double) {
        covered = covered || (other != resource && m_resources[other].needed &&
                              SharesAlike(other, resource) && Covers(other, resource));
    });
    return covered;
}

void
ResourceUse::AddMessage(uint32_t classId, const Op& op)
{
    const TransferCost& cost = m_costs.OfMessage(classId, op.peer, op.bytes);
    const uint32_t receiver = m_costs.ClassAt(classId, op.peer);
    Know({&cost, classId, receiver, 1});
    CountFlows(cost);
    ForEachOf(cost, classId, receiver, [this](uint32_t resource, double bytes, double detours) {
        m_resources[resource].bytes += bytes;
        m_resources[resource].detours += detours;
        m_resources[resource].shared = true;
    });
}

void
ResourceUse::AddCollective(uint32_t classId, const Op& op, double times)
{
    const Collective& collective = m_graph.collectives[op.index];
    for (uint32_t p = 0; p < collective.phases.size(); p++)
    {
        const TransferCost& cost = m_costs.OfPhase(classId, op.index, p);
        CountFlows(cost);
        Know({&cost, classId, classId, std::min(collective.Together(p), collective.chunks)});
        ForEachOf(cost, classId, classId, [&](uint32_t resource, double bytes, double detours) {
            Resource& entry = m_resources[resource];
            entry.bytes += times * collective.chunks * bytes;
            entry.detours += times * collective.chunks * detours;
            if (!IsOfLayer(op.stream))
            {
                entry.parameters += times * collective.chunks * (bytes - detours);
                entry.data = true;
            }
            entry.shared = entry.shared || (entry.user != UINT32_MAX && entry.user != classId);
            entry.user = classId;
        });
    }
}

void
ResourceUse::AddClass(uint32_t classId)
{
    std::vector<uint32_t> runs(m_graph.bodies.size(), 0);
    for (const Op& op : m_graph.classes[classId].program.ops)
    {
        if (op.kind == OpKind::Send)
        {
            AddMessage(classId, op);
        }
        else if (op.kind == OpKind::Collective)
        {
            AddCollective(classId, op, 1);
        }
        else if (op.kind == OpKind::Run)
        {
            runs[op.index]++;
        }
    }
    for (uint32_t body = 0; body < runs.size(); body++)
    {
        if (runs[body] == 0)
        {
            continue;
        }
        for (const Op& op : m_graph.bodies[body].ops)
        {
            if (op.kind == OpKind::Collective)
            {
                AddCollective(classId, op, runs[body]);
            }
        }
    }
}

ResourceUse::Step
ResourceUse::StepOf(uint32_t classId, uint32_t body) const
{
    if (!m_costs.OfBody(classId, body).pure)
    {
        return Step::Never;
    }
    // What is queued slows computing down as well.
    bool idle = m_graph.classes[classId].collectiveShare.usual > 0;
    for (const Op& op : m_graph.bodies[body].ops)
    {
        if (op.kind != OpKind::Collective)
        {
            continue;
        }
        bool shared = false;
        for (uint32_t p = 0; p < m_graph.collectives[op.index].phases.size(); p++)
        {
            const TransferCost& cost = m_costs.OfPhase(classId, op.index, p);
            ForEachOf(cost, classId, classId, [&](uint32_t resource, double, double) {
                const Resource& entry = m_resources[resource];
                shared = shared || entry.shared;
                idle = idle || entry.data;
            });
        }
        if (shared)
        {
            return Step::Never;
        }
    }
    return idle ? Step::WhileIdle : Step::Always;
}

} // namespace scaleacross
