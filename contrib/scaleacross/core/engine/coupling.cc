// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/coupling.h"

namespace scaleacross
{

Coupling::Coupling(const TaskGraph& graph, ClassCosts& costs)
    : m_costs(costs),
      m_graph(graph),
      m_count(graph.collectives.size()),
      m_cutUser(costs.Cuts(), kNobody),
      m_collectives(graph.classes.size() * m_count, Use::None)
{
    std::vector<uint32_t> seenBy(graph.bodies.size(), kNobody);
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        for (const Op& op : graph.classes[c].program.ops)
        {
            if (op.kind == OpKind::Send)
            {
                UseCut(c, costs.OfMessage(c, op.peer, op.bytes));
            }
            else if (op.kind == OpKind::Collective)
            {
                UseCollective(c, op.index);
            }
            else if (op.kind == OpKind::Run && seenBy[op.index] != c)
            {
                seenBy[op.index] = c;
                for (const Op& inner : graph.bodies[op.index].ops)
                {
                    if (inner.kind == OpKind::Collective)
                    {
                        UseCollective(c, inner.index);
                    }
                }
            }
        }
    }
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        for (uint32_t collective = 0; collective < m_count; collective++)
        {
            Use& use = m_collectives[c * m_count + collective];
            const size_t phases = graph.collectives[collective].phases.size();
            for (uint32_t p = 0; p < phases && use == Use::Own; p++)
            {
                if (OfCut(costs.OfPhase(c, collective, p).cut))
                {
                    use = Use::Shared;
                }
            }
        }
    }
}

void
Coupling::UseCut(uint32_t classId, const TransferCost& cost)
{
    if (cost.cut == TransferCost::kNoCut)
    {
        return;
    }
    uint32_t& user = m_cutUser[cost.cut];
    user = user == kNobody || user == classId ? classId : kSeveral;
}

void
Coupling::UseCollective(uint32_t classId, uint32_t collective)
{
    Use& use = m_collectives[classId * m_count + collective];
    if (use != Use::None)
    {
        return;
    }
    use = m_costs.Participants(classId, collective).size() > 1 ? Use::Shared : Use::Own;
    for (uint32_t p = 0; p < m_graph.collectives[collective].phases.size(); p++)
    {
        UseCut(classId, m_costs.OfPhase(classId, collective, p));
    }
}

} // namespace scaleacross
