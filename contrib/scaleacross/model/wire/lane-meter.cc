// SPDX-License-Identifier: GPL-2.0-only

#include "lane-meter.h"

namespace scaleacross
{

double
LaneMeter::BitsUntil(int64_t time) const
{
    return m_bits + m_bitsPerPs * static_cast<double>(std::max<int64_t>(0, time - m_since));
}

void
LaneMeter::SetRate(double bitsPerSecond, int64_t now)
{
    const int64_t at = std::max(now, m_end);
    m_bits = BitsUntil(at);
    m_since = at;
    m_bitsPerPs = bitsPerSecond * 1e-12;
}

void
LaneMeter::Break(uint32_t unfinished, int64_t now)
{
    m_carried -= unfinished;
    m_end = std::min(m_end, now);
    SetRate(0, now);
}

double
LaneMeter::Allowed() const
{
    return BitsUntil(m_end) / 8;
}

double
LaneMeter::BusyShare(int64_t now) const
{
    const double bits = BitsUntil(std::max(now, m_end));
    return bits > 0 ? static_cast<double>(m_carried) * 8 / bits : 0;
}

bool
LaneMeter::Holds() const
{
    const double rounding = 1 + Allowed() * 1e-12;
    return static_cast<double>(m_carried) <= Allowed() + rounding;
}

std::string
LaneMeter::Text() const
{
    return "carried " + std::to_string(m_carried) + " bytes, " + std::to_string(Allowed()) +
           " bytes were allowed at its rate until " + std::to_string(m_end) + " ps";
}

} // namespace scaleacross
