// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-partners.h"

#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// A node, by rank and place.
struct At
{
    Rank rank{0};
    uint32_t place{0};
};

const ForeignNode&
NodeAt(const std::vector<ForeignRank>& ranks, const At& at)
{
    return ranks[at.rank].nodes[at.place];
}

[[noreturn]] void
Fail(const std::vector<ForeignRank>& ranks,
     const At& at,
     const std::string& problem,
     const std::string& allowed,
     const std::string& remedy)
{
    const ForeignNode& node = NodeAt(ranks, at);
    const bool grouped = node.kind == ForeignKind::Collective &&
                         node.op == CollectiveOp::AllToAll &&
                         node.name.find("SendRecv") != std::string::npos;
    FailAtNode(ranks[at.rank].path,
               node.id,
               node.name,
               problem,
               allowed,
               grouped ? "chakra_converter makes an all-to-all of sends and receives that are "
                         "posted together, as of a pipeline, and loses their partners: write them "
                         "as COMM_SEND_NODE and COMM_RECV_NODE"
                       : remedy);
}

/// "node 7 \"all-reduce\" of rank 3".
std::string
NameOf(const std::vector<ForeignRank>& ranks, const At& at)
{
    const ForeignNode& node = NodeAt(ranks, at);
    return "node " + std::to_string(node.id) + " " + Quoted(node.name) + " of rank " +
           std::to_string(at.rank);
}

using Channel = std::tuple<Rank, Rank, int64_t>; //!< sender, receiver, tag

/// Numbers messages by receiver, in the order of its nodes.
void
PairMessages(const std::vector<ForeignRank>& ranks, ForeignPartners& partners)
{
    std::map<Channel, std::vector<At>> sends;
    std::map<Channel, std::vector<At>> receives;
    for (Rank rank = 0; rank < ranks.size(); rank++)
    {
        for (uint32_t place = 0; place < ranks[rank].nodes.size(); place++)
        {
            const ForeignNode& node = ranks[rank].nodes[place];
            if (node.kind == ForeignKind::Send)
            {
                sends[{rank, node.peer, node.tag}].push_back({rank, place});
            }
            else if (node.kind == ForeignKind::Receive)
            {
                receives[{node.peer, rank, node.tag}].push_back({rank, place});
            }
        }
    }
    const auto lonely = [&](const At& at, size_t own, size_t other, const char* what) {
        Fail(ranks,
             at,
             "it has no partner: rank " + std::to_string(NodeAt(ranks, at).peer) + " has " +
                 std::to_string(other) + " " + what + " of tag " +
                 std::to_string(NodeAt(ranks, at).tag) + " for " + std::to_string(own),
             "a send and a receive of the same sender, receiver and tag for each message",
             "look for the other one, its comm_src or comm_dst, and its comm_tag");
    };
    std::vector<uint32_t> received(ranks.size(), 0);
    for (const auto& [channel, in] : receives)
    {
        const std::vector<At>& out = sends[channel];
        if (in.size() > out.size())
        {
            lonely(in[out.size()], in.size(), out.size(), "sends");
        }
        for (size_t i = 0; i < in.size(); i++)
        {
            const ForeignNode& to = NodeAt(ranks, in[i]);
            const ForeignNode& from = NodeAt(ranks, out[i]);
            if (to.input != from.input)
            {
                Fail(ranks,
                     in[i],
                     "it receives " + std::to_string(to.input.Count()) + " bytes, and " +
                         NameOf(ranks, out[i]) + " sends " + std::to_string(from.input.Count()),
                     "the same comm_size of both",
                     "look which of them is right; the n-th send of a sender, receiver and tag is "
                     "the n-th receive");
            }
            const uint32_t number = received[in[i].rank]++;
            partners.number[in[i].rank][in[i].place] = number;
            partners.number[out[i].rank][out[i].place] = number;
        }
    }
    for (const auto& [channel, out] : sends)
    {
        const auto in = receives.find(channel);
        const size_t count = in == receives.end() ? 0 : in->second.size();
        if (out.size() > count)
        {
            lonely(out[count], out.size(), count, "receives");
        }
    }
    partners.messages = received.empty() ? 0 : *std::max_element(received.begin(), received.end());
}

/// Joins collectives of a process group.
class Joiner
{
  public:
    Joiner(std::vector<ForeignRank>& ranks, const ForeignGroups& groups, ForeignPartners& partners)
        : m_ranks(ranks),
          m_groups(groups),
          m_partners(partners)
    {
    }

    void Join()
    {
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            for (uint32_t place = 0; place < m_ranks[rank].nodes.size(); place++)
            {
                if (m_ranks[rank].nodes[place].kind == ForeignKind::Collective)
                {
                    Add({rank, place});
                }
            }
        }
        for (const auto& [number, group] : m_known)
        {
            ExpectAll(group);
        }
        for (ForeignPartners::Operation& operation : m_partners.operations)
        {
            Even(operation);
        }
    }

  private:
    struct Group
    {
        const ForeignGroup* group{nullptr};
        RankGroup family;
        std::vector<uint32_t> operations; //!< in their order
        std::vector<At> first;            //!< by operation: of the first member
        std::map<Rank, uint32_t> count;   //!< operations so far, by member
    };

    void Add(const At& at)
    {
        ForeignNode& node = m_ranks[at.rank].nodes[at.place];
        Group& group = GroupOf(at, node);
        if (group.group->members.size() == 1)
        {
            node.kind = ForeignKind::Nothing;
            return;
        }
        const uint32_t turn = group.count[at.rank]++;
        if (turn == group.operations.size())
        {
            group.operations.push_back(static_cast<uint32_t>(m_partners.operations.size()));
            group.first.push_back(at);
            m_partners.operations.push_back({group.group->number,
                                             group.family,
                                             group.group->members,
                                             group.group->comm,
                                             node.op,
                                             Bytes(),
                                             Bytes(),
                                             node.op == CollectiveOp::AllToAll || node.perMember});
        }
        const ForeignNode& first = NodeAt(m_ranks, group.first[turn]);
        ForeignPartners::Operation& operation = m_partners.operations[group.operations[turn]];
        if (first.operation != node.operation ||
            (first.input != node.input && !operation.mayDiffer))
        {
            Fail(m_ranks,
                 at,
                 "as collective " + std::to_string(turn + 1) + " of process group " +
                     Quoted(node.group) + " it is " + What(node) + ", and " +
                     NameOf(m_ranks, group.first[turn]) + " is " + What(first),
                 "the same of all members, in the same order",
                 "look whether the traces are of one run, and whether pg_name is right");
        }
        operation.bytes = operation.mayDiffer ? operation.bytes + node.input : node.input;
        operation.largest = std::max(operation.largest, node.input);
        m_partners.number[at.rank][at.place] = group.operations[turn];
    }

    /// Members send alike here: of an all-to-all each the mean, and of an all-gather its share of
    /// all; at least a byte.
    void Even(ForeignPartners::Operation& operation)
    {
        const auto n = static_cast<uint64_t>(operation.members.size());
        const double all = static_cast<double>(operation.bytes.Count());
        if (operation.bytes > Bytes() && operation.mayDiffer)
        {
            m_partners.uneven = std::max(m_partners.uneven,
                                         static_cast<double>(operation.largest.Count()) *
                                             static_cast<double>(n) / all);
        }
        if (operation.op == CollectiveOp::AllToAll)
        {
            operation.bytes = Bytes((operation.bytes.Count() + n - 1) / n);
        }
        operation.bytes = std::max(operation.bytes, Bytes(1));
    }

    static std::string What(const ForeignNode& node)
    {
        return node.operation + " of " + std::to_string(node.input.Count()) + " bytes";
    }

    Group& GroupOf(const At& at, const ForeignNode& node)
    {
        const ForeignGroup* known = m_groups.Find(at.rank, node.group);
        if (known == nullptr)
        {
            Fail(m_ranks,
                 at,
                 "its process group (pg_name) " + Quoted(node.group) + " is not known",
                 m_groups.Names(at.rank) +
                     ", from FILES.groups.json or from a metadata node of PyTorch's",
                 "add its ranks to FILES.groups.json, or give the name of one that is there");
        }
        const std::vector<Rank>& members = known->members;
        if (!std::binary_search(members.begin(), members.end(), at.rank))
        {
            Fail(m_ranks,
                 at,
                 "rank " + std::to_string(at.rank) + " is not in its process group " +
                     Quoted(node.group),
                 "a group that the rank is in",
                 "add the rank to the group, or give the name of another");
        }
        Group& group = m_known[known->number];
        if (group.group == nullptr)
        {
            const auto family = FamilyOf(members);
            if (!family)
            {
                Fail(m_ranks,
                     at,
                     "its process group " + Quoted(node.group) + " of " +
                         std::to_string(members.size()) + " ranks from " +
                         std::to_string(members.front()) + " on is no lattice",
                     "ranks at equal steps, or blocks of such at equal steps, each beginning at a "
                     "multiple of what it spans",
                     "number the ranks of the traces so that groups are such, or write the "
                     "collective as sends and receives");
            }
            group.group = known;
            group.family = *family;
        }
        return group;
    }

    void ExpectAll(const Group& group) const
    {
        for (const Rank member : group.group->members)
        {
            const auto known = group.count.find(member);
            const uint32_t count = known == group.count.end() ? 0 : known->second;
            if (count < group.operations.size())
            {
                Fail(m_ranks,
                     group.first[count],
                     "rank " + std::to_string(member) + " has " + std::to_string(count) +
                         " collectives of its process group, and rank " +
                         std::to_string(group.first[count].rank) + " has more",
                     "every collective in the traces of all members",
                     "look whether the traces are of one run, and whether pg_name is right");
            }
        }
    }

    std::vector<ForeignRank>& m_ranks;
    const ForeignGroups& m_groups;
    ForeignPartners& m_partners;
    std::map<uint32_t, Group> m_known; //!< by ForeignGroup::number
};

} // namespace

ForeignPartners
FindPartners(std::vector<ForeignRank>& ranks, const ForeignGroups& groups)
{
    ForeignPartners partners;
    for (const ForeignRank& rank : ranks)
    {
        partners.number.emplace_back(rank.nodes.size(), ForeignPartners::kNone);
    }
    PairMessages(ranks, partners);
    Joiner(ranks, groups, partners).Join();
    return partners;
}

} // namespace scaleacross
