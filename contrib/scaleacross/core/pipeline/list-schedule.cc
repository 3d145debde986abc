// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/list-schedule.h"

#include "core/pipeline/order-walk.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr Duration kNever = Duration::Max();

/// Microbatches that a rank holds something of, oldest first, in units of one chunk.
class HeldMemory
{
  public:
    HeldMemory(uint32_t chunks, uint32_t limit)
        : m_chunks(chunks),
          m_free(int64_t{chunks} * limit)
    {
    }

    /// Whether all could still be finished in turn if `microbatch` went forward through one more
    /// chunk.
    bool MayHold(uint32_t microbatch) const
    {
        int64_t free = m_free - 1;
        bool fits = free >= 0;
        for (size_t i = 0; i < m_flight.size() && fits; i++)
        {
            const uint32_t more = m_first + i == microbatch ? 1 : 0;
            fits = int64_t{m_chunks} - m_flight[i].forwards - more <= free;
            free += m_flight[i].held + more;
        }
        // One that is not here yet needs all its chunks, once the others are done.
        const bool isNew = microbatch >= m_first + m_flight.size();
        return fits && (!isNew || int64_t{m_chunks} - 1 <= free);
    }

    void Hold(uint32_t microbatch)
    {
        if (microbatch >= m_first + m_flight.size())
        {
            m_flight.resize(microbatch - m_first + 1);
        }
        m_flight[microbatch - m_first].forwards++;
        m_flight[microbatch - m_first].held++;
        m_free--;
    }

    void Free(uint32_t microbatch)
    {
        m_flight[microbatch - m_first].held--;
        m_free++;
        while (!m_flight.empty() && m_flight.front().forwards == m_chunks &&
               m_flight.front().held == 0)
        {
            m_flight.pop_front();
            m_first++;
        }
    }

  private:
    struct Flight
    {
        uint32_t forwards{0};
        uint32_t held{0};
    };

    uint32_t m_chunks;
    int64_t m_free;
    uint32_t m_first{0}; //!< microbatch of the front
    std::deque<Flight> m_flight;
};

/// What a rank could begin next, and when.
struct Candidate
{
    Duration begin{kNever};
    Action action{Action::Forward};
    uint32_t chunk{0};
};

class ListScheduler
{
  public:
    ListScheduler(const PipelineShape& shape,
                  const PipelineTimes& times,
                  uint32_t limit,
                  const ListRule& rule)
        : m_shape(shape),
          m_times(times),
          m_rule(rule),
          m_last(Positions(shape) - 1),
          m_arrivals(2 * size_t{Positions(shape)} * shape.microbatches, kNever),
          m_ranks(shape.ranks, Rank{HeldMemory(shape.chunks, limit)}),
          m_orders(shape.ranks)
    {
        for (uint32_t r = 0; r < shape.ranks; r++)
        {
            m_ranks[r].chunks.resize(shape.chunks);
            m_orders[r].reserve(3 * size_t{shape.chunks} * shape.microbatches);
        }
        for (uint32_t j = 0; j < shape.microbatches; j++)
        {
            Arrival(true, 0, j) = Duration();
        }
    }

    PipelineOrders Run()
    {
        for (uint32_t r = 0; r < m_shape.ranks; r++)
        {
            m_ranks[r].next = Choose(r);
        }
        const size_t actions = 3 * size_t{m_shape.ranks} * m_shape.chunks * m_shape.microbatches;
        for (size_t done = 0; done < actions; done++)
        {
            uint32_t first = 0;
            for (uint32_t r = 1; r < m_shape.ranks; r++)
            {
                if (m_ranks[r].next.begin < m_ranks[first].next.begin)
                {
                    first = r;
                }
            }
            const Candidate next = m_ranks[first].next;
            SCALEACROSS_INVARIANT(next.begin != kNever,
                                  "a list schedule of " + std::to_string(done) + " of " +
                                      std::to_string(actions) + " actions");
            Begin(first, next);
        }
        return std::move(m_orders);
    }

  private:
    struct Chunk
    {
        uint32_t forward{0}; //!< microbatches done
        uint32_t input{0};
        uint32_t weight{0};
    };

    struct Rank
    {
        HeldMemory memory;
        std::vector<Chunk> chunks{};
        Duration free{};
        Candidate next{};
    };

    Duration& Arrival(bool forward, uint32_t position, uint32_t microbatch)
    {
        const size_t row = (forward ? 0 : size_t{m_last} + 1) + position;
        return m_arrivals[row * m_shape.microbatches + microbatch];
    }

    /// The earliest forward that memory allows; of those that are there by the time the rank is
    /// free, that of the last chunk.
    Candidate BestForward(uint32_t r)
    {
        Candidate best;
        Rank& rank = m_ranks[r];
        for (uint32_t c = m_shape.chunks; c-- > 0;)
        {
            const uint32_t j = rank.chunks[c].forward;
            if (j == m_shape.microbatches)
            {
                continue;
            }
            const Duration arrival = Arrival(true, VirtualStage(m_shape, r, c), j);
            const Duration begin = std::max(rank.free, arrival);
            if (arrival != kNever && begin < best.begin && rank.memory.MayHold(j))
            {
                best = {begin, Action::Forward, c};
            }
        }
        return best;
    }

    /// The earliest input gradient, of equals the preferred one.
    Candidate BestInputGradient(uint32_t r)
    {
        Candidate best;
        Rank& rank = m_ranks[r];
        uint32_t oldest = 0;
        for (uint32_t c = 0; c < m_shape.chunks; c++)
        {
            const uint32_t j = rank.chunks[c].input;
            if (j == m_shape.microbatches)
            {
                continue;
            }
            const Duration arrival = Arrival(false, VirtualStage(m_shape, r, c), j);
            const Duration begin = std::max(rank.free, arrival);
            if (arrival != kNever &&
                (begin < best.begin ||
                 (begin == best.begin && (m_rule.lastChunkFirst || j < oldest))))
            {
                best = {begin, Action::InputGradient, c};
                oldest = j;
            }
        }
        return best;
    }

    /// The weight gradient owed for longest.
    Candidate BestWeightGradient(uint32_t r) const
    {
        Candidate best;
        const Rank& rank = m_ranks[r];
        uint32_t oldest = UINT32_MAX;
        for (uint32_t c = m_shape.chunks; c-- > 0;)
        {
            const Chunk& chunk = rank.chunks[c];
            if (chunk.weight < chunk.input && chunk.weight < oldest)
            {
                best = {rank.free, Action::WeightGradient, c};
                oldest = chunk.weight;
            }
        }
        return best;
    }

    Candidate Choose(uint32_t r)
    {
        const Candidate forward = BestForward(r);
        const Candidate input = BestInputGradient(r);
        const bool takesForward =
            m_rule.forwardFirst ? forward.begin <= input.begin : forward.begin < input.begin;
        const Candidate& urgent = takesForward ? forward : input;
        const Candidate weight = BestWeightGradient(r);
        if (weight.begin == kNever || urgent.begin == m_ranks[r].free)
        {
            return urgent;
        }
        const PassTimes& times = m_times.passes[VirtualStage(m_shape, r, weight.chunk)];
        const bool fits =
            urgent.begin == kNever || weight.begin + times.weightGradient <= urgent.begin;
        return fits ? weight : urgent;
    }

    void Begin(uint32_t r, const Candidate& next)
    {
        Rank& rank = m_ranks[r];
        Chunk& chunk = rank.chunks[next.chunk];
        const uint32_t position = VirtualStage(m_shape, r, next.chunk);
        const PassTimes& times = m_times.passes[position];
        uint32_t microbatch = 0;
        switch (next.action)
        {
        case Action::Forward:
            microbatch = chunk.forward++;
            rank.memory.Hold(microbatch);
            rank.free = next.begin + times.forward;
            Send(r, position, true, microbatch);
            break;
        case Action::InputGradient:
            microbatch = chunk.input++;
            rank.free = next.begin + times.inputGradient;
            Send(r, position, false, microbatch);
            break;
        default:
            microbatch = chunk.weight++;
            rank.memory.Free(microbatch);
            rank.free = next.begin + times.weightGradient;
        }
        PipelineAction action;
        action.action = next.action;
        action.chunk = static_cast<uint16_t>(next.chunk);
        action.microbatch = static_cast<uint16_t>(microbatch);
        m_orders[r].push_back(action);
        rank.next = Choose(r);
    }

    /// The last position's forward is its own gradient's arrival.
    void Send(uint32_t r, uint32_t position, bool forward, uint32_t microbatch)
    {
        const Duration now = m_ranks[r].free;
        if (forward && position == m_last)
        {
            Arrival(false, position, microbatch) = now;
            return;
        }
        if (!forward && position == 0)
        {
            return;
        }
        const uint32_t to = forward ? position + 1 : position - 1;
        const uint32_t peer = RankOf(m_shape, to);
        const Duration hop = peer == r ? Duration() : m_times.hops[std::min(position, to)];
        Arrival(forward, to, microbatch) = now + hop;
        if (peer != r)
        {
            m_ranks[peer].next = Choose(peer);
        }
    }

    const PipelineShape& m_shape;
    const PipelineTimes& m_times;
    const ListRule& m_rule;
    uint32_t m_last;
    std::vector<Duration> m_arrivals; //!< by direction, position, microbatch
    std::vector<Rank> m_ranks;
    PipelineOrders m_orders;
};

} // namespace

PipelineOrders
ListSchedule(const PipelineShape& shape,
             const PipelineTimes& times,
             uint32_t limit,
             const ListRule& rule)
{
    return ListScheduler(shape, times, limit, rule).Run();
}

PipelineOrders
BestOrders(const PipelineShape& shape,
           const PipelineTimes& times,
           uint32_t limit,
           std::vector<PipelineOrders> known)
{
    for (const bool forwardFirst : {false, true})
    {
        for (const bool lastChunkFirst : {false, true})
        {
            // With one chunk there is no choice between chunks.
            if (shape.chunks > 1 || !lastChunkFirst)
            {
                known.push_back(ListSchedule(shape, times, limit, {forwardFirst, lastChunkFirst}));
            }
        }
    }
    size_t best = 0;
    auto least = std::make_pair(kNever, kNever);
    for (size_t i = 0; i < known.size(); i++)
    {
        const auto spans = WalkOrders(shape, known[i], times);
        SCALEACROSS_INVARIANT(spans, "orders that wait in a circle: " + std::to_string(i));
        const auto takes = std::make_pair(spans->Longest(), spans->Makespan());
        if (takes < least)
        {
            least = takes;
            best = i;
        }
    }
    return std::move(known[best]);
}

PipelineTimes
UnitTimes(const PipelineShape& shape)
{
    const Duration second = Duration::Seconds(1);
    PipelineTimes times;
    times.passes.assign(Positions(shape), {second, second, second});
    times.hops.assign(Positions(shape), Duration());
    return times;
}

} // namespace scaleacross
