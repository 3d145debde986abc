// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLANNED_JOB_H
#define SCALEACROSS_PLANNED_JOB_H

#include "core/pipeline/pipeline-shape.h"
#include "core/spec/plan-fields.h"
#include "core/spec/study.h"
#include "core/topology/rank-layout.h"
#include "core/work/partition/layer-split.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// A job with the plan that its study fixes, and what follows from it.
struct PlannedJob
{
    Study study;
    std::string source; //!< for people: "small.db, plan 1"
    Plan plan;
    RankLayout layout;
    std::vector<StageLayers> layers;    //!< by position of the pipeline
    std::vector<uint32_t> microbatches; //!< of a replica, by building
    PipelineShape shape;

    const JobSpec& Job() const
    {
        return study.scenario.Job();
    }

    const ClusterSpec& Cluster() const
    {
        return study.scenario.cluster;
    }

    /// Members of a data-parallel group (cp x dp) that share what is sharded. Domain: something is.
    uint32_t ShardMembers() const;

    /// Whether a schedule, with so many chunks and rounds, makes every rank do what the plan's
    /// does, in the same order. False too where that schedule has no order for the shape.
    bool RunsAs(const Schedule& schedule, uint32_t chunks, uint32_t round) const;
};

/// Throws ConfigError (where = the source) for a plan that cannot run, with the reason.
PlannedJob PlannedJobOf(Study study, const std::string& source);

} // namespace scaleacross

#endif // SCALEACROSS_PLANNED_JOB_H
