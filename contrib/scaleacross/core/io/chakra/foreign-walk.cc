// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-walk.h"

#include "core/base/errors.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint32_t kNone = ForeignPartners::kNone;

/// About how long a rank computes a node: only to say in which order it gets to others.
double
SecondsOf(const ForeignNode& node)
{
    constexpr double kFlopsPerSecond = 1e15;
    constexpr double kBytesPerSecond = 3e12;
    return node.duration != Duration()
               ? node.duration.S()
               : std::max(node.work.Value() / kFlopsPerSecond,
                          static_cast<double>(node.memory.Count()) / kBytesPerSecond);
}

/// Who waits for a node of a rank.
struct Follower
{
    uint32_t place{0};
    bool fromBegin{false}; //!< waits for it to begin only, not to end
};

/// Goes through all ranks at once, by a clock. What ranks compute takes its time, and communication
/// a moment from when the last of those that take part has come to it.
class Walk
{
  public:
    Walk(const std::vector<ForeignRank>& ranks,
         const ForeignPartners& partners,
         const std::vector<Stream>& streams)
        : m_ranks(ranks),
          m_partners(partners),
          m_streams(streams),
          m_state(ranks.size()),
          m_members(partners.operations.size()),
          m_free(partners.operations.size(), 0),
          m_begun(partners.operations.size(), 0),
          m_lined(partners.operations.size(), false)
    {
        for (uint32_t i = 0; i < partners.operations.size(); i++)
        {
            m_turns[partners.operations[i].group].operations.push_back(i);
        }
        FindShared();
        for (Rank rank = 0; rank < ranks.size(); rank++)
        {
            Join(rank);
        }
    }

    std::vector<std::vector<uint32_t>> Order()
    {
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            for (uint32_t place = 0; place < m_ranks[rank].nodes.size(); place++)
            {
                if (m_state[rank].left[place] == 0)
                {
                    Free(rank, place, 0);
                }
            }
        }
        while (!m_events.empty())
        {
            const Event event = m_events.top();
            m_events.pop();
            switch (event.what)
            {
            case What::Ends:
                End(event.rank, event.place, event.time);
                break;
            case What::Meets:
                Meet(event.rank, event.place, event.time);
                break;
            case What::Leads:
                Offer(event.rank, event.place, event.time);
                break;
            case What::Goes:
                Go(event.rank, event.time);
                break;
            }
        }
        FailIfStuck();
        std::vector<std::vector<uint32_t>> orders;
        for (State& state : m_state)
        {
            orders.push_back(std::move(state.order));
        }
        return orders;
    }

  private:
    /// In seconds, how long communication takes here.
    static constexpr double kMoment = 1e-10;

    /// What there is to know of a rank; vectors are by place.
    struct State
    {
        std::vector<uint32_t> first; //!< in `followers`, and one more
        std::vector<Follower> followers;
        std::vector<uint32_t> left; //!< of what a node waits for
        std::vector<bool> begun;
        std::vector<bool> over;
        std::vector<bool> awaited; //!< the rank has waited for it to end
        // Nodes that wait for nothing but the rank:
        std::set<uint32_t> computes;
        std::set<uint32_t> posts;  //!< communication
        std::set<uint32_t> urgent; //!< communication that leaves before anything is computed
        bool idle{true};           //!< it waits for one of these
        double posted{-1};         //!< when it has begun communication
        std::array<std::deque<uint32_t>, kStreams> line; //!< collectives, in their order
        std::vector<uint32_t> order;
        std::vector<uint32_t> receive; //!< by number of message
        std::vector<bool> sent;        //!< likewise
    };

    /// Of a process group: its collectives, and how many are in line.
    struct Turns
    {
        std::vector<uint32_t> operations;
        size_t next{0};
    };

    /// Of what comes at the same time, the first of these is first.
    enum class What : uint8_t
    {
        Ends,  //!< a node
        Meets, //!< a collective and its line
        Leads, //!< a collective its line, and its rank has come to it
        Goes   //!< a rank is through with what it has begun
    };

    struct Event
    {
        double time{0};
        What what{What::Goes};
        Rank rank{0};
        uint32_t place{0};

        bool operator<(const Event& o) const // the queue gives the greatest first
        {
            return std::tie(time, what, rank, place) > std::tie(o.time, o.what, o.rank, o.place);
        }
    };

    /// Streams on which a rank has collectives of several groups.
    void FindShared()
    {
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            std::array<uint32_t, kStreams> group{};
            group.fill(kNone);
            for (uint32_t place = 0; place < m_ranks[rank].nodes.size(); place++)
            {
                if (m_ranks[rank].nodes[place].kind == ForeignKind::Collective)
                {
                    const auto stream = static_cast<size_t>(StreamOf(rank, place));
                    const uint32_t own =
                        m_partners.operations[m_partners.number[rank][place]].group;
                    m_shared[stream] =
                        m_shared[stream] || (group[stream] != kNone && group[stream] != own);
                    group[stream] = own;
                }
            }
        }
    }

    /// Who waits for whom: by data, and where groups share a stream, by the order of collectives.
    void Join(Rank rank)
    {
        const ForeignRank& own = m_ranks[rank];
        const auto count = static_cast<uint32_t>(own.nodes.size());
        State& state = m_state[rank];
        state.left.resize(count);
        state.begun.resize(count);
        state.over.resize(count);
        state.awaited.resize(count);
        state.receive.resize(m_partners.messages, kNone);
        state.sent.resize(m_partners.messages);
        std::vector<std::pair<uint32_t, Follower>> edges;
        std::array<uint32_t, kStreams> last{};
        last.fill(kNone);
        for (uint32_t place = 0; place < count; place++)
        {
            const ForeignKind kind = own.nodes[place].kind;
            for (const uint32_t other : own.after[place])
            {
                edges.push_back({other, {place, SameStream(rank, place, other)}});
            }
            if (kind == ForeignKind::Receive)
            {
                state.receive[m_partners.number[rank][place]] = place;
            }
            else if (kind == ForeignKind::Collective)
            {
                m_members[m_partners.number[rank][place]].push_back({rank, place});
                const auto stream = static_cast<size_t>(StreamOf(rank, place));
                uint32_t& before = last[stream];
                if (m_shared[stream] && before != kNone)
                {
                    edges.push_back({before, {place, true}});
                }
                before = place;
            }
        }
        std::stable_sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        state.first.resize(count + 1);
        for (const auto& [before, follower] : edges)
        {
            state.first[before + 1]++;
            state.followers.push_back(follower);
            state.left[follower.place]++;
        }
        std::partial_sum(state.first.begin(), state.first.end(), state.first.begin());
    }

    Stream StreamOf(Rank rank, uint32_t place) const
    {
        return m_streams[m_partners.number[rank][place]];
    }

    /// Whether these are collectives that follow each other by themselves.
    bool SameStream(Rank rank, uint32_t a, uint32_t b) const
    {
        const auto& nodes = m_ranks[rank].nodes;
        return nodes[a].kind == ForeignKind::Collective &&
               nodes[b].kind == ForeignKind::Collective && StreamOf(rank, a) == StreamOf(rank, b);
    }

    /// A rank begins the node with the lowest number of those that it can: of communication if any
    /// of that is urgent.
    void Go(Rank rank, double time)
    {
        State& state = m_state[rank];
        std::set<uint32_t>* from = nullptr;
        for (auto* some : {&state.urgent, &state.posts, &state.computes})
        {
            const bool mayWait = some == &state.computes && !state.urgent.empty();
            if (!some->empty() && !mayWait && (from == nullptr || *some->begin() < *from->begin()))
            {
                from = some;
            }
        }
        state.idle = from == nullptr;
        if (state.idle)
        {
            return;
        }
        const bool computes = from == &state.computes;
        if (computes && state.posted == time)
        {
            // What has been posted may be over at once, and something with a lower number begin.
            m_events.push({time + 2 * kMoment, What::Goes, rank, 0});
            return;
        }
        const uint32_t place = *from->begin();
        from->erase(from->begin());
        const ForeignNode& node = m_ranks[rank].nodes[place];
        if (!computes)
        {
            state.posted = time;
        }
        Begin(rank, place, time);
        m_events.push({computes ? time + SecondsOf(node) : time, What::Goes, rank, 0});
    }

    /// A node waits for nothing any more. What takes no time of the rank begins at once, and
    /// collectives when it is their turn, in an order that is the same for all members.
    void Free(Rank rank, uint32_t place, double time)
    {
        const ForeignKind kind = m_ranks[rank].nodes[place].kind;
        if (kind == ForeignKind::Nothing || kind == ForeignKind::Receive)
        {
            Begin(rank, place, time);
        }
        else if (kind == ForeignKind::Collective &&
                 !m_shared[static_cast<size_t>(StreamOf(rank, place))])
        {
            const uint32_t number = m_partners.number[rank][place];
            m_free[number]++;
            if (!m_lined[number])
            {
                LineUp(number, time);
            }
            else if (const auto& line = LineOf(rank, place); !line.empty() && line.front() == place)
            {
                m_events.push({time, What::Leads, rank, place});
            }
        }
        else
        {
            Offer(rank, place, time);
        }
    }

    /// The rank may begin a node when it has nothing to do that is before that.
    void Offer(Rank rank, uint32_t place, double time)
    {
        State& state = m_state[rank];
        const bool computes = m_ranks[rank].nodes[place].kind == ForeignKind::Compute;
        (computes                ? state.computes
         : IsUrgent(rank, place) ? state.urgent
                                 : state.posts)
            .insert(place);
        if (std::exchange(state.idle, false))
        {
            m_events.push({time, What::Goes, rank, 0});
        }
    }

    std::deque<uint32_t>& LineOf(Rank rank, uint32_t place)
    {
        return m_state[rank].line[static_cast<size_t>(StreamOf(rank, place))];
    }

    /// A member has come to a collective. All have it behind those of its group that are in line as
    /// soon as all have come to it, or one if it is the next of the group by its number.
    void LineUp(uint32_t number, double time)
    {
        Turns& turns = m_turns[m_partners.operations[number].group];
        if (m_free[number] == m_members[number].size())
        {
            Line(number, time);
        }
        while (turns.next < turns.operations.size())
        {
            const uint32_t next = turns.operations[turns.next];
            if (!m_lined[next])
            {
                if (m_free[next] == 0)
                {
                    break;
                }
                Line(next, time);
            }
            turns.next++;
        }
    }

    void Line(uint32_t number, double time)
    {
        m_lined[number] = true;
        for (const auto& [member, at] : m_members[number])
        {
            m_events.push({time, What::Meets, member, at});
        }
    }

    void Meet(Rank rank, uint32_t place, double time)
    {
        auto& line = LineOf(rank, place);
        line.push_back(place);
        if (line.size() == 1 && m_state[rank].left[place] == 0)
        {
            Offer(rank, place, time);
        }
    }

    /// Whether communication begins as soon as it can, whatever its number: not behind work of the
    /// CPU, of which it is not known what it computes, and collectives not behind communication,
    /// for which the rank would have to wait before it computes anything else.
    bool IsUrgent(Rank rank, uint32_t place) const
    {
        const auto& nodes = m_ranks[rank].nodes;
        const auto& after = m_ranks[rank].after[place];
        const bool sends = nodes[place].kind == ForeignKind::Send;
        return !after.empty() && std::all_of(after.begin(), after.end(), [&](uint32_t other) {
            const ForeignKind kind = nodes[other].kind;
            return m_state[rank].awaited[other] || kind == ForeignKind::Compute ||
                   kind == ForeignKind::Send || (sends && kind != ForeignKind::Nothing);
        });
    }

    void Begin(Rank rank, uint32_t place, double time)
    {
        State& state = m_state[rank];
        const ForeignNode& node = m_ranks[rank].nodes[place];
        const uint32_t number = m_partners.number[rank][place];
        state.begun[place] = true;
        state.order.push_back(place);
        if (node.kind == ForeignKind::Compute || node.kind == ForeignKind::Send)
        {
            for (const uint32_t other : m_ranks[rank].after[place])
            {
                state.awaited[other] = true;
            }
        }
        switch (node.kind)
        {
        case ForeignKind::Nothing:
            m_events.push({time, What::Ends, rank, place});
            break;
        case ForeignKind::Compute:
            m_events.push({time + SecondsOf(node), What::Ends, rank, place});
            break;
        case ForeignKind::Send: {
            State& peer = m_state[node.peer];
            const uint32_t receive = peer.receive[number];
            peer.sent[number] = true;
            if (peer.begun[receive])
            {
                m_events.push({time + kMoment, What::Ends, node.peer, receive});
            }
            m_events.push({time, What::Ends, rank, place});
            break;
        }
        case ForeignKind::Receive:
            if (state.sent[number])
            {
                m_events.push({time + kMoment, What::Ends, rank, place});
            }
            break;
        case ForeignKind::Collective:
            if (++m_begun[number] == m_members[number].size())
            {
                for (const auto& [member, at] : m_members[number])
                {
                    m_events.push({time + kMoment, What::Ends, member, at});
                }
            }
            break;
        }
        Release(rank, place, time, true);
        if (node.kind == ForeignKind::Collective &&
            !m_shared[static_cast<size_t>(StreamOf(rank, place))])
        {
            auto& line = LineOf(rank, place);
            line.pop_front();
            if (!line.empty() && state.left[line.front()] == 0)
            {
                m_events.push({time, What::Leads, rank, line.front()});
            }
        }
    }

    void End(Rank rank, uint32_t place, double time)
    {
        m_state[rank].over[place] = true;
        Release(rank, place, time, false);
    }

    /// A node has begun or ended, and who has waited for that does so no more.
    void Release(Rank rank, uint32_t place, double time, bool begins)
    {
        State& state = m_state[rank];
        for (uint32_t i = state.first[place]; i < state.first[place + 1]; i++)
        {
            const Follower& follower = state.followers[i];
            if (follower.fromBegin == begins && --state.left[follower.place] == 0)
            {
                Free(rank, follower.place, time);
            }
        }
    }

    void FailIfStuck() const
    {
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            const auto& nodes = m_ranks[rank].nodes;
            const State& state = m_state[rank];
            for (uint32_t place = 0; place < nodes.size(); place++)
            {
                const auto& after = m_ranks[rank].after[place];
                const auto other = std::find_if(after.begin(), after.end(), [&](uint32_t node) {
                    return !state.over[node] && !SameStream(rank, place, node);
                });
                if (!state.begun[place] && other != after.end())
                {
                    FailStuck(rank,
                              place,
                              "node " + NameOfNode(nodes[*other]) + ", which never ends");
                }
            }
        }
        for (Rank rank = 0; rank < m_ranks.size(); rank++)
        {
            const auto& begun = m_state[rank].begun;
            const auto stuck = std::find(begun.begin(), begun.end(), false);
            if (stuck != begun.end())
            {
                FailStuck(rank, static_cast<uint32_t>(stuck - begun.begin()), "its turn");
            }
        }
    }

    [[noreturn]] void FailStuck(Rank rank, uint32_t place, const std::string& what) const
    {
        const ForeignNode& node = m_ranks[rank].nodes[place];
        FailAtNode(m_ranks[rank].path,
                   node.id,
                   node.name,
                   "it waits for " + what + ": ranks wait for each other",
                   "communication that comes about whatever the order of ranks",
                   "look for what its partners wait for");
    }

    const std::vector<ForeignRank>& m_ranks;
    const ForeignPartners& m_partners;
    const std::vector<Stream>& m_streams; //!< by operation
    std::vector<State> m_state;
    std::array<bool, kStreams> m_shared{};                         //!< by several groups of a rank
    std::vector<std::vector<std::pair<Rank, uint32_t>>> m_members; //!< by operation
    std::vector<uint32_t> m_free;      //!< by operation: members that have come to it
    std::vector<uint32_t> m_begun;     //!< likewise: that have begun it
    std::vector<bool> m_lined;         //!< likewise: it is in the lines of its members
    std::map<uint32_t, Turns> m_turns; //!< by ForeignGroup::number
    std::priority_queue<Event> m_events;
};

} // namespace

std::vector<std::vector<uint32_t>>
InOrder(const std::vector<ForeignRank>& ranks,
        const ForeignPartners& partners,
        const std::vector<Stream>& streams)
{
    return Walk(ranks, partners, streams).Order();
}

} // namespace scaleacross
