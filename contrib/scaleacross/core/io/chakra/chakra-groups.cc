// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/chakra-groups.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

/// The collectives of a program, each once, in the order of their first use.
class Used
{
  public:
    Used(const TaskGraph& graph, const std::vector<Op>& ops)
        : m_graph(graph)
    {
        Look(ops);
    }

    const std::vector<uint32_t>& Collectives() const
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
            else if (op.kind == OpKind::Collective &&
                     std::find(m_collectives.begin(), m_collectives.end(), op.index) ==
                         m_collectives.end())
            {
                m_collectives.push_back(op.index);
            }
        }
    }

    const TaskGraph& m_graph;
    std::set<uint32_t> m_bodies;
    std::vector<uint32_t> m_collectives;
};

} // namespace

ChakraGroups::ChakraGroups(const TaskGraph& graph)
{
    for (const Collective& collective : graph.collectives)
    {
        m_parts.push_back(scaleacross::PartsOf(collective));
    }
    std::vector<std::vector<uint32_t>> used;
    for (const RankClass& rankClass : graph.classes)
    {
        used.push_back(Used(graph, rankClass.program.ops).Collectives());
    }
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        for (const uint32_t collective : used[graph.ClassOf(rank)])
        {
            for (const CollectivePart& part : m_parts[collective])
            {
                const auto [entry, isNew] =
                    m_numbers.emplace(KeyOf(part.group, rank),
                                      static_cast<uint32_t>(m_members.size() + 1));
                if (isNew)
                {
                    std::vector<Rank>& members = m_members.emplace_back();
                    for (uint32_t i = 0; i < part.group.Size(); i++)
                    {
                        members.push_back(part.group.Member(rank, i));
                    }
                }
            }
        }
    }
}

ChakraGroups::Key
ChakraGroups::KeyOf(const RankGroup& group, Rank rank)
{
    Key key{{}, group.Member(rank, 0)};
    for (const RankGroup::Axis& axis : group.Axes())
    {
        key.first.insert(key.first.end(), {axis.stride, axis.count});
    }
    return key;
}

uint32_t
ChakraGroups::NumberOf(const RankGroup& group, Rank rank) const
{
    return m_numbers.at(KeyOf(group, rank));
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
