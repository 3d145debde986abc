// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/megatron-words.h"

#include "cli/shell-text.h"

#include <algorithm>
#include <fmt/core.h>

namespace scaleacross
{

namespace
{

/// A word of --recompute-modules for a module of ours.
struct MegatronModule
{
    bool RecomputedParts::*module;
    const char* word;
};

constexpr MegatronModule g_modules[] = {
    {&RecomputedParts::norms, "layernorm"},
    {&RecomputedParts::activations, "moe_act"},
    {&RecomputedParts::upProjections, "mla_up_proj"},
    {&RecomputedParts::denseMlp, "mlp"},
    {&RecomputedParts::experts, "moe"},
    {&RecomputedParts::sharedExperts, "shared_experts"},
};

bool
Has(const ModelSpec& model, bool RecomputedParts::*module)
{
    if (module == &RecomputedParts::upProjections)
    {
        return model.IsLatent();
    }
    if (module == &RecomputedParts::sharedExperts)
    {
        return model.sharedFfn > 0;
    }
    return model.IsMoe() ||
           (module != &RecomputedParts::activations && module != &RecomputedParts::experts);
}

/// Whether all from `begin` to `end` are equal.
bool
AreEqual(const std::vector<uint32_t>& counts, size_t begin, size_t end)
{
    return std::all_of(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                       counts.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](uint32_t count) { return count == counts[begin]; });
}

/// Whether both ends have layers, and what is next to the first: Megatron takes numbers for the
/// ends alone only if they are above 0, and if something is left for the stages between.
bool
HaveSome(const std::vector<uint32_t>& counts)
{
    return counts.front() > 0 && counts.back() > 0 && counts[1] > 0;
}

/// "Et*7|(t*8|)*14t*7L": E is the embedding, t a layer, m an MTP layer, L the loss. Megatron
/// unrolls parentheses first, and then letters.
std::string
LayoutText(const std::vector<uint32_t>& counts, uint32_t modules)
{
    const auto layers = [](uint32_t count) {
        return count == 0 ? "" : count == 1 ? "t" : fmt::format("t*{}", count);
    };
    std::string text = "E" + layers(counts.front()) + "|";
    for (size_t i = 1; i + 1 < counts.size();)
    {
        size_t same = 1;
        while (i + same + 1 < counts.size() && counts[i + same] == counts[i])
        {
            same++;
        }
        const std::string one = layers(counts[i]) + "|";
        text += same == 1 ? one : fmt::format("({})*{}", one, same);
        i += same;
    }
    return text + layers(counts.back()) + std::string(modules, 'm') + "L";
}

} // namespace

std::vector<std::string>
MegatronLayerOptions(const PlannedJob& job)
{
    const ParallelPlan& plan = job.plan.parallel;
    const ModelSpec& model = job.Job().model;
    std::vector<uint32_t> counts;
    for (const StageLayers& stage : job.layers)
    {
        counts.push_back(stage.count);
    }
    counts.back() -= model.mtpLayers;
    std::vector<std::string> options;
    // As they are dealt out, where ends count as layers.
    std::vector<uint32_t> dealt = counts;
    dealt.front() += plan.embeddingAsLayer ? 1 : 0;
    dealt.back() += plan.lossAsLayer ? 1 : 0;
    const bool even = AreEqual(counts, 0, counts.size());
    if (!even && !AreEqual(dealt, 0, dealt.size()))
    {
        if (plan.chunks == 1 && HaveSome(counts) && AreEqual(counts, 1, counts.size() - 1))
        {
            return {fmt::format("--decoder-first-pipeline-num-layers {}", counts.front()),
                    fmt::format("--decoder-last-pipeline-num-layers {}", counts.back())};
        }
        return {"--pipeline-model-parallel-layout " +
                ShellText(LayoutText(counts, model.mtpLayers))};
    }
    if (!even && plan.embeddingAsLayer)
    {
        options.emplace_back("--account-for-embedding-in-pipeline-split");
    }
    if (!even && plan.lossAsLayer)
    {
        options.emplace_back("--account-for-loss-in-pipeline-split");
    }
    if (plan.chunks > 1)
    {
        options.push_back(fmt::format("--num-virtual-stages-per-pipeline-rank {}", plan.chunks));
    }
    return options;
}

std::string
MegatronModules(const ModelSpec& model, const RecomputedParts& parts)
{
    std::string words;
    for (const MegatronModule& module : g_modules)
    {
        if (parts.*module.module && Has(model, module.module))
        {
            words += std::string(" ") + module.word;
        }
    }
    return words;
}

} // namespace scaleacross
