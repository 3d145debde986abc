// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCENARIO_H
#define SCALEACROSS_SCENARIO_H

#include "core/spec/cluster-spec.h"
#include "core/spec/collective-spec.h"
#include "core/spec/event-spec.h"
#include "core/spec/model-spec.h"
#include "core/spec/network-plan.h"
#include "core/spec/parallel-plan.h"
#include "core/spec/trace-spec.h"
#include "core/spec/workload-spec.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// One training job and how it is laid out.
struct JobSpec
{
    std::string name{"job"};
    ModelSpec model;
    WorkloadSpec workload;
    ParallelPlan plan;
    /// Done over and over in place of training; model, workload and plan mean nothing then.
    std::optional<CollectiveSpec> collective;
    /// Replayed in place of training; model and workload mean nothing then, and plan is the one
    /// that the trace was made from, where it says one.
    std::optional<TraceSpec> trace;

    /// Whether model, workload and plan say what is done.
    bool Trains() const
    {
        return !collective && !trace;
    }
};

/**
 * All of what is simulated, as one value.
 *
 * Several jobs are part of the schema, but the engines run exactly one so far: Validate() refuses
 * the others by name.
 */
struct Scenario
{
    std::vector<JobSpec> jobs;
    ClusterSpec cluster;
    NetworkPlan network;
    std::vector<EventSpec> events;

    const JobSpec& Job() const
    {
        return jobs.front();
    }

    JobSpec& Job()
    {
        return jobs.front();
    }

    /// Validates every part, then what only holds between them. Throws ConfigError. Whether the
    /// plan fits the cluster is not checked here: that is a result (Infeasible), not bad input.
    /// Nor is whether the targets of events exist (CheckEventTargets in core/topology).
    void Validate() const;

    /// What Validate throws if plan or network do not go with themselves or with the cluster.
    std::optional<ConfigError> FindConflict() const;

  private:
    /// Whether every GPU has the GEMMs that the workload asks for.
    void CheckPrecision() const;
    std::optional<ConfigError> FindConflictOfOffload() const;
};

} // namespace scaleacross

#endif // SCALEACROSS_SCENARIO_H
