// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TITAN_PLAN_H
#define SCALEACROSS_TITAN_PLAN_H

#include "cli/plan-formats/framework-ranks.h"
#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/planned-job.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// What differs between versions of TorchTitan.
struct TitanRelease
{
    const char* format;  //!< word of --format
    const char* checked; //!< version, commit and date, for people
    const char* head;    //!< name of the output projection among the modules of a model
    bool python;         //!< configurations are Python, with tokens in place of batches; else TOML
    /// Parameters may be replicated beside other parallelism; else alone only.
    bool replicatesBeside;
    bool expertTensor;   //!< routed experts may be split over tp beside ep
    bool multiToken;     //!< it has multi-token prediction, without pp and cp
    bool cutsSequences;  //!< ranks have two parts of each sequence, without cp too; else tokens
    bool wrapsCompiled;  //!< compiled blocks are modules of another type
    bool overlapsPasses; //!< a forward and a backward pass in one action can overlap
};

/**
 * What TorchTitan makes of a plan: the degrees that it shards and replicates by, its schedule, and
 * where its ranks are.
 *
 * Throws PlanRefused for a plan that this version cannot run, with all reasons.
 */
class TitanPlan
{
  public:
    TitanPlan(const PlannedJob& job, const TitanRelease& release);

    /// Ranks of dp that share parameters. Those of cp always share them too.
    uint32_t Shard() const
    {
        return m_shard;
    }

    /// Instances of what is shared.
    uint32_t Replicate() const
    {
        return m_replicate;
    }

    /// As pipeline_parallel_schedule has it.
    const std::string& Schedule() const
    {
        return m_schedule;
    }

    /// Whether a forward pass and a backward pass are one action of that.
    bool Overlaps() const
    {
        return m_overlaps;
    }

    const FrameworkRanks& Ranks() const
    {
        return m_ranks;
    }

  private:
    void FindSharding();
    void FindSchedule();
    void FindRanks();
    void RefuseReplicas();
    void RefuseLayers();
    void RefuseExperts();
    void RefuseHeads();
    void RefuseSequence();
    bool IsPipeline() const;
    bool MayReplicate() const;

    const PlannedJob& m_job;
    const TitanRelease& m_release;
    const ParallelPlan& m_plan;
    uint32_t m_shard{1};
    uint32_t m_replicate{1};
    std::string m_schedule;
    bool m_overlaps{false};
    FrameworkRanks m_ranks;
    Refusals m_refusals;
};

} // namespace scaleacross

#endif // SCALEACROSS_TITAN_PLAN_H
