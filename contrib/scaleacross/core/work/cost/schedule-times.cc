// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/schedule-times.h"

#include "core/pipeline/pipeline-schedule.h"
#include "core/topology/fabric-graph.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/partition/balance.h"
#include "core/work/partition/layer-split.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

namespace scaleacross
{

namespace
{

void
Add(PassTimes& sum, const ComputeCost& cost)
{
    sum.forward += cost.forward;
    sum.inputGradient += cost.inputGradient;
    sum.weightGradient += cost.weightGradient;
}

/// What positions compute on one accelerator. Layers of a kind cost the same.
class PassTimer
{
  public:
    PassTimer(const JobSpec& job, const GpuSpec& gpu)
        : m_job(job),
          m_gpu(gpu)
    {
    }

    PassTimes Of(const StageLayers& layers)
    {
        PassTimes sum;
        for (uint32_t i = 0; i < layers.count; i++)
        {
            const LayerCost& cost = OfLayer(layers.first + i, i);
            Add(sum, cost.attention);
            Add(sum, cost.mlp);
        }
        if (layers.embedding)
        {
            Add(sum, CostOfEmbedding(m_job.model, m_job.workload, m_job.plan, m_gpu));
        }
        if (layers.head)
        {
            const ComputeCost head = CostOfHead(m_job.model, m_job.workload, m_job.plan, m_gpu);
            for (uint32_t i = 0; i <= m_job.model.mtpLayers; i++)
            {
                Add(sum, head);
            }
        }
        return sum;
    }

  private:
    /// Of a layer that is the i-th of its position.
    const LayerCost& OfLayer(uint32_t layer, uint32_t i)
    {
        const bool behind = m_job.plan.recomputeLayers > 0 && i >= m_job.plan.recomputeLayers;
        std::optional<LayerCost>& known = m_layers[m_job.model.KindOf(layer)][behind ? 1 : 0];
        if (!known)
        {
            known = CostOfLayer(m_job.model, m_job.workload, m_job.plan.OfLayer(i), m_gpu, layer);
        }
        return *known;
    }

    const JobSpec& m_job;
    const GpuSpec& m_gpu;
    std::array<std::array<std::optional<LayerCost>, 2>, ModelSpec::kLayerKinds> m_layers;
};

Duration
HopBetween(const ClusterSpec& cluster, const GpuSpec& gpu, Rank from, Rank to, Bytes bytes)
{
    const FabricPath path = PathBetween(cluster, from, to);
    double rate = gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency;
    if (!path.rates.empty())
    {
        const auto slowest =
            std::min_element(path.rates.begin(), path.rates.end(), [](BitRate a, BitRate b) {
                return a.Value() < b.Value();
            });
        rate = slowest->Value();
    }
    return path.propagation + Duration::Seconds(static_cast<double>(bytes.Count()) * 8 / rate);
}

} // namespace

PipelineShape
PipelineShapeOf(const JobSpec& job)
{
    PipelineShape shape;
    shape.schedule = job.plan.schedule;
    shape.ranks = job.plan.pp;
    shape.microbatches = static_cast<uint32_t>(
        std::max<uint64_t>(job.workload.globalBatch / (uint64_t{job.plan.dp} * job.plan.microbatch),
                           1));
    shape.chunks = job.plan.chunks;
    shape.round = job.plan.round;
    shape.inFlight = job.plan.inFlight;
    return shape;
}

PipelineShape
PipelineShapeOf(const Scenario& scenario, const RankLayout& layout)
{
    PipelineShape shape = PipelineShapeOf(scenario.Job());
    if (shape.schedule->Facts().usesTimes)
    {
        shape.times = std::make_shared<const PipelineTimes>(PipelineTimesOf(scenario, layout));
    }
    return shape;
}

Bytes
PipelineMessageBytes(const JobSpec& job)
{
    const uint64_t elements =
        uint64_t{job.workload.sequence} * job.plan.microbatch * job.model.hidden;
    return Bytes(2 * elements / (uint64_t{job.plan.cp} * job.plan.tp));
}

PassTimes
LeastModelTimes(const JobSpec& job, const std::vector<const GpuSpec*>& gpus)
{
    ParallelPlan whole = job.plan;
    whole.pp = whole.chunks = 1;
    whole.layers = LayerLayout();
    const StageLayers all = SplitLayers(job.model, whole).front();
    std::vector<StageLayers> pieces = {{0, 0, true, false}, {all.count, 0, false, true}};
    for (uint32_t layer = 0; layer < all.count; layer++)
    {
        pieces.push_back({layer, 1, false, false});
    }
    std::vector<PassTimes> least(pieces.size());
    for (size_t g = 0; g < gpus.size(); g++)
    {
        PassTimer timer(job, *gpus[g]);
        for (size_t i = 0; i < pieces.size(); i++)
        {
            const PassTimes times = timer.Of(pieces[i]);
            least[i] = g == 0 ? times : Lesser(least[i], times);
        }
    }
    PassTimes sum;
    for (const PassTimes& times : least)
    {
        sum += times;
    }
    return sum;
}

std::vector<PassTimes>
PassTimesOf(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    const PipelineShape shape = PipelineShapeOf(job);
    const auto split = LayersOf(scenario, layout);
    std::vector<PassTimes> passes;
    std::map<uint32_t, PassTimer> timers; // by building
    for (uint32_t position = 0; position < split.size(); position++)
    {
        const uint32_t building = layout.BuildingOf(layout.FirstOf(RankOf(shape, position)));
        const GpuSpec& gpu = scenario.cluster.buildings[building].gpu;
        PassTimer& timer = timers.try_emplace(building, job, gpu).first->second;
        passes.push_back(timer.Of(split[position]));
    }
    return passes;
}

PipelineTimes
PipelineTimesOf(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    const PipelineShape shape = PipelineShapeOf(job);
    const Bytes bytes = PipelineMessageBytes(job);
    PipelineTimes times;
    times.passes = PassTimesOf(scenario, layout);
    for (uint32_t position = 0; position + 1 < times.passes.size(); position++)
    {
        const Rank rank = layout.FirstOf(RankOf(shape, position));
        const Rank next = layout.FirstOf(RankOf(shape, position + 1));
        const GpuSpec& gpu = scenario.cluster.buildings[layout.BuildingOf(rank)].gpu;
        times.hops.push_back(next == rank ? Duration()
                                          : HopBetween(scenario.cluster, gpu, rank, next, bytes));
    }
    return times;
}

} // namespace scaleacross
