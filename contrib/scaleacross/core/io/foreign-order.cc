// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/foreign-order.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t kNone = ForeignPartners::kNone;

std::string
NameOf(const ForeignNode& node)
{
    return std::to_string(node.id) + " " + Quoted(node.name);
}

/// Who waits for whom, from a node on that is never begun up to one that comes up again.
std::string
CircleText(const std::vector<ForeignNode>& nodes,
           const std::vector<std::vector<uint32_t>>& after,
           const std::vector<uint32_t>& left,
           uint32_t from)
{
    std::vector<uint32_t> seen;
    for (uint32_t at = from; std::find(seen.begin(), seen.end(), at) == seen.end();)
    {
        seen.push_back(at);
        at = *std::find_if(after[at].begin(), after[at].end(), [&left](uint32_t other) {
            return left[other] > 0;
        });
        from = at;
    }
    seen.erase(seen.begin(), std::find(seen.begin(), seen.end(), from));
    std::string text;
    constexpr size_t kShown = 4;
    for (size_t i = 0; i < std::min(seen.size(), kShown); i++)
    {
        text += NameOf(nodes[seen[i]]) + " waits for ";
    }
    return text + (seen.size() > kShown ? "others, and they for " : "") + NameOf(nodes[from]);
}

/// Goes through all ranks at once.
class Walk
{
  public:
    Walk(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
        : m_ranks(ranks),
          m_partners(partners),
          m_next(ranks.size(), 0),
          m_order(ranks.size()),
          m_missing(partners.operations.size())
    {
        for (size_t i = 0; i < m_missing.size(); i++)
        {
            m_missing[i] = static_cast<uint32_t>(partners.operations[i].members.size());
        }
        for (const ForeignRank& rank : ranks)
        {
            m_begun.emplace_back(rank.nodes.size(), false);
            m_sent.emplace_back(partners.messages, false);
        }
    }

    std::vector<std::vector<uint32_t>> Order()
    {
        while (Advance() || Skip())
        {
        }
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            if (m_order[rank].size() < m_ranks[rank].nodes.size())
            {
                FailStuck(rank);
            }
        }
        return std::move(m_order);
    }

  private:
    /// Whether what others wait for of a node has come about: it is over, or will be by itself.
    bool IsOver(Rank rank, uint32_t place) const
    {
        const uint32_t number = m_partners.number[rank][place];
        switch (m_ranks[rank].nodes[place].kind)
        {
        case ForeignKind::Receive:
            return m_sent[rank][number];
        case ForeignKind::Collective:
            return m_missing[number] == 0;
        default:
            return true;
        }
    }

    bool MayBegin(Rank rank, uint32_t place) const
    {
        const auto& after = m_ranks[rank].after[place];
        return std::all_of(after.begin(), after.end(), [&](uint32_t other) {
            return m_begun[rank][other] && IsOver(rank, other);
        });
    }

    void Begin(Rank rank, uint32_t place)
    {
        const ForeignNode& node = m_ranks[rank].nodes[place];
        m_begun[rank][place] = true;
        m_order[rank].push_back(place);
        if (node.kind == ForeignKind::Send)
        {
            m_sent[node.peer][m_partners.number[rank][place]] = true;
        }
        else if (node.kind == ForeignKind::Collective)
        {
            m_missing[m_partners.number[rank][place]]--;
        }
    }

    /// Every rank goes on as far as it can in its own order; false if none could.
    bool Advance()
    {
        bool moved = false;
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            uint32_t& next = m_next[rank];
            const size_t count = m_ranks[rank].nodes.size();
            while (next < count && (m_begun[rank][next] || MayBegin(rank, next)))
            {
                if (!m_begun[rank][next])
                {
                    Begin(rank, next);
                    moved = true;
                }
                next++;
            }
        }
        return moved;
    }

    /// The first rank that can begins a node behind the one that it is stopped at.
    bool Skip()
    {
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            for (uint32_t place = m_next[rank]; place < m_ranks[rank].nodes.size(); place++)
            {
                if (!m_begun[rank][place] && MayBegin(rank, place))
                {
                    Begin(rank, place);
                    return true;
                }
            }
        }
        return false;
    }

    [[noreturn]] void FailStuck(Rank rank) const
    {
        const ForeignRank& own = m_ranks[rank];
        const uint32_t place = m_next[rank];
        const auto& after = own.after[place];
        const uint32_t other = *std::find_if(after.begin(), after.end(), [&](uint32_t node) {
            return !m_begun[rank][node] || !IsOver(rank, node);
        });
        FailAtNode(own.path,
                   own.nodes[place].id,
                   own.nodes[place].name,
                   "it waits for node " + NameOf(own.nodes[other]) +
                       ", which never ends: ranks wait for each other",
                   "communication that comes about whatever the order of ranks",
                   "look for what its partners wait for");
    }

    const std::vector<ForeignRank>& m_ranks;
    const ForeignPartners& m_partners;
    std::vector<uint32_t> m_next; //!< by rank: the first node that has not begun
    std::vector<std::vector<bool>> m_begun;
    std::vector<std::vector<uint32_t>> m_order;
    std::vector<std::vector<bool>> m_sent; //!< by receiver and number
    std::vector<uint32_t> m_missing;       //!< members, by operation
};

} // namespace

ForeignRank
OrderNodes(std::vector<ForeignNode> nodes, const std::string& path)
{
    std::sort(nodes.begin(), nodes.end(), [](const ForeignNode& a, const ForeignNode& b) {
        return a.id < b.id;
    });
    const auto count = static_cast<uint32_t>(nodes.size());
    std::unordered_map<uint64_t, uint32_t> index;
    for (uint32_t i = 0; i < count; i++)
    {
        if (!index.emplace(nodes[i].id, i).second)
        {
            FailAtNode(path,
                       nodes[i].id,
                       nodes[i].name,
                       "its number is given twice",
                       "a number of its own for each node");
        }
    }
    std::vector<std::vector<uint32_t>> after(count);
    std::vector<std::vector<uint32_t>> before(count);
    std::vector<uint32_t> left(count);
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t i = 0; i < count; i++)
    {
        for (const uint64_t id : nodes[i].after)
        {
            const auto found = index.find(id);
            if (found == index.end())
            {
                FailAtNode(path,
                           nodes[i].id,
                           nodes[i].name,
                           "it waits for node " + std::to_string(id) + ", which is not there",
                           "numbers of nodes of the same file");
            }
            after[i].push_back(found->second);
            before[found->second].push_back(i);
        }
        left[i] = static_cast<uint32_t>(after[i].size());
        if (left[i] == 0)
        {
            ready.push(i);
        }
    }
    ForeignRank rank;
    rank.path = path;
    std::vector<uint32_t> place(count, kNone);
    while (!ready.empty())
    {
        const uint32_t i = ready.top();
        ready.pop();
        place[i] = static_cast<uint32_t>(rank.nodes.size());
        std::vector<uint32_t>& places = rank.after.emplace_back();
        for (const uint32_t other : after[i])
        {
            places.push_back(place[other]);
        }
        std::sort(places.begin(), places.end());
        rank.nodes.push_back(nodes[i]);
        for (const uint32_t next : before[i])
        {
            if (--left[next] == 0)
            {
                ready.push(next);
            }
        }
    }
    if (rank.nodes.size() < count)
    {
        const auto stuck = static_cast<uint32_t>(
            std::find_if(left.begin(), left.end(), [](uint32_t n) { return n > 0; }) -
            left.begin());
        FailAtNode(path,
                   nodes[stuck].id,
                   nodes[stuck].name,
                   "nodes wait for each other: " + CircleText(nodes, after, left, stuck),
                   "data_deps and ctrl_deps without a circle");
    }
    return rank;
}

std::vector<std::vector<uint32_t>>
InOrder(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
{
    return Walk(ranks, partners).Order();
}

} // namespace scaleacross
