// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/steady-groups.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace scaleacross
{

namespace
{

/// Sets of classes and cuts, which are joined.
class Joined
{
  public:
    explicit Joined(size_t members)
        : m_above(members)
    {
        std::iota(m_above.begin(), m_above.end(), 0U);
    }

    /// The least member of the set.
    uint32_t LeastOf(uint32_t member)
    {
        while (m_above[member] != member)
        {
            m_above[member] = m_above[m_above[member]];
            member = m_above[member];
        }
        return member;
    }

    void Join(uint32_t a, uint32_t b)
    {
        a = LeastOf(a);
        b = LeastOf(b);
        m_above[std::max(a, b)] = std::min(a, b);
    }

  private:
    std::vector<uint32_t> m_above;
};

/// Joins what a class acts on.
class Joiner
{
  public:
    Joiner(const TaskGraph& graph, ClassCosts& costs, const ResourceUse& use)
        : m_graph(graph),
          m_costs(costs),
          m_use(use),
          m_joined(graph.classes.size() + costs.Cuts())
    {
    }

    void Add(uint32_t c, const ProgramRepetition& repetition)
    {
        const std::vector<Op>& ops = m_graph.classes[c].program.ops;
        std::vector<bool> seen(m_graph.bodies.size(), false);
        for (uint32_t i = repetition.begin; i < repetition.begin + repetition.period; i++)
        {
            const Op& op = ops[i];
            if (op.kind != OpKind::Run)
            {
                AddOp(c, op);
            }
            else if (!seen[op.index])
            {
                seen[op.index] = true;
                for (const Op& inside : m_graph.bodies[op.index].ops)
                {
                    AddOp(c, inside);
                }
            }
        }
    }

    std::vector<SteadyGroup> Groups(const Repetition& repetition)
    {
        std::vector<SteadyGroup> groups;
        std::map<uint32_t, size_t> numbers; // by the least class
        for (uint32_t c = 0; c < m_graph.classes.size(); c++)
        {
            if (repetition.classes[c].period == 0)
            {
                continue;
            }
            const auto [known, isNew] = numbers.emplace(m_joined.LeastOf(c), groups.size());
            if (isNew)
            {
                groups.emplace_back();
            }
            groups[known->second].classes.push_back(c);
        }
        for (uint32_t cut = 0; cut < m_costs.Cuts(); cut++)
        {
            const auto known = numbers.find(m_joined.LeastOf(NumberOf(cut)));
            if (known != numbers.end())
            {
                groups[known->second].cuts.push_back(cut);
            }
        }
        return groups;
    }

  private:
    uint32_t NumberOf(uint32_t cut) const
    {
        return static_cast<uint32_t>(m_graph.classes.size()) + cut;
    }

    void AddOp(uint32_t c, const Op& op)
    {
        switch (op.kind)
        {
        case OpKind::Send:
            AddCost(c, m_costs.OfMessage(c, op.peer, op.bytes));
            m_joined.Join(c, m_costs.ClassAt(c, op.peer));
            break;
        case OpKind::Receive:
        case OpKind::PostReceive:
            m_joined.Join(c, m_costs.ClassAt(c, op.peer));
            break;
        case OpKind::Collective:
            for (uint32_t p = 0; p < m_graph.collectives[op.index].phases.size(); p++)
            {
                AddCost(c, m_costs.OfPhase(c, op.index, p));
            }
            for (const uint32_t other : m_costs.Participants(c, op.index))
            {
                m_joined.Join(c, other);
            }
            break;
        case OpKind::Compute:
        case OpKind::Run:
        case OpKind::Wait:
            break;
        }
    }

    void AddCost(uint32_t c, const TransferCost& cost)
    {
        for (const CutUse& use : cost.cuts)
        {
            if (m_use.IsNeeded(ResourceUse::Ports(m_graph) + use.cut))
            {
                m_joined.Join(c, NumberOf(use.cut));
            }
        }
    }

    const TaskGraph& m_graph;
    ClassCosts& m_costs;
    const ResourceUse& m_use;
    Joined m_joined; // classes, then cuts
};

} // namespace

std::vector<SteadyGroup>
SteadyGroupsOf(const TaskGraph& graph,
               ClassCosts& costs,
               const ResourceUse& use,
               const Repetition& repetition)
{
    Joiner joiner(graph, costs, use);
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        joiner.Add(c, repetition.classes[c]);
    }
    return joiner.Groups(repetition);
}

} // namespace scaleacross
