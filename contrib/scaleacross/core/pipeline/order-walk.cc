// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/order-walk.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

constexpr Duration kNever = Duration::Max();

class Walk
{
  public:
    Walk(const PipelineShape& shape, const PipelineOrders& orders, const PipelineTimes& times)
        : m_shape(shape),
          m_orders(orders),
          m_times(times),
          m_last(Positions(shape) - 1),
          m_arrivals(2 * size_t{Positions(shape)} * shape.microbatches, kNever),
          m_next(shape.ranks, 0)
    {
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
        const size_t row = (forward ? 0 : size_t{m_last} + 1) + position;
        return m_arrivals[row * m_shape.microbatches + microbatch];
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
        const Duration hop = peer == r ? Duration() : m_times.hops[std::min(position, to)];
        Arrival(forward, to, pass->microbatch) = m_spans.end[r] + hop;
        if (peer != r)
        {
            m_reached.push_back(peer);
        }
    }

    const PipelineShape& m_shape;
    const PipelineOrders& m_orders;
    const PipelineTimes& m_times;
    uint32_t m_last;
    std::vector<Duration> m_arrivals; //!< by direction, position, microbatch
    std::vector<size_t> m_next;
    std::vector<uint32_t> m_reached;
    RankSpans m_spans;
};

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

std::optional<RankSpans>
WalkOrders(const PipelineShape& shape, const PipelineOrders& orders, const PipelineTimes& times)
{
    return Walk(shape, orders, times).Run();
}

} // namespace scaleacross
