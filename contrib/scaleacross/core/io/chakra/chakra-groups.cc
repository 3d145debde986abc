// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/chakra-groups.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

/// The collectives of a program with their streams, each once, in the order of their first use.
class Used
{
  public:
    using Collective = std::pair<uint32_t, Stream>;

    Used(const TaskGraph& graph, const std::vector<Op>& ops)
        : m_graph(graph)
    {
        Look(ops);
    }

    const std::vector<Collective>& Collectives() const
    {
        return m_collectives;
    }

  private:
    void Look(const std::vector<Op>& ops)
    {
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Run && m_bodies.insert(op.index).second)
            {
                Look(m_graph.bodies[op.index].ops);
            }
            else if (op.kind == OpKind::Collective && m_known.insert({op.index, op.stream}).second)
            {
                m_collectives.emplace_back(op.index, op.stream);
            }
        }
    }

    const TaskGraph& m_graph;
    std::set<uint32_t> m_bodies;
    std::set<Collective> m_known;
    std::vector<Collective> m_collectives;
};

} // namespace

ChakraGroups::ChakraGroups(const TaskGraph& graph)
{
    std::vector<std::vector<Used::Collective>> used;
    for (const RankClass& rankClass : graph.classes)
    {
        used.push_back(Used(graph, rankClass.program.ops).Collectives());
    }
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        for (const auto& [collective, stream] : used[graph.ClassOf(rank)])
        {
            const CollectiveCall& call = graph.collectives[collective].call;
            if (call.op != CollectiveOp::SendReceive) // of which each step is a message of two
            {
                Add(call.group, stream, rank);
            }
        }
    }
}

void
ChakraGroups::Add(const RankGroup& group, Stream stream, Rank rank)
{
    const auto [entry, isNew] =
        m_numbers.emplace(KeyOf(group, stream, rank), static_cast<uint32_t>(m_members.size() + 1));
    if (isNew)
    {
        std::vector<Rank>& members = m_members.emplace_back();
        for (uint32_t i = 0; i < group.Size(); i++)
        {
            members.push_back(group.Member(rank, i));
        }
    }
}

ChakraGroups::Key
ChakraGroups::KeyOf(const RankGroup& group, Stream stream, Rank rank)
{
    std::vector<uint32_t> axes;
    for (const RankGroup::Axis& axis : group.Axes())
    {
        axes.insert(axes.end(), {axis.stride, axis.count});
    }
    return {stream, std::move(axes), group.Member(rank, 0)};
}

uint32_t
ChakraGroups::NumberOf(const RankGroup& group, Stream stream, Rank rank) const
{
    return m_numbers.at(KeyOf(group, stream, rank));
}

std::string
ChakraGroups::Json() const
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (size_t i = 0; i < m_members.size(); i++)
    {
        json[std::to_string(i + 1)] = m_members[i];
    }
    return json.dump() + "\n";
}

} // namespace scaleacross
