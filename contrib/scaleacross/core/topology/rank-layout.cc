// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/rank-layout.h"

#include "core/topology/rank-digits.h"

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
        return Infeasible{"degrees", "a parallel degree is 0 in " + product + ": take 1 or more"};
    }
    if (plan.Ranks() != gpus)
    {
        return Infeasible{"degrees",
                          product + " is " + std::to_string(plan.Ranks()) +
                              " ranks, but the cluster has " + std::to_string(gpus) +
                              " GPUs: take degrees with that product, or leave plan.dp out"};
    }
    return CheckExperts(plan);
}

/// Every dimension must begin on a whole fraction or a whole multiple of a node and end on one:
/// then every node has the same place in the lattice, and equal ranks meet equal links.
std::optional<Infeasible>
CheckNodes(const RankDigits& digits, const ClusterSpec& cluster)
{
    const uint32_t node = cluster.buildings.front().gpusPerNode;
    const std::string remedy = ": take degrees that divide a node or are multiples of one, or "
                               "another order of them (plan.crossing)";
    for (const auto& building : cluster.buildings)
    {
        if (building.gpusPerNode != node)
        {
            return Infeasible{"node",
                              "buildings have nodes of " + std::to_string(node) + " and of " +
                                  std::to_string(building.gpusPerNode) +
                                  " GPUs: give all the same gpus_per_node"};
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
            return Infeasible{"node",
                              "neighbours in " + digit.name + " are " + std::to_string(stride) +
                                  " ranks apart, which neither divides the " +
                                  std::to_string(node) +
                                  " GPUs of a node nor is a multiple of them" + remedy};
        }
        if (!RankGroup({digit.axis}).CanSplitAt(node))
        {
            return Infeasible{"node",
                              digit.name + " " + std::to_string(count) + " of every " +
                                  std::to_string(stride) +
                                  ". rank takes no whole number of nodes of " +
                                  std::to_string(node) + " GPUs" + remedy};
        }
    }
    return std::nullopt;
}

/// A named crossing promises that nothing but its outermost dimension crosses buildings.
std::optional<Infeasible>
CheckNamed(const ParallelPlan& plan, const RankDigit& outermost, const ClusterSpec& cluster)
{
    const auto [whole, count] = outermost.axis;
    if (plan.crossing != Crossing::Data && count < cluster.buildings.size())
    {
        const bool stages = outermost.dimension == Dimension::Pipeline;
        const std::string counted = outermost.name + " " + std::to_string(count);
        const std::string common = "ep " + std::to_string(plan.ep) + " and dp " +
                                   std::to_string(plan.dp) + ", of which " + std::to_string(count) +
                                   " is the greatest common divisor,";
        return Infeasible{"crossing",
                          (plan.FoldsExperts() && !stages ? common : counted) + " gives fewer " +
                              (stages ? "stages" : "parts") + " than the " +
                              std::to_string(cluster.buildings.size()) +
                              " buildings that it should cross: take as many or more, or another "
                              "plan.crossing"};
    }
    const std::string what =
        plan.crossing == Crossing::Pipeline ? "a stage of tp x cp x dp = "
        : plan.crossing == Crossing::Data
            ? (plan.FoldsExperts() ? "pp stages of whole tp x cp and etp x ep = "
                                   : "replicas of tp x cp x ep x pp = ")
            : (plan.FoldsExperts() ? "a part of ep = " : "a part of tp x cp x pp x dp/ep = ");
    for (const auto& building : cluster.buildings)
    {
        if (building.gpus % whole != 0)
        {
            return Infeasible{"building",
                              "building '" + building.name + "' has " +
                                  std::to_string(building.gpus) + " GPUs, no multiple of " + what +
                                  std::to_string(whole) +
                                  " ranks: take degrees whose product divides them, or another "
                                  "plan.crossing"};
        }
    }
    return std::nullopt;
}

std::optional<Infeasible>
CheckSpan(const RankDigits& digits, uint32_t span)
{
    for (const auto& digit : digits)
    {
        const auto [stride, count] = digit.axis;
        const bool begins = stride <= span ? span % stride == 0 : stride % span == 0;
        if (count > 1 && (!begins || !RankGroup({digit.axis}).CanSplitAt(span)))
        {
            return Infeasible{"building",
                              digit.name + " " + std::to_string(count) + ", whose neighbours are " +
                                  std::to_string(stride) +
                                  " ranks apart, is cut unevenly by buildings, whose sizes have "
                                  "the greatest common divisor " +
                                  std::to_string(span) +
                                  ": take degrees that divide there, or another order of them "
                                  "(plan.crossing)"};
        }
    }
    return std::nullopt;
}

/// @param ofExperts empty where experts follow the dense layout.
void
SetGroups(const RankDigits& digits, const RankDigits& ofExperts, RankLayout& layout)
{
    using D = Dimension;
    layout.tensor = GroupOf(digits, {D::Tensor});
    layout.context = GroupOf(digits, {D::Context});
    layout.pipeline = GroupOf(digits, {D::Pipeline});
    layout.dense = GroupOf(digits, {D::Context, D::Expert, D::Data});
    const bool folded = layout.plan.FoldsExperts();
    const RankDigits& counted = folded ? ofExperts : digits;
    layout.expertTensor = GroupOf(counted, {D::Tensor});
    layout.expert = GroupOf(counted, {D::Expert});
    layout.experts = folded ? GroupOf(counted, {D::Data}) : GroupOf(counted, {D::Context, D::Data});
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
RankLayout::TakingPartIn(uint32_t building, uint32_t stage) const
{
    uint32_t count = 0;
    for (Rank rank = buildingBegin[building]; rank < buildingBegin[building + 1]; rank++)
    {
        count += takingPart[rank] && StageOf(rank) == stage ? 1 : 0;
    }
    return count;
}

bool
RankLayout::Crosses(const RankGroup& group) const
{
    return group.SplitAt(buildingSpan).outer.Size() > 1;
}

namespace
{

/// Whether plan.shard_ranks cuts the data-parallel groups evenly.
std::optional<Infeasible>
CheckShards(const RankLayout& layout)
{
    const uint32_t shard = layout.plan.shardRanks;
    if (shard > 0 && !layout.plan.sharding->insideBuildings)
    {
        return Infeasible{"degrees",
                          "shard_ranks " + std::to_string(shard) + " is of hsdp, and sharding is " +
                              ToString(layout.plan.sharding) + ": leave it out, or take hsdp"};
    }
    if (shard == 0 || shard == layout.dense.Size())
    {
        return std::nullopt;
    }
    const uint32_t span = layout.ShardSpan();
    if (shard < layout.dense.Size() && layout.dense.Size() % shard == 0 &&
        layout.dense.CanSplitAt(span) && layout.experts.CanSplitAt(span) &&
        layout.dense.SplitAt(span).inner.Size() == shard)
    {
        return std::nullopt;
    }
    return Infeasible{"degrees",
                      "shard_ranks " + std::to_string(shard) +
                          " does not cut the data-parallel groups of " +
                          std::to_string(layout.dense.Size()) +
                          " evenly: take a divisor of these that ends on whole servers or "
                          "buildings, or 0, which shares inside buildings"};
}

} // namespace

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
    const auto& digits = std::get<RankDigits>(order);
    RankDigits ofExperts;
    if (plan.FoldsExperts())
    {
        auto found = ExpertDigitsOf(plan, digits);
        if (const auto* bad = std::get_if<Infeasible>(&found))
        {
            return *bad;
        }
        ofExperts = std::get<RankDigits>(std::move(found));
    }
    RankDigits all = digits;
    all.insert(all.end(), ofExperts.begin(), ofExperts.end());
    if (const auto bad = CheckNodes(all, cluster))
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
    if (const auto bad = CheckSpan(all, layout.buildingSpan))
    {
        return *bad;
    }
    SetGroups(digits, ofExperts, layout);
    if (const auto bad = CheckShards(layout))
    {
        return *bad;
    }
    layout.stageRanks = CountStages(layout);
    return layout;
}

} // namespace scaleacross
