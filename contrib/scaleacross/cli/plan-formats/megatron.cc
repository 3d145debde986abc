// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/framework-ranks.h"
#include "cli/plan-formats/megatron-words.h"
#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/plan-format.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <fmt/core.h>

namespace scaleacross
{

namespace
{

const char* const g_checked = "Megatron-LM core_v0.19.0 (5be962670, 2026-08-19)";

/// How Megatron shares what data-parallel ranks have; every one shards more than that before it.
enum class MegatronSharding : uint8_t
{
    None,
    Optimizer,
    Gradients, //!< by Megatron-FSDP, as all after it
    Parameters
};

const char* const g_layerKeys =
    "plan.layers plan.apportion plan.embedding_as_layer plan.loss_as_layer plan.chunks";

/// Writes one plan. The order of its steps is that of the text.
class MegatronWriter
{
  public:
    explicit MegatronWriter(const PlannedJob& job)
        : m_job(job),
          m_plan(job.plan.parallel),
          m_model(job.Job().model)
    {
    }

    std::string Text()
    {
        m_sharding = ShardingOf();
        FindRanks();
        FindRefusals();
        m_refusals.Throw("megatron", "Megatron-LM");
        Introduce();
        Environment();
        m_text.Plain("PLAN=(");
        Degrees();
        Pipeline();
        Batch();
        Sharding();
        Gradients();
        Recomputation();
        Overlap();
        m_text.Plain(")");
        RemarkOnGradients();
        m_text.Remarks("What the plan says and no option does, with what is used in its place:",
                       m_job.plan,
                       "plan.");
        Hosts();
        return m_text.Text();
    }

  private:
    bool IsMoe() const
    {
        return m_model.IsMoe();
    }

    bool UsesFsdp() const
    {
        return m_sharding >= MegatronSharding::Gradients;
    }

    /// Megatron refuses experts with tp and without it.
    bool IsSequenceParallel() const
    {
        return m_plan.tp > 1 && (m_job.Job().workload.stack.sequenceParallel || IsMoe());
    }

    bool OverlapsExperts() const
    {
        return m_job.shape.schedule == Schedule("1f1b-overlapped");
    }

    uint32_t Round() const
    {
        return m_job.shape.round != 0 ? m_job.shape.round : DefaultRound();
    }

    uint32_t DefaultRound() const
    {
        const uint32_t m = m_job.shape.microbatches;
        return m / std::max(1U, m / m_plan.pp);
    }

    void Option(const std::string& text, const std::string& keys)
    {
        m_text.Setting("    " + text, keys);
    }

    template <class Value>
    void Option(const char* name, const Value& value, const std::string& keys)
    {
        Option(fmt::format("{} {}", name, value), keys);
    }

    void Note(const char* text, const std::string& keys)
    {
        m_text.Note(text, keys, "    ");
    }

    void Remark(const std::string& key, const std::string& text)
    {
        m_text.Remark(key, m_job.plan, text);
    }

    void Refuse(const std::string& key, const std::string& why)
    {
        m_refusals.Add(m_job.plan, key, why);
    }

    /// With parameters that are gathered once an iteration a rank holds what it holds under ZeRO-1,
    /// or ZeRO-2 where gradients are reduced for every microbatch; and sends the same.
    MegatronSharding ShardingOf() const
    {
        const ShardingFacts& facts = *m_plan.sharding;
        if (!facts.optimizer)
        {
            return MegatronSharding::None;
        }
        if (m_plan.Reshards())
        {
            return MegatronSharding::Parameters;
        }
        return facts.gradients && m_plan.ReductionOf()->everyMicrobatch
                   ? MegatronSharding::Gradients
                   : MegatronSharding::Optimizer;
    }

    void FindRanks()
    {
        std::vector<FrameworkOrder> orders = {FrameworkOrder::PipelineOutermost};
        // Megatron wants experts and the rest to have equal data parallelism with the other order.
        if (!IsMoe() || m_plan.pp == 1 ||
            uint64_t{m_plan.ExpertTensor()} * m_plan.ep == uint64_t{m_plan.tp} * m_plan.cp)
        {
            orders.push_back(FrameworkOrder::DataOutermost);
        }
        const auto ranks =
            FrameworkRanksOf(m_job,
                             orders,
                             m_sharding == MegatronSharding::None ? 0 : m_job.ShardMembers());
        if (ranks)
        {
            m_ranks = *ranks;
        }
        else
        {
            Refuse(
                "plan.crossing",
                "its groups are others (ranks tp-cp-dp-pp or tp-cp-pp-dp, of experts etp-ep-dp)");
        }
    }

    void FindRefusals()
    {
        RefuseSchedule();
        const auto& counts = m_job.microbatches;
        if (std::any_of(counts.begin(), counts.end(), [&](uint32_t m) { return m != counts[0]; }))
        {
            Refuse("plan.apportion", "all replicas have as many microbatches");
        }
    }

    void RefuseSchedule()
    {
        const bool interleaves = m_plan.chunks > 1;
        if (interleaves && m_plan.pp == 1)
        {
            Refuse("plan.chunks", "virtual stages need pipeline stages");
        }
        else if (OverlapsExperts())
        {
            RefuseOverlap();
        }
        else if (!m_job.RunsAs(interleaves ? "dorapp" : "1f1b",
                               m_plan.chunks,
                               interleaves ? m_job.shape.round : 0))
        {
            Refuse("plan.schedule", "it has 1F1B, and interleaved 1F1B in rounds");
        }
        if (interleaves && m_job.shape.microbatches < m_plan.pp)
        {
            Refuse("plan.schedule",
                   fmt::format("with virtual stages it has as many microbatches as stages at "
                               "least, and here {} for {}",
                               m_job.shape.microbatches,
                               m_plan.pp));
        }
    }

    void RefuseOverlap()
    {
        if (m_model.mtpLayers > 1)
        {
            Refuse("plan.schedule", "forward and backward overlap with one MTP layer at most");
        }
        if (m_plan.ep == 1)
        {
            Refuse("plan.schedule", "forward and backward overlap with expert parallelism only");
        }
        if (m_plan.pp > 1 && m_plan.chunks == 1)
        {
            Refuse("plan.schedule",
                   "forward and backward overlap with virtual stages (plan.chunks) only");
        }
        if (m_plan.recompute->layers || m_plan.recompute->linears || m_plan.recompute->experts)
        {
            Refuse("plan.recompute", "overlapped experts go without recomputing layers or experts");
        }
    }

    void Introduce()
    {
        m_text.Comment(fmt::format("{}\nof {}: {}\n\n"
                                   "For {}: all names below are in its list of options.\n"
                                   "Source this file in bash. "
                                   "{}"
                                   "Model, data, optimizer and precision are no part of the plan; "
                                   "their options go beside it. NCCL's variables are in --format "
                                   "nccl.",
                                   Label(m_job.plan),
                                   m_job.study.name,
                                   m_job.source,
                                   g_checked,
                                   m_ranks.LaunchText("pretrain_gpt.py \"${PLAN[@]}\"")));
        m_text.Blank();
    }

    void Environment()
    {
        if (UsesFsdp())
        {
            m_text.Setting("unset CUDA_DEVICE_MAX_CONNECTIONS", "Megatron-FSDP refuses 1");
        }
        else if ((m_plan.tp > 1 || m_plan.cp > 1) && !OverlapsExperts())
        {
            m_text.Setting("export CUDA_DEVICE_MAX_CONNECTIONS=1",
                           "with tp or cp, before Blackwell; else any");
        }
    }

    void Degrees()
    {
        Option("--tensor-model-parallel-size", m_plan.tp, "plan.tp");
        if (IsSequenceParallel())
        {
            Option("--sequence-parallel",
                   m_job.Job().workload.stack.sequenceParallel ? "workload.stack"
                                                               : "experts with tp ask for it");
        }
        Option("--context-parallel-size", m_plan.cp, "plan.cp");
        if (m_plan.cp > 1)
        {
            Option("--cp-comm-type all_gather", "keys and values are gathered");
        }
        Option("--pipeline-model-parallel-size", m_plan.pp, "plan.pp");
        if (IsMoe())
        {
            Option("--num-experts", m_model.experts, "model");
            Option("--expert-model-parallel-size", m_plan.ep, "plan.ep");
            Option("--expert-tensor-parallel-size", m_plan.ExpertTensor(), "plan.etp");
            const bool kernels = m_job.plan.network.allToAll->kernel != TokenKernel::None &&
                                 m_plan.ExpertTensor() * m_plan.ep > 1;
            Option(fmt::format("--moe-token-dispatcher-type {}", kernels ? "flex" : "alltoall"),
                   "network.all_to_all");
            if (kernels)
            {
                Option("--moe-flex-dispatcher-backend deepep", "network.all_to_all");
            }
        }
        if (m_ranks.order == FrameworkOrder::DataOutermost)
        {
            Option("--use-tp-pp-dp-mapping", "plan.crossing");
        }
        Remark("plan.dp", "follows from the number of processes and the degrees above");
    }

    void Pipeline()
    {
        Option("--num-layers", m_model.layers, "model");
        if (m_model.mtpLayers > 0)
        {
            Option("--mtp-num-layers", m_model.mtpLayers, "model");
        }
        if (m_plan.pp > 1)
        {
            Layers();
        }
        else
        {
            Note("all layers are in one stage", g_layerKeys);
        }
        if (m_plan.chunks > 1 && Round() != m_plan.pp)
        {
            Option("--microbatch-group-size-per-virtual-pipeline-stage",
                   Round(),
                   "plan.round plan.schedule");
        }
        if (OverlapsExperts())
        {
            Option("--overlap-moe-expert-parallel-comm", "plan.schedule");
        }
        else
        {
            Note(m_plan.pp == 1       ? "no pipeline"
                 : m_plan.chunks == 1 ? "1F1B, which is what there is without virtual stages"
                                      : "interleaved 1F1B",
                 "plan.schedule plan.round");
        }
    }

    void Layers()
    {
        const auto options = MegatronLayerOptions(m_job);
        for (const std::string& option : options)
        {
            Option(option, g_layerKeys);
        }
        if (options.empty())
        {
            Note("equally many layers in all stages", g_layerKeys);
        }
    }

    void Batch()
    {
        const WorkloadSpec& workload = m_job.Job().workload;
        Option("--seq-length", workload.sequence, "workload.sequence");
        Option("--micro-batch-size", m_plan.microbatch, "plan.microbatch");
        Option("--global-batch-size", workload.globalBatch, "workload.global_batch");
    }

    void Sharding()
    {
        const std::string keys = "plan.sharding plan.reshard plan.reduce plan.shard_ranks";
        switch (m_sharding)
        {
        case MegatronSharding::None:
            Note("replicas have everything whole", keys);
            break;
        case MegatronSharding::Optimizer:
            Option("--use-distributed-optimizer", keys);
            break;
        case MegatronSharding::Gradients:
        case MegatronSharding::Parameters:
            Option("--use-megatron-fsdp", keys);
            Option(fmt::format("--data-parallel-sharding-strategy {}",
                               m_sharding == MegatronSharding::Gradients ? "optim_grads"
                                                                         : "optim_grads_params"),
                   keys);
            Option("--ckpt-format fsdp_dtensor", "Megatron-FSDP has no other");
            break;
        }
        if (m_sharding != MegatronSharding::None)
        {
            const uint32_t instances = m_job.layout.dense.Size() / m_job.ShardMembers();
            if (instances > 1)
            {
                Option("--num-distributed-optimizer-instances",
                       instances,
                       "plan.sharding plan.shard_ranks");
            }
        }
    }

    /// Megatron-FSDP has options of its own in place of --grad-reduce-in-bf16, and without them
    /// takes the model's type, which is no part of the plan.
    void Gradients()
    {
        const bool bf16 = m_job.Job().workload.gradientBytes < 4;
        if (UsesFsdp())
        {
            const char* const format = bf16 ? "bf16" : "fp32";
            Option("--megatron-fsdp-grad-comm-dtype", format, "workload.gradients");
            Option("--megatron-fsdp-main-grads-dtype", format, "workload.gradients");
        }
        else if (bf16)
        {
            Option("--grad-reduce-in-bf16", "workload.gradients");
        }
    }

    void Recomputation()
    {
        const RecomputedParts& parts = *m_plan.recompute;
        if (parts.layers || parts.linears)
        {
            Option("--recompute-granularity full", "plan.recompute");
            if (m_plan.recomputeLayers > 0)
            {
                Option("--recompute-method block", "plan.recompute_layers");
                Option("--recompute-num-layers", m_plan.recomputeLayers, "plan.recompute_layers");
            }
            else
            {
                Option("--recompute-method uniform", "plan.recompute");
                Option("--recompute-num-layers 1", "plan.recompute");
            }
            if (parts.linears || parts.keepsProjections)
            {
                Remark("plan.recompute", "whole layers are computed again, which keeps less");
            }
        }
        else
        {
            RecomputedModules(parts);
        }
        if (m_plan.offloadLayers > 0)
        {
            Option("--cpu-offloading-num-layers", m_plan.offloadLayers, "plan.offload_layers");
        }
    }

    void RecomputedModules(const RecomputedParts& parts)
    {
        const std::string words = MegatronModules(m_model, parts);
        if (!words.empty())
        {
            Option("--recompute-granularity selective", "plan.recompute");
            Option("--recompute-modules" + words, "plan.recompute");
            if (IsMoe() && parts.activations)
            {
                Option("--moe-grouped-gemm", "moe_act asks for it");
            }
        }
        if (parts.activations && m_model.MoeLayers() < m_model.layers)
        {
            Remark("plan.recompute",
                   "dense layers keep the outputs of their activation functions, which takes more "
                   "memory than the plan counts with");
        }
        else if (words.empty() && m_plan.recompute != Recompute())
        {
            Remark("plan.recompute", "the model has no such module");
        }
    }

    void Overlap()
    {
        Option("--overlap-grad-reduce", "reductions beside computing");
        if (m_sharding != MegatronSharding::None)
        {
            Option("--overlap-param-gather", "gathers beside computing");
        }
        if (m_plan.asyncTensor && IsSequenceParallel())
        {
            Option("--tp-comm-overlap", "plan.async_tp");
        }
        if (m_job.plan.network.collective->library && m_job.plan.network.ncclCollnet)
        {
            // It deletes NCCL_COLLNET_ENABLE, which NCCL's variables have, when it starts.
            Option("--use-sharp", "network.nccl_collnet");
        }
        if (m_plan.bucket.Count() > 0 && !UsesFsdp())
        {
            // Megatron counts parameters.
            Option("--ddp-bucket-size",
                   m_plan.bucket.Count() / m_job.Job().workload.gradientBytes,
                   "plan.bucket");
        }
    }

    void RemarkOnGradients()
    {
        const bool each = m_plan.ReductionOf()->everyMicrobatch;
        if (UsesFsdp() && !each)
        {
            Remark("plan.reduce", "Megatron-FSDP reduces for every microbatch: more traffic");
        }
        else if (!UsesFsdp() && each)
        {
            Remark("plan.reduce",
                   "gradients add up whole and are reduced once: less traffic, more memory");
        }
        if (m_plan.bucket.Count() == 0)
        {
            Remark("plan.bucket", "Megatron's own buckets, which may hold several layers");
        }
        else if (UsesFsdp())
        {
            Remark("plan.bucket", "units of Megatron-FSDP are layers");
        }
        if (UsesFsdp())
        {
            Remark("plan.prefetch", "Megatron-FSDP fetches ahead by its own rule");
        }
        if (m_plan.asyncTensor && m_plan.tp == 1)
        {
            Remark("plan.async_tp", "without effect at tp 1");
        }
        else if (m_plan.asyncTensor && !IsSequenceParallel())
        {
            Remark("plan.async_tp",
                   "without overlap, since --tp-comm-overlap needs sequence parallelism, which the "
                   "stack has not");
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
    MegatronSharding m_sharding{MegatronSharding::None};
    FrameworkRanks m_ranks;
    OptionText m_text;
    Refusals m_refusals;
};

} // namespace

const PlanFormat&
MegatronFormat()
{
    static const PlanFormat format = {
        "megatron",
        "bash arguments of Megatron-LM",
        [](const PlannedJob& job) { return MegatronWriter(job).Text(); }};
    return format;
}

} // namespace scaleacross
