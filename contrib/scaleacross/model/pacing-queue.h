// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACING_QUEUE_H
#define SCALEACROSS_PACING_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Queue pairs of a NIC whose next packet is not due yet, by time; those of equal time by number.
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

    void Insert(int64_t time, uint32_t number)
    {
        m_heap.push_back({time, number});
        std::push_heap(m_heap.begin(), m_heap.end(), Later);
    }

    /// Domain: not empty.
    Entry PopFront()
    {
        std::pop_heap(m_heap.begin(), m_heap.end(), Later);
        const Entry front = m_heap.back();
        m_heap.pop_back();
        return front;
    }

    /// Rare: searches them all.
    void Remove(uint32_t number)
    {
        auto end = std::remove_if(m_heap.begin(), m_heap.end(), [number](const Entry& entry) {
            return entry.number == number;
        });
        m_heap.erase(end, m_heap.end());
        std::make_heap(m_heap.begin(), m_heap.end(), Later);
    }

    void Clear()
    {
        m_heap.clear();
    }

  private:
    static bool Later(const Entry& a, const Entry& b)
    {
        return a.time > b.time || (a.time == b.time && a.number > b.number);
    }

    std::vector<Entry> m_heap;
};

} // namespace scaleacross

#endif // SCALEACROSS_PACING_QUEUE_H
