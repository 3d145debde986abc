// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/trace-graph.h"

#include <string>
#include <utility>

namespace scaleacross
{

std::variant<RankLayout, Infeasible>
LayOutTrace(const Scenario& scenario)
{
    const TraceWork& work = *scenario.Job().trace->work;
    const uint32_t gpus = scenario.cluster.Gpus();
    if (work.graph.ranks != gpus)
    {
        return Infeasible{"ranks",
                          "there are traces of " + std::to_string(work.graph.ranks) +
                              " ranks, and the cluster has " + std::to_string(gpus) +
                              " GPUs: each replays one"};
    }
    auto layout = LayOut(work.plan, scenario.cluster);
    if (const auto* laid = std::get_if<RankLayout>(&layout); laid != nullptr && work.places)
    {
        if (laid->gpusPerNode != work.places->gpusPerNode ||
            laid->buildingBegin != work.places->buildingBegin)
        {
            return Infeasible{
                "places",
                "collectives of the trace are written for " +
                    std::to_string(work.places->buildingBegin.size() - 1) + " buildings and " +
                    std::to_string(work.places->gpusPerNode) +
                    " GPUs per node, and the cluster has " + std::to_string(laid->Buildings()) +
                    " and " + std::to_string(laid->gpusPerNode) +
                    ", or buildings of other sizes: trace.lower has them written anew"};
        }
    }
    return layout;
}

TaskGraph
BuildTraceGraph(const Scenario& scenario, const RankLayout& layout, const LoweringRules& rules)
{
    const TraceWork& work = *scenario.Job().trace->work;
    TaskGraph graph = work.graph;
    for (size_t i = 0; i < work.collectives.size(); i++)
    {
        if (const auto& said = work.collectives[i])
        {
            graph.collectives[i] =
                Lower(said->op, said->comm, said->bytes, said->group, layout, rules);
        }
    }
    const auto gpuOf = [&](const RankClass& rankClass) -> const GpuSpec& {
        return scenario.cluster.buildings[layout.BuildingOf(rankClass.representative)].gpu;
    };
    for (RankClass& rankClass : graph.classes)
    {
        const GpuSpec& gpu = gpuOf(rankClass);
        rankClass.collectiveShare = {gpu.CollectiveShare(),
                                     gpu.gemm.processors,
                                     gpu.MostForChannels()};
    }
    for (const TraceCompute& compute : work.computes)
    {
        RankClass& rankClass = graph.classes[compute.classId];
        rankClass.program.ops[compute.op].duration =
            ComputeTime(compute.work, gpuOf(rankClass).bf16Peak);
    }
    return graph;
}

} // namespace scaleacross
