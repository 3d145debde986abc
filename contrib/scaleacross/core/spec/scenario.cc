// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/scenario.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/spec/plan-fields.h"

namespace scaleacross
{

void
Scenario::Validate() const
{
    if (jobs.empty())
    {
        throw ConfigError("jobs", "there is no job", "one job", "give model and workload");
    }
    if (jobs.size() > 1)
    {
        throw ConfigError("jobs",
                          std::to_string(jobs.size()) + " jobs: several jobs on one cluster are "
                                                        "part of the schema but no engine runs "
                                                        "them yet",
                          "one job",
                          "keep one job of the list");
    }
    if (!events.empty())
    {
        throw ConfigError("events",
                          Quoted(events.front().kind) + ": events are part of the schema but no "
                                                        "engine runs them yet",
                          "an empty list",
                          "remove the events");
    }
    Job().model.Validate();
    Job().workload.Validate();
    ValidatePlanFields(Plan{Job().plan, network}, "plan.");
    cluster.Validate();
    network.Validate();
}

} // namespace scaleacross
