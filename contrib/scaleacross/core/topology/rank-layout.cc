// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/rank-layout.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

namespace scaleacross
{

namespace
{

std::optional<Infeasible>
CheckDegrees(const ParallelPlan& plan, uint32_t gpus)
{
    const std::string product = "tp " + std::to_string(plan.tp) + " x cp " +
                                std::to_string(plan.cp) + " x pp " + std::to_string(plan.pp) +
                                " x dp " + std::to_string(plan.dp);
    if (plan.tp == 0 || plan.cp == 0 || plan.ep == 0 || plan.pp == 0 || plan.dp == 0)
    {
        return Infeasible{"degrees", "a parallel degree is 0 in " + product};
    }
    if (plan.Ranks() != gpus)
    {
        return Infeasible{"degrees",
                          product + " is " + std::to_string(plan.Ranks()) +
                              " ranks, but the cluster has " + std::to_string(gpus) + " GPUs"};
    }
    if (plan.dp % plan.ep != 0)
    {
        return Infeasible{"degrees",
                          "ep " + std::to_string(plan.ep) + " does not divide dp " +
                              std::to_string(plan.dp)};
    }
    return std::nullopt;
}

/// Every dimension must start on a whole fraction or a whole multiple of a node: then every node
/// has the same place in the lattice, and equal ranks meet equal links.
std::optional<Infeasible>
CheckNodes(const RankLayout& layout, const ClusterSpec& cluster)
{
    const uint32_t node = layout.gpusPerNode;
    for (const auto& building : cluster.buildings)
    {
        if (building.gpusPerNode != node)
        {
            return Infeasible{"node",
                              "buildings have nodes of " + std::to_string(node) + " and of " +
                                  std::to_string(building.gpusPerNode) + " GPUs"};
        }
    }
    const ParallelPlan& plan = layout.plan;
    if (node % plan.tp != 0)
    {
        return Infeasible{"node",
                          "tp " + std::to_string(plan.tp) + " does not divide the " +
                              std::to_string(node) + " GPUs of a node"};
    }

    struct Dimension
    {
        const char* name;
        uint32_t stride;
        uint32_t count;
    };

    const Dimension dimensions[] = {{"cp", layout.cpStride, plan.cp},
                                    {"ep", layout.epStride, plan.ep},
                                    {"pp", layout.ppStride, plan.pp},
                                    {"dp", layout.edpStride, plan.dp / plan.ep}};
    for (const auto& dimension : dimensions)
    {
        if (dimension.count > 1 && node % dimension.stride != 0 && dimension.stride % node != 0)
        {
            return Infeasible{
                "node",
                std::string("neighbours in ") + dimension.name + " are " +
                    std::to_string(dimension.stride) + " ranks apart, which neither divides the " +
                    std::to_string(node) + " GPUs of a node nor is a multiple of them"};
        }
    }
    return std::nullopt;
}

std::optional<Infeasible>
CheckBuildings(const RankLayout& layout, const ClusterSpec& cluster)
{
    const ParallelPlan& plan = layout.plan;
    const bool pipeline = plan.crossing == Crossing::Pipeline;
    if (pipeline && plan.pp < cluster.buildings.size())
    {
        return Infeasible{"crossing",
                          "pp " + std::to_string(plan.pp) + " gives fewer stages than the " +
                              std::to_string(cluster.buildings.size()) +
                              " buildings that the pipeline should cross"};
    }
    const uint32_t whole = pipeline ? layout.ppStride : layout.edpStride;
    const std::string what =
        pipeline ? "a stage of tp x cp x dp = " : "replicas of tp x cp x ep x pp = ";
    for (size_t b = 0; b < cluster.buildings.size(); b++)
    {
        if (cluster.buildings[b].gpus % whole != 0)
        {
            return Infeasible{"building",
                              "building '" + cluster.buildings[b].name + "' has " +
                                  std::to_string(cluster.buildings[b].gpus) +
                                  " GPUs, no multiple of " + what + std::to_string(whole) +
                                  " ranks"};
        }
    }
    return std::nullopt;
}

} // namespace

uint32_t
RankLayout::BuildingOf(Rank rank) const
{
    const auto after = std::upper_bound(buildingBegin.begin(), buildingBegin.end(), rank);
    return static_cast<uint32_t>(after - buildingBegin.begin()) - 1;
}

RankGroup
RankLayout::TensorGroup() const
{
    return RankGroup({{1, plan.tp}});
}

RankGroup
RankLayout::ContextGroup() const
{
    return RankGroup({{cpStride, plan.cp}});
}

RankGroup
RankLayout::ExpertGroup() const
{
    return RankGroup({{epStride, plan.ep}});
}

RankGroup
RankLayout::DenseDataGroup() const
{
    return RankGroup({{cpStride, plan.cp}, {epStride, plan.ep}, {edpStride, plan.dp / plan.ep}});
}

RankGroup
RankLayout::ExpertDataGroup() const
{
    return RankGroup({{cpStride, plan.cp}, {edpStride, plan.dp / plan.ep}});
}

std::variant<RankLayout, Infeasible>
LayOut(const ParallelPlan& plan, const ClusterSpec& cluster)
{
    if (const auto bad = CheckDegrees(plan, cluster.Gpus()))
    {
        return *bad;
    }
    RankLayout layout;
    layout.plan = plan;
    layout.ranks = cluster.Gpus();
    layout.gpusPerNode = cluster.buildings.front().gpusPerNode;
    layout.cpStride = plan.tp;
    layout.epStride = layout.cpStride * plan.cp;
    if (plan.crossing == Crossing::Data)
    {
        layout.ppStride = layout.epStride * plan.ep;
        layout.edpStride = layout.ppStride * plan.pp;
    }
    else
    {
        layout.edpStride = layout.epStride * plan.ep;
        layout.ppStride = layout.edpStride * (plan.dp / plan.ep);
    }
    if (const auto bad = CheckNodes(layout, cluster))
    {
        return *bad;
    }
    if (const auto bad = CheckBuildings(layout, cluster))
    {
        return *bad;
    }
    layout.buildingBegin.push_back(0);
    for (const auto& building : cluster.buildings)
    {
        layout.buildingBegin.push_back(layout.buildingBegin.back() + building.gpus);
        layout.buildingSpan = std::gcd(layout.buildingSpan, layout.buildingBegin.back());
    }
    return layout;
}

} // namespace scaleacross
