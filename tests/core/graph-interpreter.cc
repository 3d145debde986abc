// SPDX-License-Identifier: GPL-2.0-only

#include "graph-interpreter.h"

#include <algorithm>

namespace scaleacross
{

GraphInterpreter::GraphInterpreter(const TaskGraph& graph)
    : m_graph(graph),
      m_ranks(graph.ranks),
      m_tallies(graph.ranks)
{
    for (Rank rank = 0; rank < graph.ranks; rank++)
    {
        for (const Op& op : graph.classes[graph.ClassOf(rank)].program.ops)
        {
            if (op.kind == OpKind::Run)
            {
                const auto& body = graph.bodies[op.index].ops;
                m_ranks[rank].ops.insert(m_ranks[rank].ops.end(), body.begin(), body.end());
            }
            else
            {
                m_ranks[rank].ops.push_back(op);
            }
        }
    }
}

const std::set<Rank>&
GraphInterpreter::Members(uint32_t collective, Rank rank)
{
    auto& members = m_members[{collective, rank}];
    if (members.empty())
    {
        members.insert(rank);
        for (const Phase& phase : m_graph.collectives[collective].phases)
        {
            for (const Rank known : std::set<Rank>(members))
            {
                for (uint32_t i = 0; i < phase.group.Size(); i++)
                {
                    members.insert(phase.group.Member(known, i));
                }
            }
        }
    }
    return members;
}

bool
GraphInterpreter::Complete(Rank rank)
{
    bool progress = false;
    for (size_t s = 0; s < kStreams; s++)
    {
        while (m_ranks[rank].done[s] < m_ranks[rank].streams[s].size())
        {
            const uint32_t index = m_ranks[rank].streams[s][m_ranks[rank].done[s]].collective;
            const auto& members = Members(index, rank);
            bool together = true;
            for (const Rank member : members)
            {
                const RankState& other = m_ranks[member];
                together = together && other.done[s] < other.streams[s].size() &&
                           other.streams[s][other.done[s]].collective == index;
            }
            if (!together)
            {
                break;
            }
            for (const Rank member : members)
            {
                m_ranks[member].done[s]++;
            }
            progress = true;
        }
    }
    return progress;
}

void
GraphInterpreter::Deliver(Rank from, Rank to)
{
    std::deque<Message>& held = m_held[{from, to}];
    while (!held.empty() && (!m_graph.rendezvous || m_posts.erase(held.front()) > 0))
    {
        m_messages.insert(held.front());
        held.pop_front();
    }
}

bool
GraphInterpreter::Advance(Rank rank)
{
    RankState& state = m_ranks[rank];
    RankTally& tally = m_tallies[rank];
    const Op& op = state.ops[state.next];
    const Rank peer = rank + static_cast<Rank>(op.peer);
    const auto pipeline = static_cast<size_t>(CommClass::Pipeline);
    switch (op.kind)
    {
    case OpKind::Compute:
        tally.compute += op.duration;
        break;
    case OpKind::PostReceive:
        if (!m_graph.rendezvous || !m_posts.emplace(peer, rank, op.index, state.iteration).second)
        {
            return false; // nobody waits for it, or it is there twice
        }
        Deliver(peer, rank);
        break;
    case OpKind::Send: {
        const Message message{rank, peer, op.index, state.iteration};
        std::deque<Message>& held = m_held[{rank, peer}];
        if (op.index >= m_graph.messages || m_messages.count(message) > 0 ||
            std::find(held.begin(), held.end(), message) != held.end())
        {
            return false; // twice the same number, or one out of range: stuck here
        }
        tally.sent[pipeline] += op.bytes;
        held.push_back(message);
        Deliver(rank, peer);
        break;
    }
    case OpKind::Receive:
        if (m_messages.erase({peer, rank, op.index, state.iteration}) == 0)
        {
            return false;
        }
        break;
    case OpKind::Collective: {
        const auto s = static_cast<size_t>(op.stream);
        const Collective& collective = m_graph.collectives[op.index];
        state.handles[op.handle] = {s, state.streams[s].size()};
        state.streams[s].push_back({op.index, op.handle});
        tally.posted[s]++;
        for (const Phase& phase : collective.phases)
        {
            tally.sent[static_cast<size_t>(collective.comm)] +=
                SentBy(phase, phase.group.IndexOf(rank));
        }
        break;
    }
    case OpKind::Wait: {
        const auto handle = state.handles.find(op.handle);
        if (op.handle >= m_graph.handles ||
            (handle != state.handles.end() &&
             state.done[handle->second.first] <= handle->second.second))
        {
            return false;
        }
        break;
    }
    case OpKind::Run:
        return false; // a Run inside a body
    }
    state.next++;
    return true;
}

std::string
GraphInterpreter::Run(uint32_t iterations)
{
    for (bool progress = true; progress;)
    {
        progress = false;
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            RankState& state = m_ranks[rank];
            while (state.iteration < iterations && Advance(rank))
            {
                progress = true;
                if (state.next == state.ops.size())
                {
                    state.next = 0;
                    state.iteration++;
                }
            }
            progress = Complete(rank) || progress;
        }
    }
    for (Rank rank = 0; rank < m_ranks.size(); rank++)
    {
        const RankState& state = m_ranks[rank];
        if (state.iteration < iterations)
        {
            return "rank " + std::to_string(rank) + " is stuck at operation " +
                   std::to_string(state.next) + " of kind " +
                   std::to_string(static_cast<int>(state.ops[state.next].kind)) + " in iteration " +
                   std::to_string(state.iteration);
        }
        for (size_t s = 0; s < kStreams; s++)
        {
            if (state.done[s] != state.streams[s].size())
            {
                return "rank " + std::to_string(rank) + " has collectives left on stream " +
                       std::to_string(s);
            }
        }
    }
    if (!m_posts.empty())
    {
        return std::to_string(m_posts.size()) + " receives are left over";
    }
    return m_messages.empty() ? "" : std::to_string(m_messages.size()) + " messages are left over";
}

} // namespace scaleacross
