// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/rank-layout.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>

namespace scaleacross
{

namespace
{

/// One digit of a rank's number.
struct Digit
{
    Dimension dimension{Dimension::Tensor};
    RankGroup::Axis axis{1, 1};
};

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

uint32_t
DegreeOf(const ParallelPlan& plan, Dimension dimension)
{
    switch (dimension)
    {
    case Dimension::Tensor:
        return plan.tp;
    case Dimension::Context:
        return plan.cp;
    case Dimension::Expert:
        return plan.ep;
    case Dimension::Pipeline:
        return plan.pp;
    case Dimension::Data:
        return plan.dp / plan.ep;
    }
    return 1;
}

/// The digits of a rank's number, inner to outer.
std::variant<std::vector<Digit>, Infeasible>
DigitsOf(const ParallelPlan& plan)
{
    const Crossing& order = plan.crossing;
    std::array<uint64_t, kDimensions> counted; // by dimension: product of the counts given
    counted.fill(1);
    for (uint32_t i = 0; i < order.size; i++)
    {
        counted[static_cast<size_t>(order.parts[i].dimension)] *=
            std::max(1U, order.parts[i].count);
    }
    std::vector<Digit> digits;
    uint32_t stride = 1;
    for (uint32_t i = 0; i < order.size; i++)
    {
        const Dimension dimension = order.parts[i].dimension;
        const uint64_t others = counted[static_cast<size_t>(dimension)];
        const uint32_t degree = DegreeOf(plan, dimension);
        if (degree % others != 0)
        {
            return Infeasible{"degrees",
                              "the " + std::to_string(others) + " of " + ToString(dimension) +
                                  " in " + ToString(order) + " do not divide its degree " +
                                  std::to_string(degree)};
        }
        const uint32_t count = order.parts[i].count != 0 ? order.parts[i].count
                                                         : degree / static_cast<uint32_t>(others);
        digits.push_back({dimension, {stride, count}});
        stride *= count;
    }
    return digits;
}

/// Every dimension must begin on a whole fraction or a whole multiple of a node and end on one:
/// then every node has the same place in the lattice, and equal ranks meet equal links.
std::optional<Infeasible>
CheckNodes(const std::vector<Digit>& digits, const ClusterSpec& cluster)
{
    const uint32_t node = cluster.buildings.front().gpusPerNode;
    for (const auto& building : cluster.buildings)
    {
        if (building.gpusPerNode != node)
        {
            return Infeasible{"node",
                              "buildings have nodes of " + std::to_string(node) + " and of " +
                                  std::to_string(building.gpusPerNode) + " GPUs"};
        }
    }
    for (const auto& digit : digits)
    {
        const auto [stride, count] = digit.axis;
        if (count == 1)
        {
            continue;
        }
        if (node % stride != 0 && stride % node != 0)
        {
            return Infeasible{
                "node",
                "neighbours in " + ToString(digit.dimension) + " are " + std::to_string(stride) +
                    " ranks apart, which neither divides the " + std::to_string(node) +
                    " GPUs of a node nor is a multiple of them"};
        }
        if (!RankGroup({digit.axis}).CanSplitAt(node))
        {
            return Infeasible{"node",
                              ToString(digit.dimension) + " " + std::to_string(count) +
                                  " of every " + std::to_string(stride) +
                                  ". rank takes no whole number of nodes of " +
                                  std::to_string(node) + " GPUs"};
        }
    }
    return std::nullopt;
}

/// A named crossing promises that nothing but its outermost dimension crosses buildings.
std::optional<Infeasible>
CheckNamed(const ParallelPlan& plan, const Digit& outermost, const ClusterSpec& cluster)
{
    const auto [whole, count] = outermost.axis;
    if (plan.crossing != Crossing::Data && count < cluster.buildings.size())
    {
        return Infeasible{
            "crossing",
            ToString(outermost.dimension) + " " + std::to_string(count) + " gives fewer " +
                (outermost.dimension == Dimension::Pipeline ? "stages" : "parts") + " than the " +
                std::to_string(cluster.buildings.size()) + " buildings that it should cross"};
    }
    const std::string what = plan.crossing == Crossing::Data ? "replicas of tp x cp x ep x pp = "
                             : plan.crossing == Crossing::Pipeline
                                 ? "a stage of tp x cp x dp = "
                                 : "a part of tp x cp x pp x dp/ep = ";
    for (const auto& building : cluster.buildings)
    {
        if (building.gpus % whole != 0)
        {
            return Infeasible{"building",
                              "building '" + building.name + "' has " +
                                  std::to_string(building.gpus) + " GPUs, no multiple of " + what +
                                  std::to_string(whole) + " ranks"};
        }
    }
    return std::nullopt;
}

std::optional<Infeasible>
CheckSpan(const std::vector<Digit>& digits, uint32_t span)
{
    for (const auto& digit : digits)
    {
        const auto [stride, count] = digit.axis;
        const bool begins = stride <= span ? span % stride == 0 : stride % span == 0;
        if (count > 1 && (!begins || !RankGroup({digit.axis}).CanSplitAt(span)))
        {
            return Infeasible{"building",
                              ToString(digit.dimension) + " " + std::to_string(count) +
                                  ", whose neighbours are " + std::to_string(stride) +
                                  " ranks apart, is cut unevenly by buildings, whose sizes have "
                                  "the greatest common divisor " +
                                  std::to_string(span)};
        }
    }
    return std::nullopt;
}

RankGroup
GroupOf(const std::vector<Digit>& digits, std::initializer_list<Dimension> dimensions)
{
    std::vector<RankGroup::Axis> axes;
    for (const auto& digit : digits)
    {
        if (std::find(dimensions.begin(), dimensions.end(), digit.dimension) != dimensions.end())
        {
            axes.push_back(digit.axis);
        }
    }
    return RankGroup(axes);
}

/// Ranks of every stage in every building, block by block of buildingSpan ranks.
std::vector<uint32_t>
CountStages(const RankLayout& layout)
{
    const uint32_t pp = layout.plan.pp;
    const uint32_t span = layout.buildingSpan;
    const auto halves = layout.pipeline.SplitAt(span);
    const uint32_t inside = halves.inner.Size(); // stages in a block, in sequence
    std::vector<uint32_t> ranks(size_t{layout.Buildings()} * pp, 0);
    for (uint32_t b = 0; b < layout.Buildings(); b++)
    {
        for (Rank block = layout.buildingBegin[b]; block < layout.buildingBegin[b + 1];
             block += span)
        {
            const uint32_t first = halves.outer.IndexOf(block) * inside;
            for (uint32_t stage = first; stage < first + inside; stage++)
            {
                ranks[b * pp + stage] += span / inside;
            }
        }
    }
    return ranks;
}

} // namespace

uint32_t
RankLayout::BuildingOf(Rank rank) const
{
    const auto after = std::upper_bound(buildingBegin.begin(), buildingBegin.end(), rank);
    return static_cast<uint32_t>(after - buildingBegin.begin()) - 1;
}

uint32_t
RankLayout::TakingPartIn(uint32_t building) const
{
    return static_cast<uint32_t>(std::count(takingPart.begin() + buildingBegin[building],
                                            takingPart.begin() + buildingBegin[building + 1],
                                            true));
}

bool
RankLayout::Crosses(const RankGroup& group) const
{
    return group.SplitAt(buildingSpan).outer.Size() > 1;
}

std::variant<RankLayout, Infeasible>
LayOut(const ParallelPlan& plan, const ClusterSpec& cluster)
{
    if (const auto bad = CheckDegrees(plan, cluster.Gpus()))
    {
        return *bad;
    }
    const auto order = DigitsOf(plan);
    if (const auto* bad = std::get_if<Infeasible>(&order))
    {
        return *bad;
    }
    const auto& digits = std::get<std::vector<Digit>>(order);
    if (const auto bad = CheckNodes(digits, cluster))
    {
        return *bad;
    }
    if (plan.crossing.IsNamed())
    {
        if (const auto bad = CheckNamed(plan, digits.back(), cluster))
        {
            return *bad;
        }
    }
    RankLayout layout;
    layout.plan = plan;
    layout.ranks = cluster.Gpus();
    layout.gpusPerNode = cluster.buildings.front().gpusPerNode;
    layout.buildingBegin.push_back(0);
    for (const auto& building : cluster.buildings)
    {
        layout.buildingBegin.push_back(layout.buildingBegin.back() + building.gpus);
        layout.buildingSpan = std::gcd(layout.buildingSpan, layout.buildingBegin.back());
    }
    if (const auto bad = CheckSpan(digits, layout.buildingSpan))
    {
        return *bad;
    }
    using D = Dimension;
    layout.tensor = GroupOf(digits, {D::Tensor});
    layout.context = GroupOf(digits, {D::Context});
    layout.expert = GroupOf(digits, {D::Expert});
    layout.pipeline = GroupOf(digits, {D::Pipeline});
    layout.dense = GroupOf(digits, {D::Context, D::Expert, D::Data});
    layout.experts = GroupOf(digits, {D::Context, D::Data});
    layout.stageRanks = CountStages(layout);
    return layout;
}

} // namespace scaleacross
