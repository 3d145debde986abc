// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACING_QUEUE_H
#define SCALEACROSS_PACING_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Queue pairs of a NIC whose next packet is not due yet, by time; those of equal time by number.
 *
 * A binary heap that knows where each one is: O(log n) for everything, as the time of one that
 * waits moves whenever its rate changes.
 */
class PacingQueue
{
  public:
    struct Entry
    {
        int64_t time;    //!< ps
        uint32_t number; //!< of the queue pair
    };

    bool Empty() const
    {
        return m_heap.empty();
    }

    /// Domain: not empty.
    const Entry& Front() const
    {
        return m_heap.front();
    }

    /// Puts a queue pair in, or gives the one that is in another time.
    void Set(uint32_t number, int64_t time)
    {
        if (number >= m_places.size())
        {
            m_places.resize(number + 1, kNowhere);
        }
        if (m_places[number] == kNowhere)
        {
            m_places[number] = m_heap.size();
            m_heap.push_back({time, number});
        }
        m_heap[m_places[number]].time = time;
        Settle(m_places[number]);
    }

    /// Domain: it is in.
    void Remove(uint32_t number)
    {
        const size_t place = std::exchange(m_places[number], kNowhere);
        const Entry last = m_heap.back();
        m_heap.pop_back();
        if (last.number != number)
        {
            Put(place, last);
            Settle(place);
        }
    }

    void Clear()
    {
        m_heap.clear();
        m_places.clear();
    }

  private:
    static constexpr size_t kNowhere = SIZE_MAX;

    static bool Before(const Entry& a, const Entry& b)
    {
        return a.time < b.time || (a.time == b.time && a.number < b.number);
    }

    void Put(size_t place, const Entry& entry)
    {
        m_heap[place] = entry;
        m_places[entry.number] = place;
    }

    /// Moves the entry at `place` to where it belongs; all others are right.
    void Settle(size_t place)
    {
        const Entry entry = m_heap[place];
        while (place > 0 && Before(entry, m_heap[(place - 1) / 2]))
        {
            Put(place, m_heap[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        for (size_t child = 2 * place + 1; child < m_heap.size(); child = 2 * place + 1)
        {
            if (child + 1 < m_heap.size() && Before(m_heap[child + 1], m_heap[child]))
            {
                ++child;
            }
            if (!Before(m_heap[child], entry))
            {
                break;
            }
            Put(place, m_heap[child]);
            place = child;
        }
        Put(place, entry);
    }

    std::vector<Entry> m_heap;
    std::vector<size_t> m_places; //!< in m_heap, by number
};

} // namespace scaleacross

#endif // SCALEACROSS_PACING_QUEUE_H
