// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/task-list-json.h"

#include "core/program/step-pattern.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

using Json = nlohmann::ordered_json;

const char*
WordOf(Stream stream)
{
    switch (stream)
    {
    case Stream::Tensor:
        return "tensor";
    case Stream::Context:
        return "context";
    case Stream::Expert:
        return "expert";
    case Stream::Gather:
        return "gather";
    case Stream::Reduce:
        return "reduce";
    }
    return "";
}

const char*
WordOf(Action action)
{
    switch (action)
    {
    case Action::Forward:
        return "forward";
    case Action::Backward:
        return "backward";
    case Action::InputGradient:
        return "input_gradient";
    case Action::WeightGradient:
        return "weight_gradient";
    case Action::Optimizer:
        return "optimizer";
    case Action::ForwardBackward:
        return "forward_backward";
    }
    return "";
}

const char*
WordOf(Pattern pattern)
{
    switch (pattern)
    {
    case Pattern::RingReduceScatter:
        return "ring_reduce_scatter";
    case Pattern::RingAllGather:
        return "ring_all_gather";
    case Pattern::DirectAllToAll:
        return "direct_all_to_all";
    case Pattern::SendToNext:
        return "send_to_next";
    case Pattern::JumpReduceScatter:
        return "jump_reduce_scatter";
    case Pattern::JumpAllGather:
        return "jump_all_gather";
    case Pattern::TwoWayReduceScatter:
        return "two_way_reduce_scatter";
    case Pattern::TwoWayAllGather:
        return "two_way_all_gather";
    case Pattern::DoubleTree:
        return "double_tree";
    case Pattern::SwitchAllGather:
        return "switch_all_gather";
    }
    return "";
}

Json
ToJson(const Op& op)
{
    switch (op.kind)
    {
    case OpKind::Compute:
        return {{"do", "compute"}, {"seconds", op.duration.S()}};
    case OpKind::Run: {
        Json json{{"do", "run"},
                  {"body", op.index},
                  {"action", WordOf(op.action)},
                  {"chunk", op.chunk},
                  {"microbatch", op.microbatch}};
        if (op.action == Action::ForwardBackward)
        {
            json["back_chunk"] = op.backChunk;
            json["back_microbatch"] = op.backMicrobatch;
        }
        return json;
    }
    case OpKind::PostReceive:
        return {{"do", "post_receive"}, {"message", op.index}, {"peer", op.peer}};
    case OpKind::Send:
        return {{"do", "send"},
                {"message", op.index},
                {"peer", op.peer},
                {"bytes", op.bytes.Count()}};
    case OpKind::Receive:
        return {{"do", "receive"},
                {"message", op.index},
                {"peer", op.peer},
                {"bytes", op.bytes.Count()}};
    case OpKind::Collective:
        return {{"do", "collective"},
                {"collective", op.index},
                {"stream", WordOf(op.stream)},
                {"handle", op.handle}};
    case OpKind::Wait:
        return {{"do", "wait"}, {"handle", op.handle}};
    }
    return {};
}

Json
ToJson(const std::vector<Op>& ops)
{
    Json json = Json::array();
    for (const Op& op : ops)
    {
        json.push_back(ToJson(op));
    }
    return json;
}

Json
ToJson(const Phase& phase, const RankLayout& layout, Rank rank)
{
    const bool moves = phase.group.Size() > 1;
    Json json{{"pattern", WordOf(phase.pattern)},
              {"bytes", phase.bytes.Count()},
              {"group", GroupJson(layout, phase.group, rank)},
              {"steps", moves ? StepCount(phase) : 0},
              {"sent_bytes", moves ? (phase.bytes * TimesSent(phase)).Count() : 0}};
    if (phase.pattern == Pattern::JumpAllGather || phase.pattern == Pattern::JumpReduceScatter)
    {
        json["shift"] = phase.shift;
        json["parts"] = phase.parts;
    }
    if (phase.pattern == Pattern::DoubleTree)
    {
        json["message_bytes"] = phase.chunk.Count();
    }
    if (phase.perServer > 1)
    {
        json["lane"] = phase.lane;
        json["lanes"] = phase.perServer;
    }
    return json;
}

/// Which rank's groups stand for those of each collective: of a class that does it the
/// representative, of the class whose group reaches farthest.
class Doers
{
  public:
    Doers(const TaskGraph& graph, const RankLayout& layout)
        : m_graph(graph),
          m_layout(layout),
          m_rank(graph.collectives.size())
    {
        for (const RankClass& rankClass : graph.classes)
        {
            std::vector<bool> seen(graph.bodies.size());
            Look(rankClass.program.ops, rankClass.representative, seen);
        }
    }

    /// Rank 0 of a collective that nobody does.
    Rank Of(size_t collective) const
    {
        return m_rank[collective].value_or(0);
    }

  private:
    void Look(const std::vector<Op>& ops, Rank rank, std::vector<bool>& seen)
    {
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Run && !seen[op.index])
            {
                seen[op.index] = true;
                Look(m_graph.bodies[op.index].ops, rank, seen);
            }
            else if (op.kind == OpKind::Collective)
            {
                const RankGroup& group = m_graph.collectives[op.index].call.group;
                std::optional<Rank>& known = m_rank[op.index];
                if (!known || Reach(group, rank) > Reach(group, *known))
                {
                    known = rank;
                }
            }
        }
    }

    int Reach(const RankGroup& group, Rank rank) const
    {
        const std::string scope = ScopeOf(m_layout, group, rank);
        return scope == "server" ? 0 : scope == "building" ? 1 : 2;
    }

    const TaskGraph& m_graph;
    const RankLayout& m_layout;
    std::vector<std::optional<Rank>> m_rank;
};

Json
CollectivesJson(const TaskGraph& graph, const RankLayout& layout)
{
    const Doers doers(graph, layout);
    Json list = Json::array();
    for (size_t i = 0; i < graph.collectives.size(); i++)
    {
        const Collective& collective = graph.collectives[i];
        const Rank rank = doers.Of(i);
        Bytes bytes;
        Json phases = Json::array();
        for (const Phase& phase : collective.phases)
        {
            bytes = std::max(bytes, phase.bytes);
            phases.push_back(ToJson(phase, layout, rank));
        }
        list.push_back({{"class", ToString(collective.comm)},
                        {"operation", collective.name},
                        {"algorithm", collective.algorithm},
                        {"bytes", bytes.Count()},
                        {"group", GroupJson(layout, collective.call.group, rank)},
                        {"chunks", collective.chunks},
                        {"launch_s", collective.launch.S()},
                        {"phases", std::move(phases)}});
    }
    return list;
}

Json
MessagesJson(const TaskGraph& graph, const RankLayout& layout)
{
    Json list = Json::array();
    for (size_t from = 0; from < graph.classes.size(); from++)
    {
        const RankClass& sender = graph.classes[from];
        for (const Op& op : sender.program.ops)
        {
            if (op.kind == OpKind::Send)
            {
                const Rank to = sender.representative + op.peer;
                list.push_back({{"message", op.index},
                                {"from", from},
                                {"to", graph.ClassOf(to)},
                                {"bytes", op.bytes.Count()},
                                {"scope", ScopeOf(layout, sender.representative, to)}});
            }
        }
    }
    return list;
}

} // namespace

const char*
ScopeOf(const RankLayout& layout, Rank a, Rank b)
{
    return layout.BuildingOf(a) != layout.BuildingOf(b)       ? "across"
           : a / layout.gpusPerNode != b / layout.gpusPerNode ? "building"
                                                              : "server";
}

const char*
ScopeOf(const RankLayout& layout, const RankGroup& group, Rank rank)
{
    // Servers and buildings are stretches of ranks, and the first and the last member are the
    // lowest and the highest.
    return ScopeOf(layout, group.Member(rank, 0), group.Member(rank, group.Size() - 1));
}

Json
GroupJson(const RankLayout& layout, const RankGroup& group, Rank rank)
{
    Json axes = Json::array();
    for (const RankGroup::Axis& axis : group.Axes())
    {
        axes.push_back({{"stride", axis.stride}, {"count", axis.count}});
    }
    return {{"size", group.Size()},
            {"axes", std::move(axes)},
            {"scope", ScopeOf(layout, group, rank)}};
}

Json
TaskListJson(const TaskGraph& graph, const RankLayout& layout)
{
    Json classes = Json::array();
    for (const RankClass& rankClass : graph.classes)
    {
        classes.push_back({{"stage", rankClass.stage},
                           {"representative", rankClass.representative},
                           {"ranks", rankClass.ranks},
                           {"operations", ToJson(rankClass.program.ops)}});
    }
    Json bodies = Json::array();
    for (const Program& body : graph.bodies)
    {
        bodies.push_back({{"operations", ToJson(body.ops)}});
    }
    return {{"classes", std::move(classes)},
            {"bodies", std::move(bodies)},
            {"collectives", CollectivesJson(graph, layout)},
            {"messages", MessagesJson(graph, layout)}};
}

} // namespace scaleacross
