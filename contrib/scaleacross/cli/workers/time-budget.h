// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIME_BUDGET_H
#define SCALEACROSS_TIME_BUDGET_H

#include "core/base/units.h"

#include <algorithm>
#include <chrono>

namespace scaleacross
{

/// Wall clock time that an answer may take, from when this is made.
class TimeBudget
{
  public:
    /// @param limit Max(): none
    explicit TimeBudget(Duration limit)
        : m_limit(limit)
    {
    }

    bool IsLimited() const
    {
        return m_limit < Duration::Max();
    }

    Duration Spent() const
    {
        const auto spent = std::chrono::steady_clock::now() - m_start;
        return Duration::Seconds(std::chrono::duration<double>(spent).count());
    }

    bool IsLeft() const
    {
        return Spent() < m_limit;
    }

    /// A part of what is left; a moment at least, as who has no time at all cannot say so.
    Duration Part(double part) const
    {
        return IsLimited() ? std::max(Duration::Microseconds(1),
                                      Duration::Seconds((m_limit - Spent()).S() * part))
                           : m_limit;
    }

  private:
    Duration m_limit;
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
};

} // namespace scaleacross

#endif // SCALEACROSS_TIME_BUDGET_H
