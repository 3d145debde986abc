// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/plan-format.h"
#include "cli/plan-formats/titan-plan.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr TitanRelease g_toml = {"torchtitan",
                                 "TorchTitan v0.2.2 (73a0e6979, 2026-02-20)",
                                 "output",
                                 false, // python
                                 false, // replicatesBeside
                                 true,  // expertTensor
                                 false, // multiToken
                                 true,  // cutsSequences
                                 true,  // wrapsCompiled
                                 true}; // overlapsPasses

constexpr TitanRelease g_python = {"torchtitan-main",
                                   "TorchTitan main (b5bcd76c6, 2026-08-21)",
                                   "lm_head",
                                   true,   // python
                                   true,   // replicatesBeside
                                   false,  // expertTensor
                                   true,   // multiToken
                                   false,  // cutsSequences
                                   false,  // wrapsCompiled
                                   false}; // overlapsPasses

/// Writes one plan: a table of TOML for each part of a configuration, or a function of Python that
/// sets its fields. The order of its steps is that of the text.
class TitanWriter
{
  public:
    TitanWriter(const PlannedJob& job, const TitanRelease& release)
        : m_job(job),
          m_release(release),
          m_plan(job.plan.parallel),
          m_model(job.Job().model),
          m_titan(job, release)
    {
    }

    std::string Text()
    {
        Introduce();
        Training();
        Parallelism();
        Recomputation();
        Compilation();
        End();
        RemarkOnGradients();
        RemarkOnSchedule();
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

    bool CompilesModel() const
    {
        return m_plan.asyncTensor && m_plan.tp > 1;
    }

    /// What stands in front of each line of a table.
    std::string Indent() const
    {
        return m_release.python ? "    " : "";
    }

    void Line(const std::string& name, const std::string& value, const std::string& keys)
    {
        m_text.Setting(m_release.python ? fmt::format("    config.{}.{} = {}", m_table, name, value)
                                        : fmt::format("{} = {}", name, value),
                       keys);
    }

    void Set(const char* name, uint64_t value, const std::string& keys)
    {
        Line(name, std::to_string(value), keys);
    }

    void SetTruth(const char* name, bool value, const std::string& keys)
    {
        Line(name,
             m_release.python ? (value ? "True" : "False") : (value ? "true" : "false"),
             keys);
    }

    void SetWord(const char* name, const std::string& word, const std::string& keys)
    {
        Line(name, "\"" + word + "\"", keys);
    }

    void Note(const std::string& text, const std::string& keys)
    {
        m_text.Note(text, keys, Indent());
    }

    void Remark(const std::string& key, const std::string& text)
    {
        m_text.Remark(key, m_job.plan, text);
    }

    void Introduce()
    {
        const std::string use =
            m_release.python
                ? "Versions since 2026-02-23 are configured in Python: --format torchtitan is for "
                  "v0.2.2, which reads TOML. Import this file where --config has its function, and "
                  "let that return apply_plan(config) of a configuration of the model's.\n"
                : "Versions since 2026-02-23 are configured in Python: --format torchtitan-main "
                  "is for them.\n";
        m_text.Comment(fmt::format(
            "{}\nof {}: {}\n\n"
            "For {}: all names below are in its list of options.\n"
            "{}"
            "{}"
            "Model, data, optimizer and precision are no part of the plan; "
            "their options go beside it. NCCL's variables are in --format "
            "nccl.",
            Label(m_job.plan),
            m_job.study.name,
            m_job.source,
            m_release.checked,
            use,
            m_titan.Ranks().LaunchText(m_release.python
                                           ? "-m torchtitan.train --module MODULE --config FUNCTION"
                                           : "-m torchtitan.train --job.config_file THIS_FILE")));
        if (m_release.python)
        {
            BeginFunction();
        }
    }

    void BeginFunction()
    {
        m_text.Blank();
        const std::string policy = Policy();
        if (!policy.empty())
        {
            m_text.Plain("from torchtitan.distributed.activation_checkpoint import " + policy);
            m_text.Blank();
        }
        m_text.Blank();
        m_text.Plain("def apply_plan(config):");
        m_text.Plain("    \"\"\"Gives a Trainer.Config the plan, and returns it.\"\"\"");
    }

    void End()
    {
        if (m_release.python)
        {
            m_text.Plain("    return config");
        }
    }

    void Begin(const char* table)
    {
        m_table = table;
        if (!m_release.python)
        {
            m_text.Blank();
            m_text.Plain(fmt::format("[{}]", table));
        }
    }

    void Training()
    {
        const WorkloadSpec& workload = m_job.Job().workload;
        Begin("training");
        if (m_release.python)
        {
            Set("max_context_length", workload.sequence, "workload.sequence");
            Set("num_tokens_per_train_step",
                uint64_t{workload.globalBatch} * workload.sequence,
                "workload.global_batch workload.sequence");
            Set("num_tokens_per_microbatch_per_dp_rank",
                uint64_t{m_plan.microbatch} * workload.sequence,
                "plan.microbatch workload.sequence");
            DisableGraphs();
            return;
        }
        Set("seq_len", workload.sequence, "workload.sequence");
        Set("global_batch_size", workload.globalBatch, "workload.global_batch");
        // A pipeline cuts what a rank gets into microbatches; without one gradients add up over
        // batches of that size.
        const uint32_t local = m_plan.microbatch * (IsPipeline() ? m_job.microbatches.front() : 1);
        Set("local_batch_size", local, "plan.microbatch");
    }

    /// They are captured by default, and refused with what they do not go with.
    void DisableGraphs()
    {
        if (IsPipeline())
        {
            SetTruth("disable_cuda_graphs", true, "there are none with a pipeline");
        }
        else if (m_model.IsMoe() && m_plan.ep > 1)
        {
            SetTruth("disable_cuda_graphs", true, "there are none where experts wait for the host");
        }
    }

    void Parallelism()
    {
        Begin("parallelism");
        const std::string shared = "plan.dp plan.sharding plan.shard_ranks";
        Set("data_parallel_replicate_degree", m_titan.Replicate(), shared);
        Set("data_parallel_shard_degree", m_titan.Shard(), shared);
        if (m_titan.Shard() * m_plan.cp > 1)
        {
            SetWord("fsdp_reshard_after_forward",
                    m_plan.Reshards() ? "always" : "never",
                    "plan.reshard");
        }
        if (m_plan.bucket.Count() == 0)
        {
            Note("a layer is gathered and reduced at a time", "plan.bucket");
        }
        if (m_job.Job().workload.gradientBytes < 4)
        {
            Note("gradients are reduced in FP32 only, twice the bytes", "workload.gradients");
        }
        Set("tensor_parallel_degree", m_plan.tp, "plan.tp");
        Context();
        if (!m_release.python && CompilesModel())
        {
            SetTruth("enable_async_tensor_parallel", true, "plan.async_tp");
        }
        Experts();
        Set("pipeline_parallel_degree", m_plan.pp, "plan.pp");
        if (IsPipeline())
        {
            Pipeline();
            return;
        }
        Note("all layers are in one stage",
             "plan.layers plan.apportion plan.embedding_as_layer plan.loss_as_layer "
             "plan.schedule plan.round");
    }

    void Context()
    {
        Set("context_parallel_degree", m_plan.cp, "plan.cp");
        if (m_plan.cp > 1 && m_release.python)
        {
            Note("keys and values are gathered; it asks for a model with FlexAttention", "plan.cp");
        }
        else if (m_plan.cp > 1)
        {
            SetWord("context_parallel_rotate_method", "allgather", "keys and values are gathered");
        }
    }

    void Experts()
    {
        if (!m_model.IsMoe() || m_plan.ep == 1)
        {
            return;
        }
        Set("expert_parallel_degree", m_plan.ep, "plan.ep");
        const bool kernels = m_job.plan.network.allToAll->kernel != TokenKernel::None;
        if (m_release.python)
        {
            Note("experts are whole with ep", "plan.etp");
            Note(fmt::format("the model's registry says how tokens travel: moe_comm_backend=\"{}\"",
                             kernels ? "deepep" : "standard"),
                 "network.all_to_all");
            return;
        }
        Set("expert_tensor_parallel_degree", m_plan.ExpertTensor(), "plan.etp");
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
        SetWord("pipeline_parallel_schedule",
                m_titan.Schedule(),
                "plan.schedule plan.round plan.chunks");
        if (m_release.python)
        {
            Set("num_pp_microbatches", m_job.microbatches.front(), "plan.microbatch");
        }
        else
        {
            Set("pipeline_parallel_microbatch_size", m_plan.microbatch, "plan.microbatch");
        }
        if (m_release.overlapsPasses && m_titan.Overlaps() && m_plan.ep > 1)
        {
            // It recomputes nothing where it overlaps.
            SetTruth("pipeline_parallel_expert_parallel_overlap",
                     m_plan.recompute == Recompute(),
                     "plan.schedule plan.recompute");
        }
        Line("module_fqns_per_model_part",
             "[",
             "plan.layers plan.apportion plan.embedding_as_layer plan.loss_as_layer");
        for (const StageLayers& stage : m_job.layers)
        {
            m_text.Plain(Indent() + "    [" + ModulesOf(stage) + "],");
        }
        m_text.Plain(Indent() + "]");
    }

    std::string ModulesOf(const StageLayers& stage) const
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
            names.push_back(fmt::format("\"{}\"", m_release.head));
        }
        return fmt::format("{}", fmt::join(names, ", "));
    }

    bool Recomputes() const
    {
        return m_plan.recompute != Recompute() || m_plan.offloadLayers > 0;
    }

    /// Whether every second linear layer's output is kept, and nothing that is element-wise; else
    /// whole layers are computed again.
    bool RecomputesByOperation() const
    {
        const RecomputedParts& parts = *m_plan.recompute;
        return !parts.layers && !parts.denseMlp && !parts.experts && !parts.upProjections &&
               !parts.sharedExperts && m_plan.offloadLayers == 0;
    }

    /// The class of it; empty: nothing is computed again.
    std::string Policy() const
    {
        return !Recomputes() ? "" : RecomputesByOperation() ? "SelectiveAC" : "FullAC";
    }

    void Recomputation()
    {
        const std::string keys = "plan.recompute";
        const bool byOperation = RecomputesByOperation();
        if (m_release.python)
        {
            const std::string policy = Policy();
            m_text.Setting("    config.activation_checkpoint = " +
                               (policy.empty() ? "None" : policy + ".Config()"),
                           keys);
        }
        else
        {
            Begin("activation_checkpoint");
            SetWord("mode", !Recomputes() ? "none" : byOperation ? "selective" : "full", keys);
        }
        if (!Recomputes())
        {
            return;
        }
        if (byOperation && !m_release.python)
        {
            SetWord("selective_ac_option", "op", keys);
        }
        if (m_plan.offloadLayers > 0)
        {
            Remark("plan.offload_layers",
                   "layers are computed again in place of waiting in host memory");
        }
        else if (byOperation && !m_plan.recompute->linears)
        {
            Remark(
                "plan.recompute",
                "every second linear layer and all of routed experts are computed again as well");
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
        if (!CompilesModel())
        {
            return;
        }
        Begin("compile");
        SetTruth("enable", true, "plan.async_tp");
        Line("components", "[\"model\"]", "plan.async_tp");
        if (m_release.python)
        {
            SetTruth("enable_async_tensor_parallel", true, "plan.async_tp");
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
        if (!IsPipeline() && several && m_titan.Shard() * m_plan.cp > 1 && !m_plan.Reshards())
        {
            Remark("plan.reshard", "parameters are gathered for every microbatch: more traffic");
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

    void RemarkOnSchedule()
    {
        if (!m_titan.Overlaps())
        {
            return;
        }
        if (!m_release.overlapsPasses)
        {
            Remark("plan.schedule",
                   "forward and backward do not overlap; here one follows the other");
        }
        else if (m_plan.ep == 1 || m_plan.recompute != Recompute())
        {
            Remark("plan.schedule",
                   "forward and backward overlap with expert parallelism and without recomputation "
                   "only; here one follows the other");
        }
    }

    void Hosts()
    {
        m_text.Blank();
        m_text.Comment(m_titan.Ranks().PlacesText(m_job.Cluster()));
    }

    const PlannedJob& m_job;
    const TitanRelease& m_release;
    const ParallelPlan& m_plan;
    const ModelSpec& m_model;
    TitanPlan m_titan;
    std::string m_table; //!< of the configuration, which settings are in
    OptionText m_text;
};

} // namespace

const PlanFormat&
TorchTitanFormat()
{
    static const PlanFormat format = {
        g_toml.format,
        "TOML of TorchTitan v0.2.2",
        [](const PlannedJob& job) { return TitanWriter(job, g_toml).Text(); }};
    return format;
}

const PlanFormat&
TorchTitanMainFormat()
{
    static const PlanFormat format = {
        g_python.format,
        "Python that configures TorchTitan's main of 2026-08-21",
        [](const PlannedJob& job) { return TitanWriter(job, g_python).Text(); }};
    return format;
}

} // namespace scaleacross
