// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/event-heap.h"

namespace scaleacross
{

void
EventHeap::Set(Id id, EventTime time)
{
    if (m_positions.size() <= id)
    {
        m_positions.resize(id + 1, kNowhere);
    }
    const Entry entry{time, id};
    if (m_positions[id] == kNowhere)
    {
        m_heap.push_back(entry);
        Rise(m_heap.size() - 1, entry);
        return;
    }
    Move(m_positions[id], entry);
}

void
EventHeap::Remove(Id id)
{
    if (id >= m_positions.size() || m_positions[id] == kNowhere)
    {
        return;
    }
    const size_t position = m_positions[id];
    m_positions[id] = kNowhere;
    const Entry last = m_heap.back();
    m_heap.pop_back();
    if (position < m_heap.size())
    {
        Move(position, last);
    }
}

/// Puts an entry where another was.
void
EventHeap::Move(size_t position, const Entry& entry)
{
    if (entry.time < m_heap[position].time)
    {
        Rise(position, entry);
    }
    else
    {
        Sink(position, entry);
    }
}

void
EventHeap::Place(size_t position, const Entry& entry)
{
    m_heap[position] = entry;
    m_positions[entry.id] = static_cast<uint32_t>(position);
}

void
EventHeap::Rise(size_t position, const Entry& entry)
{
    while (position > 0)
    {
        const size_t parent = (position - 1) / 2;
        if (!(entry.time < m_heap[parent].time))
        {
            break;
        }
        Place(position, m_heap[parent]);
        position = parent;
    }
    Place(position, entry);
}

void
EventHeap::Sink(size_t position, const Entry& entry)
{
    while (true)
    {
        size_t child = 2 * position + 1;
        if (child >= m_heap.size())
        {
            break;
        }
        if (child + 1 < m_heap.size() && m_heap[child + 1].time < m_heap[child].time)
        {
            child++;
        }
        if (!(m_heap[child].time < entry.time))
        {
            break;
        }
        Place(position, m_heap[child]);
        position = child;
    }
    Place(position, entry);
}

} // namespace scaleacross
