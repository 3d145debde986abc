// SPDX-License-Identifier: GPL-2.0-only

#include "cli/collective-refusal.h"

#include "core/base/text.h"
#include "core/topology/server-split.h"
#include "core/work/graph/collective-graph.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

ConfigError
GroupRefusal(const Infeasible& no, const RankLayout& layout)
{
    std::vector<std::string> words;
    for (size_t i = 0; i < CollectiveGroupWords().size(); i++)
    {
        if (std::holds_alternative<RankGroup>(GroupOf(static_cast<CollectiveGroup>(i), layout)))
        {
            words.push_back(CollectiveGroupWords()[i]);
        }
    }
    if (words.empty())
    {
        return ConfigError("--group", no.detail, "two GPUs or more", "take more GPUs");
    }
    return ConfigError("--group", no.detail, AnyOf(words), "take one of these");
}

ConfigError
GroupsRefusal(const Infeasible& no, const RankGroup& group, const RankLayout& layout)
{
    const uint32_t groups = layout.ranks / group.Size();
    return ConfigError("--groups",
                       no.detail,
                       (groups > 1 ? "1 to " : "") + std::to_string(groups),
                       "leave --groups out for all of them");
}

ConfigError
ExpertsRefusal(const Infeasible& no, const TokenSpec& tokens, const RankGroup& group)
{
    const uint32_t members = group.Size();
    const uint32_t fewer = tokens.experts / members * members;
    const bool lessDo = fewer > 0 && fewer >= tokens.topK;
    return ConfigError("--experts",
                       no.detail,
                       "a multiple of " + std::to_string(members),
                       "take " + (lessDo ? std::to_string(fewer) + " or " : "") +
                           std::to_string(fewer + members));
}

/// Domain: experts lie evenly over the servers.
ConfigError
MaxNodesRefusal(const Infeasible& no,
                const TokenSpec& tokens,
                const RankGroup& group,
                const RankLayout& layout)
{
    const uint32_t perServer = tokens.experts / ServerSplit(group, layout).Servers();
    const std::string least = std::to_string((tokens.topK + perServer - 1) / perServer);
    return ConfigError("--max-nodes",
                       no.detail,
                       least + " or more, or 0 for any number",
                       "take " + least + ", or a --top-k of up to " +
                           std::to_string(tokens.maxNodes * perServer));
}

} // namespace

ConfigError
RefusalOf(const Infeasible& no, const CollectiveSpec& spec, const RankLayout& layout)
{
    const auto group = GroupOf(spec.group, layout);
    if (no.reason == "group")
    {
        return GroupRefusal(no, layout);
    }
    if (no.reason == "groups")
    {
        return GroupsRefusal(no, std::get<RankGroup>(group), layout);
    }
    if (no.reason == "experts")
    {
        return ExpertsRefusal(no, spec.tokens, std::get<RankGroup>(group));
    }
    if (no.reason == "max_nodes")
    {
        return MaxNodesRefusal(no, spec.tokens, std::get<RankGroup>(group), layout);
    }
    return ConfigError("cluster", no.detail, "", "");
}

RankLayout
CollectiveLayout(const ClusterSpec& cluster)
{
    auto layout = LayOutCollective(cluster);
    if (const auto* no = std::get_if<Infeasible>(&layout))
    {
        // With nothing but data parallelism there is no other reason.
        throw ConfigError("cluster.buildings",
                          // which ends in what to do, for reports
                          no->detail.substr(0, no->detail.find(": ")),
                          "one gpus_per_node in all of them",
                          "give all of them one that divides the gpus of each");
    }
    return std::get<RankLayout>(std::move(layout));
}

} // namespace scaleacross
