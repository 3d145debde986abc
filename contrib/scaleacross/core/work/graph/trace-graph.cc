// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/trace-graph.h"

#include <algorithm>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

TracePlaces
PlacesOf(const ClusterSpec& cluster)
{
    TracePlaces places{cluster.buildings.front().gpusPerNode, {0}};
    for (const BuildingSpec& building : cluster.buildings)
    {
        places.buildingBegin.push_back(places.buildingBegin.back() + building.gpus);
    }
    return places;
}

/// "buildings of 32 + 32 GPUs, 8 per node".
std::string
ToString(const TracePlaces& places)
{
    std::string text = "buildings of ";
    for (size_t i = 1; i < places.buildingBegin.size(); i++)
    {
        text += (i == 1 ? "" : " + ") +
                std::to_string(places.buildingBegin[i] - places.buildingBegin[i - 1]);
    }
    return text + " GPUs, " + std::to_string(places.gpusPerNode) + " per node";
}

} // namespace

std::vector<std::string>
TraceWarnings(const Scenario& scenario)
{
    const TraceWork& work = *scenario.Job().trace->work;
    std::vector<std::string> warnings = work.warnings;
    const NetworkPlan& network = scenario.network;
    const NetworkPlan usual;
    const auto says = [&work](const auto& matches) {
        return std::any_of(work.collectives.begin(), work.collectives.end(), matches);
    };
    const bool routes =
        network.allToAll->oncePerServer || network.allToAll->kernel != TokenKernel::None;
    if (routes && says([](const auto& one) { return one && one->op == CollectiveOp::AllToAll; }))
    {
        warnings.push_back("network.all_to_all is " + ToString(network.allToAll) +
                           ", which sends tokens once to each server; which tokens the "
                           "all-to-alls of the traces are is not known, and they go direct");
    }
    const bool changed =
        network.collective != usual.collective || network.allToAll != usual.allToAll ||
        network.collectiveChunk != usual.collectiveChunk || network.channels != usual.channels;
    if (changed && !work.graph.collectives.empty() &&
        !says([](const auto& one) { return one.has_value(); }))
    {
        warnings.push_back("the traces have the phases of their collectives, so that "
                           "network.collective, all_to_all, collective_chunk and channels have no "
                           "effect: trace.lower has them written anew");
    }
    return warnings;
}

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
    const TracePlaces here = PlacesOf(scenario.cluster);
    if (work.places && (work.places->gpusPerNode != here.gpusPerNode ||
                        work.places->buildingBegin != here.buildingBegin))
    {
        return Infeasible{"places",
                          "collectives of the trace are written for " + ToString(*work.places) +
                              ", and the cluster has " + ToString(here) +
                              ": trace.lower has them written anew"};
    }
    return LayOut(work.plan, scenario.cluster);
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
        const GpuSpec& gpu = gpuOf(rankClass);
        rankClass.program.ops[compute.op].duration =
            std::max(ComputeTime(compute.work, gpu.bf16Peak),
                     SerialisationTime(compute.memory, gpu.hbmBandwidth));
    }
    return graph;
}

} // namespace scaleacross
