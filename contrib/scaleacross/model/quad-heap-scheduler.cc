// SPDX-License-Identifier: GPL-2.0-only

#include "quad-heap-scheduler.h"

#include "core/base/errors.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(QuadHeapScheduler);

namespace
{
/// 1 if a comes before b, else 0. Without a branch: which of four children is least is anyone's
/// guess.
inline size_t
Before(const Scheduler::EventKey& a, const Scheduler::EventKey& b)
{
    unsigned earlier = a.m_ts < b.m_ts;
    unsigned same = a.m_ts == b.m_ts;
    unsigned older = a.m_uid < b.m_uid;
    return earlier | (same & older);
}
} // namespace

TypeId
QuadHeapScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::QuadHeapScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<QuadHeapScheduler>();
    return tid;
}

QuadHeapScheduler::QuadHeapScheduler() = default;

QuadHeapScheduler::~QuadHeapScheduler() = default;

void
QuadHeapScheduler::Insert(const Event& event)
{
    if (m_hole)
    {
        m_hole = false;
        Down(0, event.key, event.impl);
        return;
    }
    m_keys.push_back(event.key);
    m_impls.push_back(event.impl);
    Up(m_keys.size() - 1, event.key, event.impl);
}

bool
QuadHeapScheduler::IsEmpty() const
{
    return m_keys.size() == (m_hole ? 1U : 0U);
}

Scheduler::Event
QuadHeapScheduler::PeekNext() const
{
    if (!m_hole)
    {
        return {m_impls.front(), m_keys.front()};
    }
    // With a hole at the top, the next one is the least of its children.
    auto first = m_keys.begin() + 1;
    auto least = std::min_element(first, first + std::min<std::ptrdiff_t>(4, m_keys.end() - first));
    return {m_impls[static_cast<size_t>(least - m_keys.begin())], *least};
}

Scheduler::Event
QuadHeapScheduler::RemoveNext()
{
    FillHole();
    m_hole = true;
    return {m_impls.front(), m_keys.front()};
}

void
QuadHeapScheduler::Remove(const Event& event)
{
    FillHole();
    auto found = std::find(m_keys.begin(), m_keys.end(), event.key);
    SCALEACROSS_INVARIANT(found != m_keys.end(),
                          "no event with id " + std::to_string(event.key.m_uid));
    size_t hole = static_cast<size_t>(found - m_keys.begin());
    EventKey key = m_keys.back();
    EventImpl* impl = m_impls.back();
    m_keys.pop_back();
    m_impls.pop_back();
    if (hole == m_keys.size())
    {
        return;
    }
    if (hole > 0 && key < m_keys[(hole - 1) / 4])
    {
        Up(hole, key, impl);
    }
    else
    {
        Down(hole, key, impl);
    }
}

void
QuadHeapScheduler::FillHole()
{
    if (!m_hole)
    {
        return;
    }
    m_hole = false;
    EventKey key = m_keys.back();
    EventImpl* impl = m_impls.back();
    m_keys.pop_back();
    m_impls.pop_back();
    if (!m_keys.empty())
    {
        Down(0, key, impl);
    }
}

void
QuadHeapScheduler::Down(size_t hole, EventKey key, EventImpl* impl)
{
    const size_t size = m_keys.size();
    EventKey* keys = m_keys.data();
    for (size_t child = 4 * hole + 1; child < size; child = 4 * hole + 1)
    {
        size_t least = child;
        if (child + 3 < size)
        {
            size_t left = child + Before(keys[child + 1], keys[child]);
            size_t right = child + 2 + Before(keys[child + 3], keys[child + 2]);
            least = left + (right - left) * Before(keys[right], keys[left]);
        }
        else
        {
            for (size_t other = child + 1; other < size; ++other)
            {
                least = keys[other] < keys[least] ? other : least;
            }
        }
        if (!(keys[least] < key))
        {
            break;
        }
        keys[hole] = keys[least];
        m_impls[hole] = m_impls[least];
        hole = least;
    }
    keys[hole] = key;
    m_impls[hole] = impl;
}

void
QuadHeapScheduler::Up(size_t hole, EventKey key, EventImpl* impl)
{
    while (hole > 0)
    {
        size_t parent = (hole - 1) / 4;
        if (!(key < m_keys[parent]))
        {
            break;
        }
        m_keys[hole] = m_keys[parent];
        m_impls[hole] = m_impls[parent];
        hole = parent;
    }
    m_keys[hole] = key;
    m_impls[hole] = impl;
}

} // namespace ns3
