// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/partition/model-check.h"

#include "core/base/text.h"
#include "core/spec/head-split.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

/// The divisors of n up to `most`, as in "1, 2 or 4".
std::string
DivisorsText(uint64_t n, uint64_t most)
{
    std::vector<std::string> divisors;
    for (uint64_t d = 1; d <= std::min(n, most); d++)
    {
        if (n % d == 0)
        {
            divisors.push_back(std::to_string(d));
        }
    }
    return AnyOf(divisors);
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

std::optional<Infeasible>
CheckWidth(const char* key, uint64_t width, const std::string& degree, uint32_t ranks)
{
    if (width % ranks == 0)
    {
        return std::nullopt;
    }
    return Infeasible{"ffn",
                      degree + " " + std::to_string(ranks) + " does not divide model." + key + " " +
                          std::to_string(width) + ": take " + degree + " " +
                          DivisorsText(width, ranks) + ", or a width that it divides"};
}

std::optional<Infeasible>
CheckWidths(const JobSpec& job)
{
    const ModelSpec& model = job.model;
    const ParallelPlan& plan = job.plan;
    if (model.MoeLayers() < model.layers)
    {
        if (auto bad = CheckWidth("dense_ffn", model.denseFfn, "plan.tp", plan.tp))
        {
            return bad;
        }
    }
    if (model.MoeLayers() == 0)
    {
        return std::nullopt;
    }
    if (auto bad = CheckWidth("shared_ffn", model.sharedFfn, "plan.tp", plan.tp))
    {
        return bad;
    }
    return CheckWidth("expert_ffn",
                      model.expertFfn,
                      plan.etp > 0 ? "plan.etp" : "plan.tp",
                      plan.ExpertTensor());
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
                              DivisorsText(model.experts, UINT32_MAX)});
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
                          DivisorsText(std::gcd(job.model.heads, job.model.kvHeads), UINT32_MAX)};
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
