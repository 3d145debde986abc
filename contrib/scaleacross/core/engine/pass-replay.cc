// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/pass-replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
constexpr double kNotYet = std::numeric_limits<double>::infinity();

class Replay
{
  public:
    Replay(const PipelineShape& shape, const PipelineOrders& orders, const ReplayTimes& times)
        : m_shape(shape),
          m_orders(orders),
          m_last(Positions(shape) - 1),
          m_first(RankOf(shape, 0)),
          m_lastWeights(m_last + 1),
          m_forward(size_t{m_last + 1} * shape.microbatches, kNotYet),
          m_gradient(m_forward),
          m_next(shape.ranks, 0),
          m_now(shape.ranks, kLongAgo)
    {
        for (uint32_t position = 0; position <= m_last; position++)
        {
            m_passes.push_back({times.passes[position].forward.S(),
                                times.passes[position].inputGradient.S(),
                                times.passes[position].weightGradient.S(),
                                position < m_last ? times.hops[position].S() : 0});
        }
        for (uint32_t rank = 0; rank < shape.ranks; rank++)
        {
            for (uint32_t chunk = 0; chunk < shape.chunks; chunk++)
            {
                m_positions.push_back(VirtualStage(shape, rank, chunk));
            }
        }
        for (const Duration pair : times.pairs)
        {
            m_pairs.push_back(pair.S());
        }
        for (uint32_t mb = 0; mb < shape.microbatches; mb++)
        {
            Forward(0, mb) = kLongAgo;
            Gradient(m_last, mb) = kLongAgo;
        }
    }

    ReplayedPasses Run()
    {
        m_now[m_first] = 0;
        GoOn();
        return HasEnded(m_first) ? ReplayedPasses{m_now[m_first], m_ofFirst} : ReplayedPasses();
    }

    double Run(const PassWindow& window)
    {
        m_window = &window;
        GoOn();
        double least = kNotYet;
        for (uint32_t position = 0; position <= m_last; position++)
        {
            if (!HasEnded(RankOf(m_shape, position)))
            {
                return kLongAgo;
            }
            const LastPass& pass = m_lastWeights[position];
            const auto& leads = pass.whole ? window.backwards : window.weights;
            least = std::min(least, pass.begin + leads[position].S());
        }
        return least;
    }

  private:
    /// The last pass of a position so far that makes weight gradients.
    struct LastPass
    {
        double begin{kLongAgo};
        bool whole{false}; //!< with the input gradient
    };

    void GoOn()
    {
        for (bool moved = true; moved;)
        {
            moved = false;
            for (uint32_t rank = 0; rank < m_shape.ranks; rank++)
            {
                const size_t before = m_next[rank];
                Advance(rank);
                moved = moved || m_next[rank] != before;
            }
        }
    }

    bool HasEnded(uint32_t rank) const
    {
        return m_next[rank] == m_orders[rank].size();
    }

    struct Pass
    {
        double forward;
        double input;
        double weight;
        double hop; //!< to the next position, or from it
    };

    /// When what a pass forward needs is there.
    double& Forward(uint32_t position, uint32_t microbatch)
    {
        return m_forward[size_t{position} * m_shape.microbatches + microbatch];
    }

    /// The same backward.
    double& Gradient(uint32_t position, uint32_t microbatch)
    {
        return m_gradient[size_t{position} * m_shape.microbatches + microbatch];
    }

    uint32_t PositionOf(uint32_t rank, uint32_t chunk) const
    {
        return m_positions[rank * m_shape.chunks + chunk];
    }

    /// Whether a forward of the position, which is the next one, is the window's first.
    bool BeginsIn(uint32_t position)
    {
        const bool begins = m_window != nullptr && position == m_window->position && !m_hasBegun;
        m_hasBegun = m_hasBegun || begins;
        return begins;
    }

    /// What a pass takes, of which there is a part at least.
    double TimeOf(uint32_t rank,
                  const std::optional<ChunkPass>& forward,
                  const std::optional<ChunkPass>& input,
                  const std::optional<ChunkPass>& weight) const
    {
        return (forward ? m_passes[PositionOf(rank, forward->chunk)].forward : 0) +
               (input ? m_passes[PositionOf(rank, input->chunk)].input : 0) +
               (weight ? m_passes[PositionOf(rank, weight->chunk)].weight : 0);
    }

    /// What a forward and a backward take that overlap.
    double PairTime(uint32_t rank, const ChunkPass& forward, const ChunkPass& back) const
    {
        if (m_pairs.empty())
        {
            return TimeOf(rank, forward, back, back);
        }
        const size_t first = (size_t{rank} * m_shape.chunks + forward.chunk) * m_shape.chunks;
        return m_pairs[first + back.chunk];
    }

    /// As far as what others have sent lets it.
    void Advance(uint32_t rank)
    {
        double& now = m_now[rank];
        const std::vector<PipelineAction>& order = m_orders[rank];
        for (; m_next[rank] < order.size(); m_next[rank]++)
        {
            const PipelineAction& action = order[m_next[rank]];
            const auto forward = ForwardOf(action);
            const auto input = InputGradientOf(action);
            const double there = std::max(
                forward ? Forward(PositionOf(rank, forward->chunk), forward->microbatch) : kLongAgo,
                input ? Gradient(PositionOf(rank, input->chunk), input->microbatch) : kLongAgo);
            if (there == kNotYet)
            {
                return;
            }
            now = std::max(now, there);
            const auto weight = WeightGradientOf(action);
            if (weight)
            {
                m_lastWeights[PositionOf(rank, weight->chunk)] = {now, input.has_value()};
            }
            if (forward && BeginsIn(PositionOf(rank, forward->chunk)))
            {
                now = std::max(now, 0.0) + m_window->left.S();
            }
            else
            {
                now += forward && input ? PairTime(rank, *forward, *input)
                                        : TimeOf(rank, forward, input, weight);
            }
            if (forward)
            {
                const uint32_t position = PositionOf(rank, forward->chunk);
                if (position < m_last)
                {
                    Forward(position + 1, forward->microbatch) = now + m_passes[position].hop;
                }
            }
            if (input)
            {
                const uint32_t position = PositionOf(rank, input->chunk);
                if (position > 0)
                {
                    Gradient(position - 1, input->microbatch) = now + m_passes[position - 1].hop;
                }
            }
            if (weight && PositionOf(rank, weight->chunk) == 0)
            {
                m_ofFirst = now;
            }
        }
    }

    const PipelineShape& m_shape;
    const PipelineOrders& m_orders;
    const uint32_t m_last;
    const uint32_t m_first;              //!< the first position's rank
    std::vector<LastPass> m_lastWeights; //!< by position
    const PassWindow* m_window{nullptr};
    bool m_hasBegun{false}; //!< the window
    std::vector<Pass> m_passes;
    std::vector<double> m_pairs;       //!< as ReplayTimes has them
    std::vector<uint32_t> m_positions; //!< by rank x chunk
    std::vector<double> m_forward;     //!< by position x microbatch
    std::vector<double> m_gradient;
    std::vector<size_t> m_next; //!< action, by rank
    std::vector<double> m_now;
    double m_ofFirst{0};
};

} // namespace

ReplayedPasses
ReplayPasses(const PipelineShape& shape, const PipelineOrders& orders, const ReplayTimes& times)
{
    return Replay(shape, orders, times).Run();
}

double
ReplayWindow(const PipelineShape& shape,
             const PipelineOrders& orders,
             const ReplayTimes& times,
             const PassWindow& window)
{
    return Replay(shape, orders, times).Run(window);
}

} // namespace scaleacross
