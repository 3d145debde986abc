// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/resource-use.h"

#include <algorithm>

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
            visit(OfPort(IsIncoming(port) ? receiver : sender, port), cost.portBytes[p]);
        }
    }
    for (const CutUse& use : cost.cuts)
    {
        visit(Ports(m_graph) + use.cut, use.bytes);
    }
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
ResourceUse::AddMessage(uint32_t classId, const Op& op)
{
    const TransferCost& cost = m_costs.OfMessage(classId, op.peer, op.bytes);
    const uint32_t receiver = m_costs.ClassAt(classId, op.peer);
    CountFlows(cost);
    ForEachOf(cost, classId, receiver, [this](uint32_t resource, double bytes) {
        m_resources[resource].bytes += bytes;
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
        ForEachOf(cost, classId, classId, [&](uint32_t resource, double bytes) {
            Resource& entry = m_resources[resource];
            entry.bytes += times * collective.chunks * bytes;
            entry.data = entry.data || !IsOfLayer(op.stream);
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
    bool idle = m_graph.classes[classId].collectiveShare > 0;
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
            ForEachOf(cost, classId, classId, [&](uint32_t resource, double /* bytes */) {
                const Resource& entry = m_resources[resource];
                shared = shared || entry.shared || (entry.data && resource >= Ports(m_graph));
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
