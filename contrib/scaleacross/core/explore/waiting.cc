// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/waiting.h"

namespace scaleacross
{

Waiting::Waiting(size_t levels)
    : m_unclear(levels + 1)
{
}

void
Waiting::Push(const Family& family)
{
    switch (family.next)
    {
    case Family::Next::Split:
        m_unclear[family.level].push(family);
        break;
    case Family::Next::Filter:
        m_unclear.back().push(family);
        break;
    case Family::Next::Run:
        m_ready.push(family);
        break;
    }
}

bool
Waiting::IsEmpty() const
{
    return m_ready.empty() && PlaceOfFirst() == m_unclear.size();
}

const Family&
Waiting::First() const
{
    return IsTimeToRun() ? m_ready.top() : m_unclear[PlaceOfFirst()].top();
}

bool
Waiting::IsTimeToRun() const
{
    const size_t first = PlaceOfFirst();
    return !m_ready.empty() &&
           (first == m_unclear.size() || !(m_ready.top() < m_unclear[first].top()));
}

Waiting::Queue*
Waiting::FirstUnclear()
{
    const size_t first = PlaceOfFirst();
    return first == m_unclear.size() ? nullptr : &m_unclear[first];
}

size_t
Waiting::PlaceOfFirst() const
{
    size_t first = m_unclear.size();
    for (size_t i = 0; i < m_unclear.size(); i++)
    {
        const bool none = first == m_unclear.size();
        if (!m_unclear[i].empty() && (none || m_unclear[first].top() < m_unclear[i].top()))
        {
            first = i;
        }
    }
    return first;
}

} // namespace scaleacross
