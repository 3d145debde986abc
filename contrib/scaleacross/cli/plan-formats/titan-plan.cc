// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/titan-plan.h"

#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace scaleacross
{

namespace
{

/// What TorchTitan calls an order of torch.distributed.pipelining, which schedule of ours it is,
/// with rounds as they are without plan.round, and what it asks for (schedules.py of PyTorch).
struct TitanSchedule
{
    const char* word;
    const char* ours;
    bool loops;    //!< it asks for two virtual stages or more in each rank
    bool fills;    //!< it asks for a microbatch or more for each rank
    bool splits;   //!< it splits backward passes, which compiled modules do not allow
    bool overlaps; //!< a forward pass and a backward pass are one action of it
};

constexpr TitanSchedule g_schedules[] = {
    {"1F1B", "1f1b", false, true, false, false},
    {"GPipe", "gpipe", false, false, false, false},
    {"Interleaved1F1B", "dorapp", true, false, false, false},
    {"LoopedBFS", "breadth-first", true, false, false, false},
    {"InterleavedZeroBubble", "zb1p", true, false, true, false},
    {"ZBVZeroBubble", "zbv", true, false, true, false},
    {"DualPipeV", "dualpipev", true, false, true, true},
};

/// Why a plan cannot run by a schedule although the order is the plan's, and what to do.
struct ScheduleRefusal
{
    std::string why;
    std::string remedy;
};

} // namespace

TitanPlan::TitanPlan(const PlannedJob& job, const TitanRelease& release)
    : m_job(job),
      m_release(release),
      m_plan(job.plan.parallel)
{
    FindSharding();
    FindSchedule();
    FindRanks();
    RefuseReplicas();
    RefuseLayers();
    RefuseExperts();
    RefuseHeads();
    RefuseSequence();
    m_refusals.Throw(release.format, "TorchTitan");
}

bool
TitanPlan::IsPipeline() const
{
    return m_plan.pp > 1;
}

bool
TitanPlan::MayReplicate() const
{
    return m_plan.cp == 1 &&
           (m_release.replicatesBeside || (m_plan.tp == 1 && m_plan.pp == 1 && m_plan.ep == 1));
}

/// Ranks of context parallelism always share; so the degree that TorchTitan shards by is that of dp
/// alone.
void
TitanPlan::FindSharding()
{
    if (m_job.layout.dense.Size() == 1)
    {
        return;
    }
    if (m_plan.sharding->parameters)
    {
        const uint32_t members = m_job.ShardMembers();
        if (members % m_plan.cp == 0 && (members > 1 || MayReplicate()))
        {
            m_shard = members / m_plan.cp;
            m_replicate = m_plan.dp / m_shard;
            return;
        }
        m_refusals.Add(m_job.plan,
                       "plan.shard_ranks",
                       "ranks of cp share in any case, and replicas share");
    }
    else if (m_plan.sharding->optimizer)
    {
        m_refusals.Add(m_job.plan, "plan.sharding", "it has fsdp and hsdp");
    }
    else if (MayReplicate())
    {
        m_replicate = m_plan.dp;
    }
    else
    {
        m_refusals.Add(m_job.plan,
                       "plan.sharding",
                       m_release.replicatesBeside ? "ranks of cp share parameters"
                                                  : "it replicates with no other parallelism");
    }
}

void
TitanPlan::FindSchedule()
{
    const uint32_t microbatches = m_job.shape.microbatches;
    const auto whyNot = [&](const TitanSchedule& schedule) -> ScheduleRefusal {
        if (schedule.loops && m_plan.chunks < 2)
        {
            return {fmt::format("{} has two virtual stages or more in each rank", schedule.word),
                    "say plan.chunks 2 or more"};
        }
        if (schedule.fills && microbatches < m_plan.pp)
        {
            return {
                fmt::format("{} has as many microbatches as stages at least, and here {} for {}",
                            schedule.word,
                            microbatches,
                            m_plan.pp),
                fmt::format("say plan.schedule gpipe, which has no such bound, or a "
                            "workload.global_batch of {} x dp x plan.microbatch or more",
                            m_plan.pp)};
        }
        if (schedule.splits && m_release.wrapsCompiled && m_plan.asyncTensor && m_plan.tp > 1)
        {
            return {fmt::format("{} goes without torch.compile, which plan.async_tp asks for",
                                schedule.word),
                    "say plan.async_tp false"};
        }
        return {};
    };
    ScheduleRefusal refusal;
    std::vector<std::string> words;
    for (const TitanSchedule& schedule : g_schedules)
    {
        words.emplace_back(schedule.word);
        // Without a pipeline microbatches are steps of gradient accumulation.
        const bool isOne = IsPipeline() || &schedule == std::begin(g_schedules);
        if (!isOne || !m_job.RunsAs(schedule.ours, m_plan.chunks, 0))
        {
            continue;
        }
        const ScheduleRefusal no = IsPipeline() ? whyNot(schedule) : ScheduleRefusal();
        if (no.why.empty())
        {
            m_schedule = schedule.word;
            m_overlaps = IsPipeline() && schedule.overlaps;
            return;
        }
        refusal = refusal.why.empty() ? no : refusal;
    }
    if (refusal.why.empty())
    {
        refusal.why = IsPipeline() ? fmt::format("it has {}, with rounds that follow from pp",
                                                 fmt::join(words, ", "))
                                   : "without a pipeline microbatches follow each other";
    }
    m_refusals.Add(m_job.plan, "plan.schedule", refusal.why, refusal.remedy);
}

void
TitanPlan::FindRanks()
{
    const uint32_t members = m_plan.sharding->parameters ? m_job.ShardMembers() : 0;
    if (auto ranks = FrameworkRanksOf(m_job, {FrameworkOrder::PipelineOutermost}, members))
    {
        m_ranks = *ranks;
    }
    else
    {
        m_refusals.Add(m_job.plan,
                       "plan.crossing",
                       "its groups are others (ranks tp-cp-dp-pp, of experts etp-ep-dp)");
    }
}

void
TitanPlan::RefuseReplicas()
{
    const auto& counts = m_job.microbatches;
    if (std::any_of(counts.begin(), counts.end(), [&](uint32_t m) { return m != counts[0]; }))
    {
        m_refusals.Add(m_job.plan, "plan.apportion", "all replicas have as many microbatches");
    }
}

void
TitanPlan::RefuseLayers()
{
    for (size_t i = 1; i + 1 < m_job.layers.size(); i++)
    {
        if (m_job.layers[i].count == 0)
        {
            m_refusals.Add(m_job.plan,
                           "plan.layers",
                           "a stage between the others has to have a layer");
            return;
        }
    }
    if (m_job.Job().model.mtpLayers == 0)
    {
        return;
    }
    if (!m_release.multiToken)
    {
        m_refusals.Add(m_job.plan,
                       "plan.layers",
                       "it has no multi-token prediction (model.mtp_layers)");
    }
    else if (IsPipeline() || m_plan.cp > 1)
    {
        m_refusals.Add(m_job.plan,
                       IsPipeline() ? "plan.pp" : "plan.cp",
                       "it has multi-token prediction (model.mtp_layers) without pp and cp only");
    }
}

void
TitanPlan::RefuseExperts()
{
    if (!m_job.Job().model.IsMoe())
    {
        return;
    }
    const uint32_t etp = m_plan.ExpertTensor();
    const bool isSplit = etp != m_plan.tp && (m_plan.ep == 1 || etp > 1);
    if (m_release.expertTensor && isSplit)
    {
        m_refusals.Add(m_job.plan, "plan.etp", "experts are split over tp, or with ep over 1");
    }
    else if (!m_release.expertTensor && etp != (m_plan.ep == 1 ? m_plan.tp : 1))
    {
        m_refusals.Add(m_job.plan,
                       "plan.etp",
                       "experts are split over tp without ep, and over 1 with it");
    }
    if (uint64_t{m_plan.tp} * m_plan.cp * m_shard % (uint64_t{etp} * m_plan.ep) != 0)
    {
        m_refusals.Add(m_job.plan,
                       "plan.ep",
                       "ep x etp divides the ranks that share (tp x cp x dp of them)");
    }
}

/// A rank of tp has whole heads of keys and values. Latent attention has one for every query head.
void
TitanPlan::RefuseHeads()
{
    const ModelSpec& model = m_job.Job().model;
    if (!model.IsLatent() && model.kvHeads % m_plan.tp != 0)
    {
        m_refusals.Add(m_job.plan,
                       "plan.tp",
                       fmt::format("it divides the heads of keys and values (model.kv_heads {})",
                                   model.kvHeads),
                       fmt::format("say a plan.tp that divides {}", model.kvHeads));
    }
}

/// v0.2.2 asserts that 2 x tp x cp divides the sequence, without cp too. Later the tokens of a
/// microbatch are one dimension, of which every rank of tp has an equal part, and every rank of cp
/// two.
void
TitanPlan::RefuseSequence()
{
    const uint64_t sequence = m_job.Job().workload.sequence;
    const bool halves = m_release.cutsSequences || m_plan.cp > 1;
    const uint64_t parts = uint64_t{halves ? 2U : 1U} * m_plan.tp * m_plan.cp;
    const uint64_t cut = m_release.cutsSequences ? sequence : sequence * m_plan.microbatch;
    if (cut % parts != 0)
    {
        m_refusals.Add(fmt::format("workload.sequence {}", sequence),
                       fmt::format("{} is divided by {}tp x cp, here {}",
                                   m_release.cutsSequences ? "it" : "it times plan.microbatch",
                                   halves ? "2 x " : "",
                                   parts),
                       fmt::format("say a sequence that is a multiple of {}", parts));
    }
}

} // namespace scaleacross
