// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_H
#define SCALEACROSS_SCHEDULE_H

#include <string>
#include <string_view>

namespace scaleacross
{

class PipelineSchedule;

/**
 * The name of a pipeline schedule as a value: what a plan holds. Two are equal if they name the
 * same one; `->` leads to what is known of it.
 */
class Schedule
{
  public:
    /// 1F1B.
    Schedule();

    /// By name, so that code reads as a study does: plan.schedule = "zb-h1". Throws ConfigError
    /// (where = "schedule") for a name that no schedule has.
    Schedule(const char* name);
    Schedule(const std::string& name);

    /// `schedule` lives as long as this value: one of PipelineSchedules(), or one of a test.
    Schedule(const PipelineSchedule& schedule);

    const PipelineSchedule* operator->() const
    {
        return m_schedule;
    }

    const PipelineSchedule& operator*() const
    {
        return *m_schedule;
    }

    friend bool operator==(Schedule a, Schedule b)
    {
        return a.m_schedule == b.m_schedule;
    }

    friend bool operator!=(Schedule a, Schedule b)
    {
        return !(a == b);
    }

  private:
    const PipelineSchedule* m_schedule;
};

std::string ToString(Schedule value); //!< "gpipe", "1f1b", ...: the name of the schedule

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_H
