// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/first-look.h"

#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/graph/task-graph-builder.h"
#include "core/work/memory/memory.h"
#include "core/work/partition/balance.h"
#include "core/work/partition/model-check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace scaleacross
{

double
ComputeBound(const PipelineShape& shape, const std::vector<PassTimes>& passes, const PassEnds& ends)
{
    const bool whole = !shape.schedule->Facts().splitsBackward;
    std::vector<double> work(shape.ranks, 0.0);    // of all microbatches
    std::vector<double> chained(shape.ranks, 0.0); // of that, what comes before the last gradient
    std::vector<double> around(shape.ranks, -1.0); // before the first and behind the last
    double before = 0;
    for (uint32_t position = 0; position < passes.size(); position++)
    {
        const PassTimes& pass = passes[position];
        const double total = pass.Total().S();
        const double onTheWay = whole ? total : (pass.forward + pass.inputGradient).S();
        const uint32_t rank = RankOf(shape, position);
        if (around[rank] < 0)
        {
            around[rank] = before;
        }
        work[rank] += shape.microbatches * total;
        chained[rank] += shape.microbatches * onTheWay;
        before += onTheWay;
    }
    // Of the first position, after the last gradient's way.
    const double left = whole ? 0 : passes.front().weightGradient.S();
    // All of one microbatch, or of the first rank.
    double bound = std::max({before + left + ends.last + ends.first,
                             work[RankOf(shape, 0)] + ends.first,
                             ends.gathers,
                             ends.reductions});
    for (uint32_t rank = 0; rank < shape.ranks; rank++)
    {
        const double chain = chained[rank] + around[rank] + left;
        bound = std::max({bound, work[rank], ends.first + chain + ends.last});
    }
    return bound;
}

namespace
{

/// The plan with the values that take least, of those behind a depth.
ParallelPlan
LeastOf(ParallelPlan plan, PlanDepth depth)
{
    if (depth < PlanDepth::Shards)
    {
        plan.sharding = "fsdp";
        plan.shardRanks = 0;
        plan.reshard = false;
        plan.reduce.reset();
        // Every unit is rounded up by itself: one has the least.
        plan.bucket = Bytes(1ULL << 44);
    }
    if (depth < PlanDepth::Kernels)
    {
        plan.recompute = Recompute();
        plan.recomputeLayers = 0;
        plan.offloadLayers = 0;
        plan.asyncTensor = false;
    }
    return plan;
}

/// Whether the batch can be dealt out at all; in equal numbers, whoever deals.
std::optional<Infeasible>
CheckBatch(const JobSpec& job)
{
    const uint64_t samples = uint64_t{job.plan.dp} * job.plan.microbatch;
    if (job.plan.apportion->byTime || job.workload.globalBatch % samples == 0)
    {
        return std::nullopt;
    }
    return Infeasible{"batch",
                      "global batch " + std::to_string(job.workload.globalBatch) +
                          " is not divisible by dp x microbatch " + std::to_string(samples) +
                          ": take a multiple of that, or another plan.dp or plan.microbatch"};
}

/// What the model computes for a microbatch, where and how that takes least.
PassTimes
LeastTimes(const Scenario& scenario)
{
    std::vector<const GpuSpec*> gpus;
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        if (gpus.empty() || !(building.gpu == *gpus.back()))
        {
            gpus.push_back(&building.gpu);
        }
    }
    JobSpec job = scenario.Job();
    job.plan = LeastOf(job.plan, PlanDepth::Degrees);
    return LeastModelTimes(job, gpus);
}

double
MicrobatchesOnAverage(const JobSpec& job)
{
    const auto samples = static_cast<double>(uint64_t{job.plan.dp} * job.plan.microbatch);
    return job.workload.globalBatch / samples;
}

/// A rank's share of all microbatches, or all layers of one, whose last weight gradients may wait.
double
WorkBound(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    const PassTimes model = LeastTimes(scenario);
    return std::max(MicrobatchesOnAverage(job) * model.Total().S() / job.plan.pp,
                    (model.forward + model.inputGradient).S());
}

/**
 * Of one position per rank and layers that are dealt out anyhow: with w_r what rank r has of a
 * microbatch, ComputeBound() has T >= m w_r + w_0 + ... + w_(r-1). The w_r for which a T has most
 * work in all, S, meet each of these exactly, w_r = (T / m) (1 - 1/m)^r. So
 *
 *     T >= S / (1 - (1 - 1/m)^p).
 *
 * Where replicas differ in their microbatches, one has no fewer than the mean.
 */
double
AnyLayersBound(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    const double m = MicrobatchesOnAverage(job);
    if (job.plan.chunks > 1 || m < 1 || job.plan.schedule->Facts().splitsBackward)
    {
        return WorkBound(scenario);
    }
    return LeastTimes(scenario).Total().S() / (1 - std::pow(1 - 1 / m, job.plan.pp));
}

/// Passes of a plan, each by itself, with or without the collectives inside its layers.
std::vector<PassTimes>
PassesOf(const Scenario& scenario, const RankLayout& layout, const LeastPasses* passes)
{
    return passes == nullptr ? PassTimesOf(scenario, layout) : passes->Of(scenario, layout);
}

/// Of these, what adds up: where passes overlap, only what they compute does.
std::vector<PassTimes>
WorkOf(const Scenario& scenario, const RankLayout& layout, const LeastPasses* passes)
{
    const bool overlap = scenario.Job().plan.schedule->Facts().overlapsPasses;
    return PassesOf(scenario, layout, overlap ? nullptr : passes);
}

/// Of a plan that is known no further than its layers' kernels, in seconds.
std::variant<double, Infeasible>
BoundAbove(const Scenario& scenario,
           const RankLayout& layout,
           PlanDepth depth,
           const LeastPasses* passes)
{
    const JobSpec& job = scenario.Job();
    if (auto no = CheckModel(job))
    {
        return *no;
    }
    if (auto no = CheckBatch(job))
    {
        return *no;
    }
    if (depth == PlanDepth::Degrees)
    {
        return WorkBound(scenario);
    }
    if (job.plan.apportion->byTime)
    {
        return AnyLayersBound(scenario);
    }
    if (auto no = CheckJob(scenario, layout))
    {
        return *no;
    }
    const PipelineShape shape = PipelineShapeOf(job);
    double spans =
        passes == nullptr ? 0 : passes->SpanSeconds(scenario, layout, shape.microbatches, false);
    // Tensor parallelism beside computing, which may send less.
    std::optional<Scenario> beside;
    if (passes != nullptr && job.plan.tp > 1)
    {
        beside = scenario;
        beside->Job().plan.asyncTensor = true;
        spans = std::min(spans, passes->SpanSeconds(*beside, layout, shape.microbatches, false));
    }
    const SoftwareStack& stack = job.workload.stack;
    const bool byHost = stack.hostPerLayerBackward > Duration() ||
                        (job.model.IsMoe() && stack.hostPerExpert > Duration());
    if (byHost || (job.model.IsMoe() && job.plan.ExpertsApart()))
    {
        // What is computed again may stand beside a collective that nothing else hides.
        return std::max(spans, ComputeBound(shape, PassTimesOf(scenario, layout)));
    }
    double bound = ComputeBound(shape, WorkOf(scenario, layout, passes));
    if (beside)
    {
        // There computing takes longer, and waits for less.
        bound = std::min(bound, ComputeBound(shape, WorkOf(*beside, layout, passes)));
    }
    return std::max(spans, bound);
}

/// What no sharding goes below.
void
LeaveGathered(std::vector<MemoryUse>& memory)
{
    for (MemoryUse& use : memory)
    {
        use.gathered = Bytes(0);
    }
}

} // namespace

std::variant<ClosedForm, Infeasible>
FirstLook(const Scenario& given,
          PlanDepth depth,
          const LeastPasses* passes,
          const IsWorthMore& isWorthMore)
{
    std::optional<Scenario> least;
    if (depth < PlanDepth::Shards)
    {
        least = given;
        least->Job().plan = LeastOf(given.Job().plan, depth);
    }
    const Scenario& scenario = least ? *least : given;
    const auto laidOut = LayOut(scenario.Job().plan, scenario.cluster);
    if (const auto* no = std::get_if<Infeasible>(&laidOut))
    {
        return *no;
    }
    const RankLayout& layout = std::get<RankLayout>(laidOut);
    ClosedForm form;
    if (depth < PlanDepth::Kernels)
    {
        const auto bound = BoundAbove(scenario, layout, depth, passes);
        if (const auto* no = std::get_if<Infeasible>(&bound))
        {
            return *no;
        }
        form.bound = LessRounding(std::get<double>(bound));
        return form;
    }
    if (auto no = CheckJob(scenario, layout))
    {
        return *no;
    }
    std::vector<MemoryUse> memory = MemoryOf(scenario, layout);
    std::vector<MemoryUse> fullest = FullestOf(scenario, layout, memory);
    if (depth == PlanDepth::Kernels)
    {
        LeaveGathered(memory);
        LeaveGathered(fullest);
    }
    if (auto no = CheckMemory(scenario, memory))
    {
        return *no;
    }
    form.memoryMax = MostOf(fullest);
    PipelineShape shape = PipelineShapeOf(scenario.Job());
    // Of the replica that the first ranks of all stages are: none has a shorter iteration than any
    // other in the long run.
    const auto microbatches = std::get<std::vector<uint32_t>>(MicrobatchesOf(scenario, layout));
    shape.microbatches = microbatches[layout.BuildingOf(layout.FirstOf(0))];
    PassEnds ends;
    if (passes != nullptr && depth > PlanDepth::Kernels)
    {
        ends = passes->EndsOf(scenario, layout, shape.microbatches);
    }
    double bound = ComputeBound(shape, WorkOf(scenario, layout, passes), ends);
    if (scenario.Job().plan.apportion->byTime)
    {
        // Where replicas differ in their microbatches, the first may have fewer than the mean.
        bound = std::max(bound, AnyLayersBound(scenario));
    }
    form.bound = LessRounding(bound);
    if (passes == nullptr)
    {
        return form;
    }
    const auto raise = [&form](double seconds) {
        form.bound = std::max(form.bound, LessRounding(seconds));
    };
    const bool sharded = depth > PlanDepth::Kernels; // it is known how
    if (isWorthMore(form))
    {
        const auto fewest = std::min_element(microbatches.begin(), microbatches.end());
        raise(passes->SpanSeconds(scenario, layout, *fewest, sharded));
    }
    if (isWorthMore(form))
    {
        const ReplayedPasses replayed =
            passes->Replayed(scenario, layout, shape.microbatches, passes->Of(scenario, layout));
        raise(ends.first + std::max(replayed.end, replayed.ofFirst + ends.last));
    }
    if (sharded && isWorthMore(form))
    {
        raise(passes->WindowSeconds(scenario, layout, microbatches));
    }
    return form;
}

} // namespace scaleacross
