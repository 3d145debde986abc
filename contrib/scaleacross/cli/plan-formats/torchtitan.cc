// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/framework-ranks.h"
#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/plan-format.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <fmt/format.h>

namespace scaleacross
{

namespace
{

const char* const g_checked = "TorchTitan v0.2.2 (73a0e6979, 2026-02-20)";

/// What TorchTitan calls an order of torch.distributed.pipelining, and which schedule of ours it
/// is, with rounds as they are without plan.round.
struct TitanSchedule
{
    const char* word;
    const char* ours;
};

constexpr TitanSchedule g_schedules[] = {
    {"1F1B", "1f1b"},
    {"GPipe", "gpipe"},
    {"Interleaved1F1B", "dorapp"},
    {"LoopedBFS", "breadth-first"},
    {"InterleavedZeroBubble", "zb1p"},
    {"ZBVZeroBubble", "zbv"},
    {"DualPipeV", "dualpipev"},
};

/// Writes one plan. The order of its steps is that of the text.
class TitanWriter
{
  public:
    explicit TitanWriter(const PlannedJob& job)
        : m_job(job),
          m_plan(job.plan.parallel),
          m_model(job.Job().model)
    {
    }

    std::string Text()
    {
        FindSharding();
        FindSchedule();
        FindRanks();
        RefuseReplicas();
        RefuseLayers();
        RefuseExperts();
        m_refusals.Throw("torchtitan", "TorchTitan");
        Introduce();
        Training();
        Parallelism();
        Recomputation();
        Compilation();
        RemarkOnGradients();
        m_text.Remarks("What the plan says and no option does, with what is used in its place:",
                       m_job.plan,
                       "plan.");
        Hosts();
        return m_text.Text();
    }

  private:
    bool IsPipeline() const
    {
        return m_plan.pp > 1;
    }

    bool IsDualPipe() const
    {
        return IsPipeline() && m_schedule == std::string("DualPipeV");
    }

    template <class Value>
    void Set(const char* name, const Value& value, const std::string& keys)
    {
        m_text.Setting(fmt::format("{} = {}", name, value), keys);
    }

    void SetWord(const char* name, const char* word, const std::string& keys)
    {
        m_text.Setting(fmt::format("{} = \"{}\"", name, word), keys);
    }

    void Remark(const std::string& key, const std::string& text)
    {
        m_text.Remark(key, m_job.plan, text);
    }

    void Refuse(const std::string& key, const std::string& why)
    {
        m_refusals.Add(m_job.plan, key, why);
    }

    /// Ranks of context parallelism always share; so the degree that TorchTitan shards by is that
    /// of dp alone.
    void FindSharding()
    {
        if (m_job.layout.dense.Size() == 1)
        {
            return;
        }
        if (m_plan.sharding->parameters)
        {
            const uint32_t members = m_job.ShardMembers();
            if (members % m_plan.cp == 0 && (members > 1 || OnlyReplicas()))
            {
                m_shard = members / m_plan.cp;
                m_replicate = m_plan.dp / m_shard;
                return;
            }
            Refuse("plan.shard_ranks", "ranks of cp share in any case, and replicas share");
        }
        else if (m_plan.sharding->optimizer)
        {
            Refuse("plan.sharding", "it has fsdp and hsdp");
        }
        else if (OnlyReplicas())
        {
            m_replicate = m_plan.dp;
        }
        else
        {
            Refuse("plan.sharding", "it replicates with no other parallelism");
        }
    }

    bool OnlyReplicas() const
    {
        return m_plan.tp == 1 && m_plan.cp == 1 && m_plan.pp == 1 && m_plan.ep == 1;
    }

    void FindSchedule()
    {
        for (const TitanSchedule& schedule : g_schedules)
        {
            // Without a pipeline microbatches are steps of gradient accumulation.
            if ((IsPipeline() || schedule.word == std::string("1F1B")) &&
                m_job.RunsAs(schedule.ours, m_plan.chunks, 0))
            {
                m_schedule = schedule.word;
                return;
            }
        }
        std::vector<std::string> words;
        std::transform(std::begin(g_schedules),
                       std::end(g_schedules),
                       std::back_inserter(words),
                       [](const TitanSchedule& schedule) { return schedule.word; });
        Refuse("plan.schedule",
               IsPipeline() ? "it has " + fmt::format("{}", fmt::join(words, ", ")) +
                                  ", with rounds that follow from pp"
                            : "without a pipeline microbatches follow each other");
    }

    void FindRanks()
    {
        const uint32_t members = m_plan.sharding->parameters ? m_job.ShardMembers() : 0;
        if (auto ranks = FrameworkRanksOf(m_job, {FrameworkOrder::PipelineOutermost}, members))
        {
            m_ranks = *ranks;
        }
        else
        {
            Refuse("plan.crossing",
                   "its groups are others (ranks tp-cp-dp-pp, of experts etp-ep-dp)");
        }
    }

    void RefuseReplicas()
    {
        const auto& counts = m_job.microbatches;
        if (std::any_of(counts.begin(), counts.end(), [&](uint32_t m) { return m != counts[0]; }))
        {
            Refuse("plan.apportion", "all replicas have as many microbatches");
        }
    }

    void RefuseLayers()
    {
        for (size_t i = 1; i + 1 < m_job.layers.size(); i++)
        {
            if (m_job.layers[i].count == 0)
            {
                Refuse("plan.layers", "a stage between the others has to have a layer");
                return;
            }
        }
        if (m_model.mtpLayers > 0)
        {
            Refuse("plan.layers", "it has no multi-token prediction (model.mtp_layers)");
        }
    }

    void RefuseExperts()
    {
        const uint32_t etp = m_plan.ExpertTensor();
        if (m_model.IsMoe() && etp != m_plan.tp && (m_plan.ep == 1 || etp > 1))
        {
            Refuse("plan.etp", "experts are split over tp, or with ep over 1");
        }
        if (m_model.IsMoe() &&
            uint64_t{m_plan.tp} * m_plan.cp * m_shard % (uint64_t{etp} * m_plan.ep) != 0)
        {
            Refuse("plan.ep", "ep x etp divides the ranks that share (tp x cp x dp of them)");
        }
    }

    void Introduce()
    {
        m_text.Comment(fmt::format("{}\nof {}: {}\n\n"
                                   "For {}: all names below are in its list of options.\n"
                                   "{}"
                                   "Model, data, optimizer and precision are no part of the plan; "
                                   "their options go beside it. NCCL's variables are in --format "
                                   "nccl.",
                                   Label(m_job.plan),
                                   m_job.study.name,
                                   m_job.source,
                                   g_checked,
                                   m_ranks.LaunchText("-m torchtitan.train --job.config_file "
                                                      "THIS_FILE")));
    }

    void Begin(const char* table)
    {
        m_text.Blank();
        m_text.Plain(fmt::format("[{}]", table));
    }

    void Training()
    {
        const WorkloadSpec& workload = m_job.Job().workload;
        Begin("training");
        Set("seq_len", workload.sequence, "workload.sequence");
        Set("global_batch_size", workload.globalBatch, "workload.global_batch");
        // A pipeline cuts what a rank gets into microbatches; without one gradients add up over
        // batches of that size.
        const uint32_t local = m_plan.microbatch * (IsPipeline() ? m_job.microbatches.front() : 1);
        Set("local_batch_size", local, "plan.microbatch");
    }

    void Parallelism()
    {
        Begin("parallelism");
        const std::string shared = "plan.dp plan.sharding plan.shard_ranks";
        Set("data_parallel_replicate_degree", m_replicate, shared);
        Set("data_parallel_shard_degree", m_shard, shared);
        if (m_shard * m_plan.cp > 1)
        {
            SetWord("fsdp_reshard_after_forward",
                    m_plan.Reshards() ? "always" : "never",
                    "plan.reshard");
        }
        if (m_plan.bucket.Count() == 0)
        {
            m_text.Note("a layer is gathered and reduced at a time", "plan.bucket");
        }
        if (m_job.Job().workload.gradientBytes < 4)
        {
            m_text.Note("gradients are reduced in FP32 only, twice the bytes",
                        "workload.gradients");
        }
        Set("tensor_parallel_degree", m_plan.tp, "plan.tp");
        Set("context_parallel_degree", m_plan.cp, "plan.cp");
        if (m_plan.cp > 1)
        {
            SetWord("context_parallel_rotate_method", "allgather", "keys and values are gathered");
        }
        if (m_plan.asyncTensor && m_plan.tp > 1)
        {
            Set("enable_async_tensor_parallel", true, "plan.async_tp");
        }
        Experts();
        Set("pipeline_parallel_degree", m_plan.pp, "plan.pp");
        if (IsPipeline())
        {
            Pipeline();
            return;
        }
        m_text.Note("all layers are in one stage",
                    "plan.layers plan.apportion plan.embedding_as_layer plan.loss_as_layer "
                    "plan.schedule plan.round");
    }

    void Experts()
    {
        if (!m_model.IsMoe() || m_plan.ep == 1)
        {
            return;
        }
        Set("expert_parallel_degree", m_plan.ep, "plan.ep");
        Set("expert_tensor_parallel_degree", m_plan.ExpertTensor(), "plan.etp");
        const bool kernels = m_job.plan.network.allToAll->kernel != TokenKernel::None;
        const bool whole = m_plan.ExpertTensor() == 1;
        SetWord("expert_parallel_comm_backend",
                kernels && whole ? "deepep" : "standard",
                "network.all_to_all");
        if (kernels && !whole)
        {
            Remark("network.all_to_all", "PyTorch's, since DeepEP sends to whole experts only");
        }
    }

    void Pipeline()
    {
        SetWord("pipeline_parallel_schedule", m_schedule, "plan.schedule plan.round plan.chunks");
        Set("pipeline_parallel_microbatch_size", m_plan.microbatch, "plan.microbatch");
        if (IsDualPipe() && m_plan.ep > 1)
        {
            // It recomputes nothing where it overlaps.
            Set("pipeline_parallel_expert_parallel_overlap",
                m_plan.recompute == Recompute(),
                "plan.schedule plan.recompute");
        }
        m_text.Setting("module_fqns_per_model_part = [",
                       "plan.layers plan.apportion plan.embedding_as_layer plan.loss_as_layer");
        for (const StageLayers& stage : m_job.layers)
        {
            m_text.Plain("    [" + ModulesOf(stage) + "],");
        }
        m_text.Plain("]");
    }

    static std::string ModulesOf(const StageLayers& stage)
    {
        std::vector<std::string> names;
        if (stage.embedding)
        {
            names.emplace_back("\"tok_embeddings\"");
        }
        for (uint32_t i = 0; i < stage.count; i++)
        {
            names.push_back(fmt::format("\"layers.{}\"", stage.first + i));
        }
        if (stage.head)
        {
            names.emplace_back("\"norm\"");
            names.emplace_back("\"output\"");
        }
        return fmt::format("{}", fmt::join(names, ", "));
    }

    void Recomputation()
    {
        Begin("activation_checkpoint");
        const RecomputedParts& parts = *m_plan.recompute;
        const std::string keys = "plan.recompute";
        if (parts == RecomputedParts() && m_plan.offloadLayers == 0)
        {
            SetWord("mode", "none", keys);
            return;
        }
        // Which keeps every second linear layer's output, and nothing that is element-wise.
        const bool byOperation = !parts.layers && !parts.denseMlp && !parts.experts &&
                                 !parts.upProjections && !parts.sharedExperts &&
                                 m_plan.offloadLayers == 0;
        SetWord("mode", byOperation ? "selective" : "full", keys);
        if (byOperation)
        {
            SetWord("selective_ac_option", "op", keys);
        }
        if (m_plan.offloadLayers > 0)
        {
            Remark("plan.offload_layers",
                   "layers are computed again in place of waiting in host memory");
        }
        else if (byOperation && !parts.linears)
        {
            Remark("plan.recompute",
                   "every second linear layer is computed again as well, which keeps less");
        }
        else if (!byOperation && m_plan.recompute != Recompute("full"))
        {
            Remark("plan.recompute", "whole layers are computed again, which keeps less");
        }
        if (m_plan.recomputeLayers > 0)
        {
            Remark("plan.recompute_layers", "all layers are computed again, which keeps less");
        }
    }

    void Compilation()
    {
        if (m_plan.asyncTensor && m_plan.tp > 1)
        {
            Begin("compile");
            Set("enable", true, "plan.async_tp");
            m_text.Setting("components = [\"model\"]", "plan.async_tp");
        }
    }

    /// TorchTitan leaves gradients whole until the last microbatch of a pipeline, and reduces them
    /// for every step of gradient accumulation without one.
    void RemarkOnGradients()
    {
        const bool each = m_plan.ReductionOf()->everyMicrobatch;
        const bool several = m_job.microbatches.front() > 1;
        if (IsPipeline() && each && several)
        {
            Remark("plan.reduce",
                   "gradients add up whole and are reduced once: less traffic, more memory");
        }
        else if (!IsPipeline() && !each && several)
        {
            Remark("plan.reduce", "gradients are reduced for every microbatch: more traffic");
        }
        if (!IsPipeline() && several && m_shard * m_plan.cp > 1 && !m_plan.Reshards())
        {
            Remark("plan.reshard", "parameters are gathered for every microbatch: more traffic");
        }
        if (IsDualPipe() && (m_plan.ep == 1 || m_plan.recompute != Recompute()))
        {
            Remark("plan.schedule",
                   "forward and backward overlap with expert parallelism and without recomputation "
                   "only; here one follows the other");
        }
        if (m_plan.bucket.Count() > 0)
        {
            Remark("plan.bucket", "a layer is gathered and reduced at a time");
        }
        if (m_plan.Reshards())
        {
            Remark("plan.prefetch", "the next layer is gathered ahead");
        }
        if (m_plan.asyncTensor && m_plan.tp == 1)
        {
            Remark("plan.async_tp", "without effect at tp 1");
        }
    }

    void Hosts()
    {
        m_text.Blank();
        m_text.Comment(m_ranks.PlacesText(m_job.Cluster()));
    }

    const PlannedJob& m_job;
    const ParallelPlan& m_plan;
    const ModelSpec& m_model;
    uint32_t m_shard{1};
    uint32_t m_replicate{1};
    const char* m_schedule{""};
    FrameworkRanks m_ranks;
    OptionText m_text;
    Refusals m_refusals;
};

} // namespace

const PlanFormat&
TorchTitanFormat()
{
    static const PlanFormat format = {
        "torchtitan",
        "TOML of TorchTitan",
        [](const PlannedJob& job) { return TitanWriter(job).Text(); }};
    return format;
}

} // namespace scaleacross
