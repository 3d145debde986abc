// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_VOLUME_PARAMETER_UNITS_H
#define SCALEACROSS_TESTS_VOLUME_PARAMETER_UNITS_H

#include "core/pipeline/pipeline-order.h"
#include "core/spec/scenario.h"
#include "core/work/cost/schedule-times.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

/**
 * What data parallelism gathers and reduces as one, and how often it gathers it in an iteration.
 *
 * The stages' layers are given: with plan.apportion = time as LayersOf() deals them out, whose
 * tests are in balance-test.cc; what is made of them here is not.
 */
namespace scaleacross::volumes
{

/// Parameters of a part of the model, whole: before any split.
struct Unit
{
    uint64_t dense;
    uint64_t expert;
    uint32_t position; //!< virtual stage
    bool backward;     //!< needed backward, which the embedding is not
};

/// The rank of a pipeline that has a virtual stage: p to a chunk, every second one back on a V.
inline uint32_t
StageAt(const ParallelPlan& plan, uint32_t position)
{
    const bool vee = plan.schedule->Facts().placement == Placement::Vee;
    const uint32_t within = position % plan.pp;
    return vee && position / plan.pp % 2 == 1 ? plan.pp - 1 - within : within;
}

/// An embedding that the last position needs as well is held by two ranks unless they are one.
inline bool
HeldTwice(const JobSpec& job)
{
    const uint32_t last = job.plan.pp * job.plan.chunks - 1;
    const bool needed = job.model.tiedEmbedding || job.model.mtpLayers > 0;
    return needed && StageAt(job.plan, last) != StageAt(job.plan, 0);
}

/// The first layer of every virtual stage, and the end of the last, where the plan says them.
inline std::vector<uint32_t>
BeginsSaid(const ParallelPlan& plan)
{
    std::vector<uint32_t> begins{0};
    for (const LayerLayout::Run& run : plan.layers.runs)
    {
        for (uint32_t i = 0; i < run.positions; i++)
        {
            begins.push_back(begins.back() + run.layers);
        }
    }
    return begins;
}

/// The same where all have as many, but for embedding and head, if they count: then some have one
/// more, as far from both ends as can be.
inline std::vector<uint32_t>
BeginsDealt(const JobSpec& job)
{
    const uint32_t positions = job.plan.pp * job.plan.chunks;
    const uint32_t before = job.plan.embeddingAsLayer ? 1 : 0;
    const uint32_t all = before + job.model.layers + (job.plan.lossAsLayer ? 1 : 0);
    const uint32_t more = all % positions;
    std::vector<uint32_t> begins{0};
    for (uint32_t i = 1; i < positions; i++)
    {
        const uint32_t shorter = (positions - more) / 2; // before those
        begins.push_back(i * (all / positions) + std::min(i - std::min(i, shorter), more) - before);
    }
    begins.push_back(job.model.layers);
    return begins;
}

/// The layers of every virtual stage.
inline std::vector<StageLayers>
LayersOfStages(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    const uint32_t positions = job.plan.pp * job.plan.chunks;
    std::vector<StageLayers> stages;
    if (job.plan.apportion == Apportion("time"))
    {
        stages = LayersOf(scenario, std::get<RankLayout>(LayOut(job.plan, scenario.cluster)));
        uint32_t next = 0;
        for (const StageLayers& stage : stages)
        {
            SCALEACROSS_INVARIANT(stage.first == next, "layers out of order");
            next += stage.count;
        }
        SCALEACROSS_INVARIANT(next == job.model.layers + job.model.mtpLayers, "layers lost");
        return stages;
    }
    const auto begins = job.plan.layers.IsGiven() ? BeginsSaid(job.plan) : BeginsDealt(job);
    SCALEACROSS_INVARIANT(begins.size() == positions + 1 && begins.back() == job.model.layers,
                          "layers lost");
    for (uint32_t i = 0; i < positions; i++)
    {
        stages.push_back({begins[i], begins[i + 1] - begins[i], i == 0, i + 1 == positions});
    }
    stages.back().count += job.model.mtpLayers;
    return stages;
}

/// Ranks that share all experts among them: etp x ep.
inline uint64_t
SplitOfExperts(const ParallelPlan& plan)
{
    return uint64_t{plan.etp > 0 ? plan.etp : plan.tp} * plan.ep;
}

/// The units of the model in the order of forward. A stage's embedding, layers and head are joined
/// from the last on, in whose order backward goes, until a rank has as many bytes of gradients of
/// them as a bucket holds.
inline std::vector<Unit>
UnitsOfModel(const Scenario& scenario)
{
    const JobSpec& job = scenario.Job();
    const ModelSpec& model = job.model;
    const auto stages = LayersOfStages(scenario);
    std::vector<Unit> units;
    for (uint32_t position = 0; position < stages.size(); position++)
    {
        const StageLayers& stage = stages[position];
        std::vector<Unit> pieces;
        if (stage.embedding)
        {
            pieces.push_back({model.EmbeddingParameters(), 0, position, false});
        }
        for (uint32_t i = stage.first; i < stage.first + stage.count; i++)
        {
            pieces.push_back({model.DenseParametersOfLayer(i),
                              model.ExpertParametersOfLayer(i),
                              position,
                              true});
        }
        if (stage.head)
        {
            const uint64_t copy = HeldTwice(job) ? model.EmbeddingParameters() : 0;
            pieces.push_back({model.HeadParameters() + copy, 0, position, true});
        }
        std::vector<Unit> joined;
        uint64_t bytes = job.plan.bucket.Count(); // of the last unit, on a rank
        for (size_t i = pieces.size(); i-- > 0;)
        {
            const Unit& piece = pieces[i];
            if (joined.empty() || bytes >= job.plan.bucket.Count())
            {
                joined.insert(joined.begin(), {0, 0, position, false});
                bytes = 0;
            }
            joined.front().dense += piece.dense;
            joined.front().expert += piece.expert;
            joined.front().backward = joined.front().backward || piece.backward;
            bytes += job.workload.gradientBytes *
                     (piece.dense / job.plan.tp + piece.expert / SplitOfExperts(job.plan));
        }
        units.insert(units.end(), joined.begin(), joined.end());
    }
    return units;
}

/// How often each unit is gathered in an iteration: once, or, where weights are given up, whenever
/// it is used and was not among the last max(prefetch, 1) used on its rank. The order of passes is
/// given, by the schedule.
inline std::vector<uint64_t>
GathersOf(const Scenario& scenario, const std::vector<Unit>& units)
{
    const ParallelPlan& plan = scenario.Job().plan;
    if (!plan.Reshards())
    {
        return std::vector<uint64_t>(units.size(), 1);
    }
    const auto shape =
        PipelineShapeOf(scenario, std::get<RankLayout>(LayOut(plan, scenario.cluster)));
    std::vector<uint64_t> gathers(units.size(), 0);
    for (uint32_t r = 0; r < plan.pp; r++)
    {
        std::vector<size_t> used;
        const auto use = [&](const ChunkPass& pass, bool forward) {
            for (size_t k = 0; k < units.size(); k++)
            {
                const size_t i = forward ? k : units.size() - 1 - k;
                if (StageAt(plan, units[i].position) != r ||
                    units[i].position / plan.pp != pass.chunk || !(forward || units[i].backward))
                {
                    continue;
                }
                const size_t window = std::min<size_t>(std::max(plan.prefetch, 1U), used.size());
                const auto from = used.end() - static_cast<std::ptrdiff_t>(window);
                gathers[i] += std::find(from, used.end(), i) == used.end() ? 1 : 0;
                used.push_back(i);
            }
        };
        for (const PipelineAction& action : PipelineOrder(shape, r))
        {
            // Of an overlapped pair the forward uses its parameters first.
            if (const auto pass = ForwardOf(action))
            {
                use(*pass, true);
            }
            if (const auto pass = InputGradientOf(action))
            {
                use(*pass, false);
            }
        }
    }
    return gathers;
}

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_VOLUME_PARAMETER_UNITS_H
