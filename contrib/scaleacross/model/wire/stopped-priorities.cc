// SPDX-License-Identifier: GPL-2.0-only

#include "stopped-priorities.h"

namespace scaleacross
{

void
StoppedPriorities::Change(uint8_t priority, uint32_t bit, int64_t now)
{
    const bool any = m_mask != 0;
    m_mask ^= bit;
    if ((m_mask & bit) != 0)
    {
        m_since[priority] = now;
    }
    else
    {
        m_total[priority] += now - m_since[priority];
    }
    if (!any)
    {
        m_anySince = now;
    }
    else if (m_mask == 0)
    {
        m_anyTotal += now - m_anySince;
    }
}

} // namespace scaleacross
