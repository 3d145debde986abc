// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/schedule-registry.h"

#include "core/base/text.h"
#include "core/pipeline/schedules.h"

#include <algorithm>

namespace scaleacross
{

const std::vector<const PipelineSchedule*>&
PipelineSchedules()
{
    static const std::vector<const PipelineSchedule*> schedules = {
        &GPipeSchedule(),
        &OneFOneBSchedule(),
        &InterleavedSchedule(),
        &DoraPpSchedule(),
        &BreadthFirstSchedule(),
        &ZbH1Schedule(),
        &ZbH2Schedule(),
        &Zb1pSchedule(),
        &ZbvSchedule(),
        &ZbvInterleavedSchedule(),
        &DualPipeVSchedule(),
        &LatencyAwareSchedule(),
    };
    return schedules;
}

const std::vector<std::string>&
ScheduleNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const PipelineSchedule* schedule : PipelineSchedules())
        {
            all.push_back(schedule->Facts().name);
        }
        return all;
    }();
    return names;
}

Schedule::Schedule()
    : m_schedule(&OneFOneBSchedule())
{
}

Schedule::Schedule(const char* name)
    : Schedule(std::string(name))
{
}

Schedule::Schedule(const std::string& name)
{
    const auto& all = PipelineSchedules();
    const auto found =
        std::find_if(all.begin(), all.end(), [&name](const PipelineSchedule* schedule) {
            return schedule->Facts().name == name;
        });
    if (found == all.end())
    {
        const std::string nearest = Nearest(name, ScheduleNames());
        throw ConfigError("schedule",
                          Quoted(name) + " is not known",
                          AnyOf(ScheduleNames()),
                          nearest.empty() ? "" : "did you mean " + nearest + "?");
    }
    m_schedule = *found;
}

Schedule::Schedule(const PipelineSchedule& schedule)
    : m_schedule(&schedule)
{
}

std::string
ToString(Schedule value)
{
    return value->Facts().name;
}

} // namespace scaleacross
