// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-order.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <set>
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

/// Orders the nodes of one trace, which are in the order of their numbers.
class Orderer
{
  public:
    Orderer(const std::vector<ForeignNode>& nodes, const std::string& path)
        : m_nodes(nodes),
          m_path(path),
          m_after(nodes.size()),
          m_callers(nodes.size()),
          m_next(nodes.size()),
          m_called(nodes.size()),
          m_data(nodes.size()),
          m_calls(nodes.size()),
          m_place(nodes.size(), kNone)
    {
        std::unordered_map<uint64_t, uint32_t> index;
        for (uint32_t i = 0; i < nodes.size(); i++)
        {
            if (!index.emplace(nodes[i].id, i).second)
            {
                Fail(i, "its number is given twice", "a number of its own for each node");
            }
        }
        std::map<int64_t, uint32_t> last; // by stream of the GPU
        for (uint32_t i = 0; i < nodes.size(); i++)
        {
            if (const auto stream = nodes[i].gpuStream)
            {
                const auto [before, isFirst] = last.try_emplace(*stream, i);
                if (!isFirst)
                {
                    m_callers[i].push_back(std::exchange(before->second, i));
                }
            }
        }
        for (uint32_t i = 0; i < nodes.size(); i++)
        {
            Join(i, index);
        }
    }

    ForeignRank Order()
    {
        m_rank.path = m_path;
        while (m_rank.nodes.size() < m_nodes.size())
        {
            if (!m_ready.empty())
            {
                Place(*m_ready.begin());
            }
            else if (!m_uncalled.empty())
            {
                Place(*m_uncalled.begin()); // whose caller waits for what it calls
            }
            else
            {
                FailCircle();
            }
        }
        return std::move(m_rank);
    }

  private:
    void Join(uint32_t i, const std::unordered_map<uint64_t, uint32_t>& index)
    {
        for (const uint64_t id : m_nodes[i].after)
        {
            const auto found = index.find(id);
            if (found == index.end())
            {
                Fail(i,
                     "it waits for node " + std::to_string(id) + ", which is not there",
                     "numbers of nodes of the same file");
            }
            m_after[i].push_back(found->second);
        }
        for (const uint64_t id : m_nodes[i].calledBy)
        {
            if (const auto found = index.find(id); found != index.end())
            {
                m_callers[i].push_back(found->second);
            }
        }
        for (const uint32_t other : m_after[i])
        {
            m_next[other].push_back(i);
        }
        for (const uint32_t other : m_callers[i])
        {
            m_called[other].push_back(i);
        }
        m_data[i] = static_cast<uint32_t>(m_after[i].size());
        m_calls[i] = static_cast<uint32_t>(m_callers[i].size());
        Look(i);
    }

    /// What a node has to wait for may have become less.
    void Look(uint32_t i)
    {
        if (m_place[i] == kNone && m_data[i] == 0)
        {
            (m_calls[i] == 0 ? m_ready : m_uncalled).insert(i);
        }
    }

    void Place(uint32_t i)
    {
        m_ready.erase(i);
        m_uncalled.erase(i);
        m_place[i] = static_cast<uint32_t>(m_rank.nodes.size());
        std::vector<uint32_t>& places = m_rank.after.emplace_back();
        for (const auto* edges : {&m_after[i], &m_callers[i]})
        {
            for (const uint32_t other : *edges)
            {
                if (m_place[other] < m_place[i])
                {
                    places.push_back(m_place[other]);
                }
            }
        }
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        m_rank.nodes.push_back(m_nodes[i]);
        for (const uint32_t next : m_next[i])
        {
            m_data[next]--;
            Look(next);
        }
        for (const uint32_t called : m_called[i])
        {
            m_calls[called]--;
            m_uncalled.erase(called);
            Look(called);
        }
    }

    [[noreturn]] void Fail(uint32_t i, const std::string& problem, const std::string& allowed) const
    {
        FailAtNode(m_path, m_nodes[i].id, m_nodes[i].name, problem, allowed);
    }

    [[noreturn]] void FailCircle() const
    {
        const auto stuck = static_cast<uint32_t>(
            std::find_if(m_data.begin(), m_data.end(), [](uint32_t n) { return n > 0; }) -
            m_data.begin());
        Fail(stuck,
             "nodes wait for each other: " + CircleText(m_nodes, m_after, m_data, stuck),
             "data_deps without a circle");
    }

    const std::vector<ForeignNode>& m_nodes;
    const std::string& m_path;
    std::vector<std::vector<uint32_t>> m_after; //!< by node: whose data it needs
    /// By node: who calls it, and what is before it on its stream; only where these may come first.
    std::vector<std::vector<uint32_t>> m_callers;
    std::vector<std::vector<uint32_t>> m_next; //!< by node: who needs its data
    std::vector<std::vector<uint32_t>> m_called;
    std::vector<uint32_t> m_data;  //!< by node: of m_after that have no place yet
    std::vector<uint32_t> m_calls; //!< likewise, of m_callers
    std::vector<uint32_t> m_place; //!< by node
    std::set<uint32_t> m_ready;    //!< that need nothing more
    std::set<uint32_t> m_uncalled; //!< that only their callers are missing for
    ForeignRank m_rank;
};

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
    return Orderer(nodes, path).Order();
}

std::vector<std::vector<uint32_t>>
InOrder(const std::vector<ForeignRank>& ranks, const ForeignPartners& partners)
{
    return Walk(ranks, partners).Order();
}

} // namespace scaleacross
