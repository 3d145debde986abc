// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/convoys.h"

#include "core/base/errors.h"

#include <algorithm>

namespace scaleacross
{

Convoys::Convoys(const Collective& collective)
    : m_phases(collective.streams ? 1 : static_cast<uint32_t>(collective.phases.size())),
      m_chunks(collective.streams ? 1 : collective.chunks),
      m_channels(std::min(collective.channels, m_chunks)),
      m_phase((m_chunks - 1) / m_channels + 1, 0),
      m_inside(m_phase.size(), false)
{
}

uint32_t
Convoys::ChunksOf(uint32_t convoy) const
{
    return std::min(m_channels, m_chunks - convoy * m_channels);
}

Convoys::Entering
Convoys::Start()
{
    Entering entering;
    if (!Done())
    {
        Enter(0, entering);
    }
    return entering;
}

Convoys::Entering
Convoys::Leave(uint32_t convoy)
{
    SCALEACROSS_INVARIANT(m_inside[convoy], "a convoy leaves a phase that it is not in");
    Entering entering;
    const uint32_t left = m_phase[convoy]++;
    m_inside[convoy] = false;
    const bool isFree = convoy == 0 || m_phase[convoy - 1] > m_phase[convoy];
    if (m_phase[convoy] < m_phases && isFree)
    {
        Enter(convoy, entering);
    }
    const uint32_t next = convoy + 1;
    if (next < Count() && !m_inside[next] && m_phase[next] == left)
    {
        Enter(next, entering);
    }
    return entering;
}

void
Convoys::Enter(uint32_t convoy, Entering& entering)
{
    m_inside[convoy] = true;
    entering.convoys[entering.count++] = convoy;
}

} // namespace scaleacross
