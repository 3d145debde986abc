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

constexpr uint32_t kNone = UINT32_MAX; //!< no place

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
        text += NameOfNode(nodes[seen[i]]) + " waits for ";
    }
    return text + (seen.size() > kShown ? "others, and they for " : "") + NameOfNode(nodes[from]);
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
                Fail(i,
                     "its number is given twice",
                     "a number of its own for each node",
                     "number the nodes anew");
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
                     "numbers of nodes of the same file",
                     "take it out of data_deps, or put the node into the file");
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

    [[noreturn]] void Fail(uint32_t i,
                           const std::string& problem,
                           const std::string& allowed,
                           const std::string& remedy) const
    {
        FailAtNode(m_path, m_nodes[i].id, m_nodes[i].name, problem, allowed, remedy);
    }

    [[noreturn]] void FailCircle() const
    {
        const auto stuck = static_cast<uint32_t>(
            std::find_if(m_data.begin(), m_data.end(), [](uint32_t n) { return n > 0; }) -
            m_data.begin());
        Fail(stuck,
             "nodes wait for each other: " + CircleText(m_nodes, m_after, m_data, stuck),
             "data_deps without a circle",
             "take one of these dependencies out");
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

} // namespace

ForeignRank
OrderNodes(std::vector<ForeignNode> nodes, const std::string& path)
{
    std::sort(nodes.begin(), nodes.end(), [](const ForeignNode& a, const ForeignNode& b) {
        return a.id < b.id;
    });
    return Orderer(nodes, path).Order();
}

} // namespace scaleacross
