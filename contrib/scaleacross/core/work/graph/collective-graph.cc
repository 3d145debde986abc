// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/graph/collective-graph.h"

#include "core/topology/server-split.h"
#include "core/work/collectives/block-kinds.h"
#include "core/work/collectives/collective-table.h"
#include "core/work/graph/task-graph-builder.h"

#include <map>
#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

/// An iteration of a rank that takes part.
Program
ProgramOf(uint32_t collective)
{
    Program program;
    Op begin;
    begin.kind = OpKind::Run;
    begin.action = Action::Forward;
    program.ops.push_back(begin);
    AppendCollective(collective, Stream::Tensor, 0, program);
    AppendWait(0, program);
    return program;
}

} // namespace

std::variant<RankLayout, Infeasible>
LayOutCollective(const ClusterSpec& cluster)
{
    ParallelPlan plan;
    plan.dp = cluster.Gpus();
    return LayOut(plan, cluster);
}

std::variant<RankGroup, Infeasible>
GroupOf(CollectiveGroup group, const RankLayout& layout)
{
    const uint32_t span = layout.buildingSpan;
    const uint32_t node = layout.gpusPerNode;
    const auto buildings = static_cast<uint32_t>(layout.buildingBegin.size() - 1);
    RankGroup ranks;
    switch (group)
    {
    case CollectiveGroup::All:
        ranks = RankGroup({{1, layout.ranks}});
        break;
    case CollectiveGroup::Across:
        if (buildings == 1)
        {
            return Infeasible{"group", "there is one building, so nothing goes across"};
        }
        ranks = RankGroup({{span, layout.ranks / span}});
        break;
    case CollectiveGroup::Building:
        // Each is a whole number of spans.
        if (layout.ranks != span * buildings)
        {
            return Infeasible{"group",
                              "the buildings differ in size, so that groups inside them would: " +
                                  std::to_string(layout.buildingBegin[1]) + " GPUs in the first, " +
                                  std::to_string(layout.ranks) + " in all " +
                                  std::to_string(buildings)};
        }
        ranks = RankGroup({{1, span}});
        break;
    case CollectiveGroup::Rail:
        ranks = RankGroup({{node, layout.ranks / node}});
        break;
    case CollectiveGroup::Node:
        ranks = RankGroup({{1, node}});
        break;
    }
    if (ranks.Size() == 1)
    {
        return Infeasible{"group",
                          "a group '" + ToString(group) + "' has one member, of " +
                              std::to_string(layout.ranks) + " GPUs, " + std::to_string(node) +
                              " per node"};
    }
    return ranks;
}

std::variant<RoutedTokens, Infeasible>
RoutedTokensOf(const CollectiveSpec& spec,
               const RankGroup& group,
               const RankLayout& layout,
               const LoweringRules& rules)
{
    constexpr Bytes kHeader{16};
    const TokenSpec& given = spec.tokens;
    const uint32_t members = group.Size();
    if (given.experts % members != 0)
    {
        return Infeasible{"experts",
                          std::to_string(given.experts) + " experts do not lie evenly over " +
                              std::to_string(members) + " members"};
    }
    const uint32_t servers = ServerSplit(group, layout).Servers();
    if (given.maxNodes > 0 && given.maxNodes < servers &&
        uint64_t{given.maxNodes} * (given.experts / servers) < given.topK)
    {
        return Infeasible{"max_nodes",
                          std::to_string(given.maxNodes) + " servers have " +
                              std::to_string(given.maxNodes * (given.experts / servers)) +
                              " experts, and a token goes to " + std::to_string(given.topK)};
    }
    RoutedTokens tokens;
    tokens.experts = given.experts;
    tokens.topK = given.topK;
    tokens.back = spec.op == CollectiveOp::Combine;
    tokens.groups = servers;
    tokens.maxGroups = given.maxNodes > 0 ? given.maxNodes : servers;
    tokens.token = given.TokenBytes(tokens.back);
    if (!tokens.back && rules.allToAll->kernel == TokenKernel::LowLatency)
    {
        tokens.token += kHeader;
    }
    tokens.bytes = tokens.token * given.topK * given.tokens;
    return tokens;
}

std::variant<TaskGraph, Infeasible>
BuildCollectiveGraph(const Scenario& scenario, const RankLayout& layout, const LoweringRules& rules)
{
    const CollectiveSpec& spec = *scenario.Job().collective;
    const auto found = GroupOf(spec.group, layout);
    if (const auto* no = std::get_if<Infeasible>(&found))
    {
        return *no;
    }
    const RankGroup& group = std::get<RankGroup>(found);
    const uint32_t groups = layout.ranks / group.Size();
    if (spec.groups > groups)
    {
        return Infeasible{"groups",
                          std::to_string(spec.groups) + " groups, but the " +
                              std::to_string(layout.ranks) + " GPUs form " +
                              std::to_string(groups) + " groups '" + ToString(spec.group) + "'"};
    }
    const uint32_t active = spec.groups == 0 ? groups : spec.groups;

    Collective lowered;
    if (spec.Routes())
    {
        const auto tokens = RoutedTokensOf(spec, group, layout, rules);
        if (const auto* no = std::get_if<Infeasible>(&tokens))
        {
            return *no;
        }
        lowered = LowerRouted(std::get<RoutedTokens>(tokens), group, layout, rules);
        lowered.name = ToString(spec.op);
    }
    else
    {
        lowered = Lower(spec.op, CommClass::Data, spec.bytes, group, layout, rules);
    }
    CollectiveTable table;
    const uint32_t collective = table.Add(std::move(lowered));
    const BlockKinds blocks(layout, group, rules.algorithm);
    const bool perBlock =
        layout.Buildings() > 1 && (blocks.MayDiffer() || !BuildingsAreAlike(scenario));
    const std::vector<uint32_t> kinds = perBlock ? blocks.Find() : std::vector<uint32_t>{};
    TaskGraph graph;
    graph.ranks = layout.ranks;
    graph.bodies.emplace_back();
    graph.handles = 1;
    graph.classOf.resize(layout.ranks);
    std::map<std::pair<bool, uint32_t>, uint32_t> classes; // (idle, kind of block) -> class
    uint32_t begun = 0;
    for (Rank rank = 0; rank < layout.ranks; rank++)
    {
        const Rank lowest = group.Member(rank, 0);
        begun += lowest == rank ? 1 : 0;
        // Ranks come in order, so a group that begins here is number begun - 1.
        const bool idle = lowest == rank ? begun > active
                                         : graph.classes[graph.classOf[lowest]].program.ops.empty();
        const std::pair<bool, uint32_t> key{idle, perBlock ? kinds[rank / layout.buildingSpan] : 0};
        const auto [entry, added] =
            classes.emplace(key, static_cast<uint32_t>(graph.classes.size()));
        if (added)
        {
            RankClass rankClass;
            rankClass.representative = rank;
            rankClass.program = idle ? Program() : ProgramOf(collective);
            graph.classes.push_back(std::move(rankClass));
        }
        graph.classOf[rank] = entry->second;
        graph.classes[entry->second].ranks++;
    }
    graph.collectives = table.Take();
    return graph;
}

} // namespace scaleacross
