// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/model-check.h"

#include "core/base/text.h"
#include "core/spec/head-split.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace scaleacross
{

namespace
{

std::vector<uint32_t>
DivisorsOf(uint32_t n)
{
    std::vector<uint32_t> divisors;
    for (uint32_t d = 1; d <= n; d++)
    {
        if (n % d == 0)
        {
            divisors.push_back(d);
        }
    }
    return divisors;
}

/// As in "1, 2 or 4".
std::string
TextOf(const std::vector<uint32_t>& degrees)
{
    std::vector<std::string> words;
    for (const uint32_t degree : degrees)
    {
        words.push_back(std::to_string(degree));
    }
    return AnyOf(words);
}

/// Ranks of tp among which the tokens of a sequence are dealt out.
uint32_t
TokenShares(const JobSpec& job)
{
    return job.workload.stack.sequenceParallel || job.model.IsMoe() ? job.plan.tp : 1;
}

/// Where the divisor comes from, as in "2 cp".
std::string
DivisorText(const JobSpec& job)
{
    const uint32_t shares = TokenShares(job);
    if (job.plan.cp == 1)
    {
        return "tp, whose ranks share the tokens,";
    }
    if (SequenceDivisor(job) == 2 * uint64_t{job.plan.cp})
    {
        return "2 cp, two pieces on each rank of cp,";
    }
    const bool even = shares % 2 == 0 && !job.workload.stack.evenHalves;
    return std::string(even ? "cp tp" : "2 cp tp") +
           ", two pieces on each rank of cp that tp ranks share,";
}

std::optional<Infeasible>
CheckSequence(const JobSpec& job)
{
    const uint64_t divisor = SequenceDivisor(job);
    const uint64_t sequence = job.workload.sequence;
    if (sequence % divisor == 0)
    {
        return std::nullopt;
    }
    const uint64_t below = sequence / divisor * divisor;
    return Infeasible{"sequence",
                      "workload.sequence " + std::to_string(sequence) + " is no multiple of " +
                          DivisorText(job) + " = " + std::to_string(divisor) + ": take " +
                          (below > 0 ? std::to_string(below) + " or " : "") +
                          std::to_string(below + divisor) + ", or other degrees"};
}

/// @param others what the degree may be for all else
Infeasible
Uneven(const std::string& key,
       uint64_t width,
       const std::string& degree,
       uint32_t ranks,
       const std::vector<uint32_t>& others)
{
    std::vector<uint32_t> even;
    std::copy_if(others.begin(), others.end(), std::back_inserter(even), [width](uint32_t other) {
        return width % other == 0;
    });
    return {"ffn",
            degree + " " + std::to_string(ranks) + " does not divide " + key + " " +
                std::to_string(width) + ": take " + degree + " " + TextOf(even) +
                ", or a width that it divides"};
}

std::optional<Infeasible>
CheckWidths(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const ParallelPlan& plan = job.plan;
    const bool dense = model.MoeLayers() < model.layers;
    const bool moe = model.MoeLayers() > 0;
    for (const auto& [has, key, width] :
         {std::tuple(dense, "model.dense_ffn", model.denseFfn),
          std::tuple(moe, "model.shared_ffn", model.sharedFfn),
          std::tuple(moe && plan.etp == 0, "model.expert_ffn", model.expertFfn)})
    {
        if (has && width % plan.tp != 0)
        {
            return Uneven(key, width, "plan.tp", plan.tp, HeadSplits(model, job.workload.stack));
        }
    }
    if (moe && plan.etp > 0 && model.expertFfn % plan.etp != 0)
    {
        return Uneven("model.expert_ffn",
                      model.expertFfn,
                      "plan.etp",
                      plan.etp,
                      DivisorsOf(plan.tp));
    }
    return std::nullopt;
}

std::optional<Infeasible>
CheckExpertDegrees(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const ParallelPlan& plan = job.plan;
    if (model.IsMoe())
    {
        return model.experts % plan.ep == 0
                   ? std::nullopt
                   : std::optional<Infeasible>(
                         {"experts",
                          "plan.ep " + std::to_string(plan.ep) + " does not divide the " +
                              std::to_string(model.experts) + " experts: take ep " +
                              TextOf(DivisorsOf(model.experts))});
    }
    if (plan.ep > 1 || plan.etp > 0)
    {
        return Infeasible{"experts",
                          (plan.ep > 1 ? "plan.ep " + std::to_string(plan.ep)
                                       : "plan.etp " + std::to_string(plan.etp)) +
                              " with a model that has no experts: leave it out"};
    }
    return std::nullopt;
}

std::optional<Infeasible>
CheckOffload(const JobSpec& job)
{
    if (job.plan.offloadLayers < job.model.layers)
    {
        return std::nullopt;
    }
    return Infeasible{"layers",
                      "plan.offload_layers " + std::to_string(job.plan.offloadLayers) + " of " +
                          std::to_string(job.model.layers) +
                          " layers, of which one at least stays: take at most " +
                          std::to_string(job.model.layers - 1)};
}

std::optional<Infeasible>
CheckRecompute(const JobSpec& job)
{
    if (!job.plan.recompute->linears || !job.model.RepeatsKvHeads(job.plan.tp))
    {
        return std::nullopt;
    }
    return Infeasible{"recompute",
                      "plan.recompute " + ToString(job.plan.recompute) + " with plan.tp " +
                          std::to_string(job.plan.tp) + ", more ranks than the " +
                          std::to_string(job.model.kvHeads) +
                          " KV heads: no software has both; take another recomputation, or tp " +
                          TextOf(DivisorsOf(std::gcd(job.model.heads, job.model.kvHeads)))};
}

} // namespace

uint64_t
SequenceDivisor(const JobSpec& job)
{
    const uint64_t shares = TokenShares(job);
    if (job.plan.cp == 1)
    {
        return shares;
    }
    return job.plan.cp *
           (job.workload.stack.evenHalves ? 2 * shares : std::lcm(uint64_t{2}, shares));
}

std::optional<Infeasible>
CheckModel(const JobSpec& job)
{
    if (auto bad = CheckHeads(job.model, job.workload.stack, job.plan.tp))
    {
        return bad;
    }
    for (const auto check :
         {CheckRecompute, CheckSequence, CheckWidths, CheckOffload, CheckExpertDegrees})
    {
        if (auto bad = check(job))
        {
            return bad;
        }
    }
    return std::nullopt;
}

} // namespace scaleacross
