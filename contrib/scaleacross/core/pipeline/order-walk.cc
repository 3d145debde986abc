// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/order-walk.h"

#include "core/base/errors.h"

#include <algorithm>
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
         ActionTimes* actions)
        : m_shape(shape),
          m_orders(orders),
          m_times(times),
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
    Duration& Arrival(bool forward, uint32_t position, uint32_t microbatch)
    {
        return m_arrivals[MessageRow(m_shape, forward, position, microbatch)];
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
        Duration leaves = m_spans.end[r];
        if (!m_times.holds.empty())
        {
            Duration& free = m_ways[r][peer];
            leaves = std::max(leaves, free);
            free = leaves + m_times.holds[boundary];
        }
        Arrival(forward, to, pass->microbatch) = leaves + m_times.hops[boundary];
        m_reached.push_back(peer);
    }

    const PipelineShape& m_shape;
    const PipelineOrders& m_orders;
    const PipelineTimes& m_times;
    ActionTimes* m_actions;
    uint32_t m_last;
    std::vector<Duration> m_arrivals; //!< by MessageRow()
    std::vector<size_t> m_next;
    /// When the last message has left the way, by sender and receiver.
    std::vector<std::map<uint32_t, Duration>> m_ways;
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
           ActionTimes* actions)
{
    return Walk(shape, orders, times, actions).Run();
}

ReceivePosts
PlannedReceives(const PipelineShape& shape, const PipelineOrders& orders, const PipelineTimes& plan)
{
    PipelineTimes times = plan;
    const Duration least = Duration::Picoseconds(1);
    for (PassTimes& pass : times.passes)
    {
        pass.forward = std::max(pass.forward, least);
        pass.inputGradient = std::max(pass.inputGradient, least);
    }
    ActionTimes actions;
    const auto spans = WalkOrders(shape, orders, times, &actions);
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
