// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/order-walk.h"

#include "core/base/errors.h"

#include <algorithm>
#include <deque>
#include <map>

namespace scaleacross
{

namespace
{

constexpr Duration kNever = Duration::Max();

class Walk
{
  public:
    Walk(const PipelineShape& shape,
         const PipelineOrders& orders,
         const PipelineTimes& times,
         const ReceivePosts* posts,
         ActionTimes* actions)
        : m_shape(shape),
          m_orders(orders),
          m_times(times),
          m_posts(posts),
          m_actions(actions),
          m_last(Positions(shape) - 1),
          m_arrivals(2 * size_t{Positions(shape)} * shape.microbatches, kNever),
          m_next(shape.ranks, 0),
          m_ways(shape.ranks)
    {
        if (m_actions)
        {
            m_actions->begin.assign(shape.ranks, {});
            m_actions->end.assign(shape.ranks, {});
        }
        if (m_posts)
        {
            m_ends.resize(shape.ranks);
            m_senders.resize(shape.ranks);
        }
        m_spans.begin.assign(shape.ranks, Duration());
        m_spans.end.assign(shape.ranks, Duration());
        for (uint32_t j = 0; j < shape.microbatches; j++)
        {
            Arrival(true, 0, j) = Duration();
            Arrival(false, m_last, j) = Duration();
        }
    }

    std::optional<RankSpans> Run()
    {
        // A rank that can go on does so as far as it gets; then those it has sent something to.
        std::vector<uint32_t> ready;
        std::vector<bool> listed(m_shape.ranks, true);
        for (uint32_t r = m_shape.ranks; r-- > 0;)
        {
            ready.push_back(r);
        }
        while (!ready.empty())
        {
            const uint32_t r = ready.back();
            ready.pop_back();
            listed[r] = false;
            m_reached.clear();
            while (m_next[r] < m_orders[r].size() && Step(r, m_orders[r][m_next[r]]))
            {
                m_next[r]++;
            }
            if (m_posts)
            {
                for (auto& [to, way] : m_ways[r])
                {
                    Depart(way, to);
                }
                for (const uint32_t from : m_senders[r])
                {
                    Depart(m_ways[from].at(r), r);
                }
            }
            for (const uint32_t peer : m_reached)
            {
                if (!listed[peer])
                {
                    listed[peer] = true;
                    ready.push_back(peer);
                }
            }
        }
        for (uint32_t r = 0; r < m_shape.ranks; r++)
        {
            if (m_next[r] != m_orders[r].size())
            {
                return std::nullopt;
            }
        }
        return m_spans;
    }

  private:
    /// A message that has been sent.
    struct Message
    {
        size_t row{0};
        Duration sent;
        Duration hop;
        Duration hold;
    };

    /// From one rank to another.
    struct Way
    {
        Duration free;               //!< when the last message has left it
        std::deque<Message> queue{}; //!< sent, and waiting for a receive
    };

    Duration& Arrival(bool forward, uint32_t position, uint32_t microbatch)
    {
        return m_arrivals[MessageRow(m_shape, forward, position, microbatch)];
    }

    void Depart(Way& way, const Message& message, Duration posted)
    {
        const Duration begin = std::max({message.sent, posted, way.free});
        way.free = begin + message.hold;
        m_arrivals[message.row] = begin + message.hop;
    }

    /// The messages to a rank whose receives have been posted set out.
    void Depart(Way& way, uint32_t to)
    {
        for (; !way.queue.empty(); way.queue.pop_front())
        {
            const Message& message = way.queue.front();
            const uint32_t post = (*m_posts)[message.row];
            if (post > m_ends[to].size())
            {
                break;
            }
            Depart(way, message, post == 0 ? Duration() : m_ends[to][post - 1]);
            m_reached.push_back(to);
        }
    }

    bool Step(uint32_t r, const PipelineAction& action)
    {
        const auto forward = ForwardOf(action);
        const auto input = InputGradientOf(action);
        const auto weight = WeightGradientOf(action);
        Duration begin = m_spans.end[r];
        Duration takes;
        const auto await = [&](const std::optional<ChunkPass>& pass, bool isForward) {
            if (pass)
            {
                const uint32_t position = VirtualStage(m_shape, r, pass->chunk);
                begin = std::max(begin, Arrival(isForward, position, pass->microbatch));
                const PassTimes& times = m_times.passes[position];
                takes += isForward ? times.forward : times.inputGradient;
            }
        };
        await(forward, true);
        await(input, false);
        if (begin == kNever)
        {
            return false;
        }
        if (weight)
        {
            takes += m_times.passes[VirtualStage(m_shape, r, weight->chunk)].weightGradient;
        }
        if (m_next[r] == 0)
        {
            m_spans.begin[r] = begin;
        }
        m_spans.end[r] = begin + takes;
        if (m_actions)
        {
            m_actions->begin[r].push_back(begin);
            m_actions->end[r].push_back(begin + takes);
        }
        if (m_posts)
        {
            m_ends[r].push_back(begin + takes);
        }
        Send(r, forward, true);
        Send(r, input, false);
        return true;
    }

    void Send(uint32_t r, const std::optional<ChunkPass>& pass, bool forward)
    {
        if (!pass)
        {
            return;
        }
        const uint32_t position = VirtualStage(m_shape, r, pass->chunk);
        if (position == (forward ? m_last : 0))
        {
            return;
        }
        const uint32_t to = forward ? position + 1 : position - 1;
        const uint32_t peer = RankOf(m_shape, to);
        if (peer == r)
        {
            Arrival(forward, to, pass->microbatch) = m_spans.end[r];
            return;
        }
        const uint32_t boundary = std::min(position, to);
        const Message message{MessageRow(m_shape, forward, to, pass->microbatch),
                              m_spans.end[r],
                              m_times.hops[boundary],
                              m_times.holds.empty() ? Duration() : m_times.holds[boundary]};
        if (m_posts)
        {
            const auto [way, isNew] = m_ways[r].try_emplace(peer);
            way->second.queue.push_back(message);
            if (isNew)
            {
                m_senders[peer].push_back(r);
            }
            return;
        }
        if (m_times.holds.empty())
        {
            m_arrivals[message.row] = message.sent + message.hop;
        }
        else
        {
            Depart(m_ways[r][peer], message, Duration());
        }
        m_reached.push_back(peer);
    }

    const PipelineShape& m_shape;
    const PipelineOrders& m_orders;
    const PipelineTimes& m_times;
    const ReceivePosts* m_posts;
    ActionTimes* m_actions;
    uint32_t m_last;
    std::vector<Duration> m_arrivals; //!< by MessageRow()
    std::vector<size_t> m_next;
    std::vector<std::map<uint32_t, Way>> m_ways;  //!< by sender and receiver
    std::vector<std::vector<uint32_t>> m_senders; //!< of the ways to a rank
    std::vector<std::vector<Duration>> m_ends;    //!< of actions, where receives are posted
    std::vector<uint32_t> m_reached;
    RankSpans m_spans;
};

/// Calls visit(rank, index of the action, pass, whether it goes forward) for what every action does
/// to a message.
template <typename Visit>
void
ForEachPass(const PipelineShape& shape, const PipelineOrders& orders, Visit visit)
{
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        for (uint32_t i = 0; i < orders[r].size(); i++)
        {
            if (const auto pass = ForwardOf(orders[r][i]))
            {
                visit(r, i, *pass, true);
            }
            if (const auto pass = InputGradientOf(orders[r][i]))
            {
                visit(r, i, *pass, false);
            }
        }
    }
}

} // namespace

Duration
RankSpans::Makespan() const
{
    return *std::max_element(end.begin(), end.end());
}

Duration
RankSpans::Longest() const
{
    Duration longest;
    for (size_t r = 0; r < begin.size(); r++)
    {
        longest = std::max(longest, end[r] - begin[r]);
    }
    return longest;
}

size_t
MessageRow(const PipelineShape& shape, bool forward, uint32_t position, uint32_t microbatch)
{
    const size_t row = (forward ? 0 : size_t{Positions(shape)}) + position;
    return row * shape.microbatches + microbatch;
}

std::optional<RankSpans>
WalkOrders(const PipelineShape& shape,
           const PipelineOrders& orders,
           const PipelineTimes& times,
           const ReceivePosts* posts,
           ActionTimes* actions)
{
    return Walk(shape, orders, times, posts, actions).Run();
}

ReceivePosts
PlannedReceives(const PipelineShape& shape, const PipelineOrders& orders, const PipelineTimes& plan)
{
    ActionTimes actions;
    const auto spans = WalkOrders(shape, orders, plan, nullptr, &actions);
    SCALEACROSS_INVARIANT(spans, "a plan whose ranks wait in a circle");
    const size_t rows = 2 * size_t{Positions(shape)} * shape.microbatches;
    std::vector<Duration> sent(rows, kNever); // by the row of the receive
    ForEachPass(shape, orders, [&](uint32_t r, uint32_t i, const ChunkPass& pass, bool forward) {
        const uint32_t position = VirtualStage(shape, r, pass.chunk);
        if (position != (forward ? Positions(shape) - 1 : 0))
        {
            const uint32_t to = forward ? position + 1 : position - 1;
            sent[MessageRow(shape, forward, to, pass.microbatch)] = actions.end[r][i];
        }
    });
    ReceivePosts posts(rows, 0);
    ForEachPass(shape, orders, [&](uint32_t r, uint32_t i, const ChunkPass& pass, bool forward) {
        const uint32_t position = VirtualStage(shape, r, pass.chunk);
        const size_t row = MessageRow(shape, forward, position, pass.microbatch);
        const auto first = actions.begin[r].begin();
        const auto after = std::upper_bound(first, first + i + 1, sent[row]);
        posts[row] = after == first ? 0 : static_cast<uint32_t>(after - first) - 1;
    });
    return posts;
}

} // namespace scaleacross
