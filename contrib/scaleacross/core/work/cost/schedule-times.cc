// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/cost/schedule-times.h"

#include "core/pipeline/pipeline-schedule.h"
#include "core/topology/fabric-graph.h"
#include "core/work/cost/compute-cost.h"
#include "core/work/partition/balance.h"

#include <algorithm>
#include <memory>

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

PassTimes
ComputeOf(const JobSpec& job, const GpuSpec& gpu, const StageLayers& layers)
{
    PassTimes sum;
    for (uint32_t i = 0; i < layers.count; i++)
    {
        const LayerCost cost =
            CostOfLayer(job.model, job.workload, job.plan.OfLayer(i), gpu, layers.first + i);
        Add(sum, cost.attention);
        Add(sum, cost.mlp);
    }
    if (layers.embedding)
    {
        Add(sum, CostOfEmbedding(job.model, job.workload, job.plan, gpu));
    }
    if (layers.head)
    {
        const ComputeCost head = CostOfHead(job.model, job.workload, job.plan, gpu);
        for (uint32_t i = 0; i <= job.model.mtpLayers; i++)
        {
            Add(sum, head);
        }
    }
    return sum;
}

Duration
HopBetween(const ClusterSpec& cluster, const GpuSpec& gpu, Rank from, Rank to, Bytes bytes)
{
    const FabricPath path = PathBetween(cluster, from, to);
    double rate = gpu.scaleUpBandwidth.Value() * gpu.scaleUpEfficiency * 8;
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

PipelineTimes
PipelineTimesOf(const Scenario& scenario, const RankLayout& layout)
{
    const JobSpec& job = scenario.Job();
    const PipelineShape shape = PipelineShapeOf(job);
    const auto split = LayersOf(scenario, layout);
    const Bytes bytes = PipelineMessageBytes(job);
    PipelineTimes times;
    for (uint32_t position = 0; position < split.size(); position++)
    {
        const Rank rank = layout.FirstOf(RankOf(shape, position));
        const GpuSpec& gpu = scenario.cluster.buildings[layout.BuildingOf(rank)].gpu;
        times.passes.push_back(ComputeOf(job, gpu, split[position]));
        if (position + 1 < split.size())
        {
            const Rank next = layout.FirstOf(RankOf(shape, position + 1));
            times.hops.push_back(
                next == rank ? Duration() : HopBetween(scenario.cluster, gpu, rank, next, bytes));
        }
    }
    return times;
}

} // namespace scaleacross
