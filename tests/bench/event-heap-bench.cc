// SPDX-License-Identifier: GPL-2.0-only

// The heap of events beside that of Boost, for as many entries as a job has classes: each event is
// taken out and set anew, and some others get other times, as shares of links change.

#include "core/engine/event-heap.h"

#include <benchmark/benchmark.h>
#include <boost/heap/d_ary_heap.hpp>
#include <random>
#include <vector>

namespace scaleacross
{

namespace
{

/// EventHeap's functions on boost::heap::d_ary_heap.
class BoostHeap
{
  public:
    explicit BoostHeap(uint32_t entries)
        : m_handles(entries),
          m_in(entries)
    {
    }

    void Set(uint32_t id, EventTime time)
    {
        if (m_in[id])
        {
            m_heap.update(m_handles[id], {time, id});
            return;
        }
        m_handles[id] = m_heap.push({time, id});
        m_in[id] = true;
    }

    void Remove(uint32_t id)
    {
        m_heap.erase(m_handles[id]);
        m_in[id] = false;
    }

    const EventTime& Earliest() const
    {
        return m_heap.top().time;
    }

    uint32_t First() const
    {
        return m_heap.top().id;
    }

  private:
    struct Entry
    {
        EventTime time;
        uint32_t id;

        bool operator<(const Entry& other) const
        {
            return other.time < time; // the largest is on top
        }
    };

    using Heap = boost::heap::d_ary_heap<Entry, boost::heap::arity<4>, boost::heap::mutable_<true>>;

    Heap m_heap;
    std::vector<Heap::handle_type> m_handles;
    std::vector<bool> m_in;
};

/// range(0): entries; range(1): times that change with each event.
template <class Heap>
void
Events(benchmark::State& state, Heap& heap)
{
    const auto entries = static_cast<uint32_t>(state.range(0));
    std::mt19937 random(1);
    const auto later = [&random](Duration now) {
        return now + Duration::Picoseconds(static_cast<int64_t>(random() % 1'000'000));
    };
    for (uint32_t id = 0; id < entries; id++)
    {
        heap.Set(id, {later(Duration()), id});
    }
    for (auto _ : state)
    {
        const uint32_t id = heap.First();
        const Duration now = heap.Earliest().at;
        heap.Remove(id);
        heap.Set(id, {later(now), id});
        for (int64_t i = 0; i < state.range(1); i++)
        {
            const auto other = static_cast<uint32_t>(random() % entries);
            heap.Set(other, {later(now), other});
        }
    }
}

void
Own(benchmark::State& state)
{
    EventHeap heap;
    Events(state, heap);
}

void
Boost(benchmark::State& state)
{
    BoostHeap heap(static_cast<uint32_t>(state.range(0)));
    Events(state, heap);
}

BENCHMARK(Own)->ArgsProduct({{16, 256, 4096}, {0, 2}});
BENCHMARK(Boost)->ArgsProduct({{16, 256, 4096}, {0, 2}});

} // namespace

} // namespace scaleacross
