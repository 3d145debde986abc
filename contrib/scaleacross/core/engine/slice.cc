// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/slice.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/engine.h"
#include "core/work/collectives/collective-table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

using Identity =
    std::tuple<CommClass, std::string, std::string, std::string, Tier, uint32_t, Bytes>;

Identity
IdentityOf(const Operation& operation)
{
    const OperationKind& kind = operation.kind;
    return {operation.comm,
            kind.name,
            kind.algorithm,
            kind.protocol,
            kind.reach,
            operation.members,
            operation.bytes};
}

/// Goes through the programs of the classes of a task graph.
class OperationFinder
{
  public:
    OperationFinder(const PreparedRun& run, const ClusterPaths& paths)
        : m_run(run),
          m_paths(paths)
    {
    }

    std::vector<Operation> Find()
    {
        std::vector<const RankClass*> classes;
        for (const RankClass& rankClass : m_run.graph.classes)
        {
            classes.push_back(&rankClass);
        }
        std::stable_sort(classes.begin(), classes.end(), [](const auto* a, const auto* b) {
            return a->stage < b->stage;
        });
        for (const RankClass* rankClass : classes)
        {
            m_times.clear();
            Count(rankClass->program.ops, *rankClass, 1);
            for (const auto& [number, times] : m_times)
            {
                m_operations[number].times = std::max(m_operations[number].times, times);
            }
        }
        return std::move(m_operations);
    }

  private:
    void Count(const std::vector<Op>& ops, const RankClass& rankClass, uint64_t times)
    {
        for (const Op& op : ops)
        {
            if (op.kind == OpKind::Run)
            {
                Count(m_run.graph.bodies[op.index].ops, rankClass, times);
            }
            else if (op.kind == OpKind::Collective)
            {
                Add(OfCollective(op.index, rankClass), times);
            }
            else if (op.kind == OpKind::Send)
            {
                Add(OfMessage(op, rankClass), times);
            }
        }
    }

    Operation OfCollective(uint32_t number, const RankClass& rankClass) const
    {
        const Collective& collective = m_run.graph.collectives[number];
        Operation operation;
        operation.kind = KindOf(collective, rankClass.representative, m_paths);
        operation.comm = collective.comm;
        operation.members = MembersOf(collective);
        operation.bytes = BytesOf(collective);
        operation.stage = rankClass.stage;
        operation.collective = number;
        return operation;
    }

    Operation OfMessage(const Op& op, const RankClass& rankClass) const
    {
        Operation operation;
        operation.kind =
            KindOfMessage(rankClass.representative, rankClass.representative + op.peer, m_paths);
        operation.comm = CommClass::Pipeline;
        operation.bytes = op.bytes;
        operation.stage = rankClass.stage;
        operation.peer = op.peer;
        return operation;
    }

    void Add(Operation operation, uint64_t times)
    {
        if (operation.kind.reach == Tier::Node)
        {
            return;
        }
        const auto [number, isNew] =
            m_numbers.try_emplace(IdentityOf(operation), m_operations.size());
        if (isNew)
        {
            m_operations.push_back(std::move(operation));
        }
        m_times[number->second] += times;
    }

    const PreparedRun& m_run;
    const ClusterPaths& m_paths;
    std::vector<Operation> m_operations;
    std::map<Identity, size_t> m_numbers;
    std::map<size_t, uint64_t> m_times; //!< of one class
};

/// A window of a collective.
Collective
PartOf(Collective collective, double part)
{
    const auto shrink = [part](uint64_t whole) {
        return std::max<uint64_t>(
            1,
            static_cast<uint64_t>(std::llround(static_cast<double>(whole) * part)));
    };
    for (Phase& phase : collective.phases)
    {
        phase.bytes = Bytes(shrink(phase.bytes.Count()));
    }
    collective.chunks = static_cast<uint32_t>(shrink(collective.chunks));
    return collective;
}

/// Begins an iteration.
Op
Beginning()
{
    Op begin;
    begin.kind = OpKind::Run;
    begin.action = Action::Forward;
    return begin;
}

Op
MessageOp(OpKind kind, uint32_t message, int32_t peer, Bytes bytes)
{
    Op op;
    op.kind = kind;
    op.index = message;
    op.peer = peer;
    op.bytes = bytes;
    return op;
}

bool
Sends(const TaskGraph& graph, const std::vector<Op>& ops, int32_t peer, Bytes bytes)
{
    return std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
        return op.kind == OpKind::Run
                   ? Sends(graph, graph.bodies[op.index].ops, peer, bytes)
                   : op.kind == OpKind::Send && op.peer == peer && op.bytes == bytes;
    });
}

/// A message there, and one back.
void
FillWithMessages(const TaskGraph& whole, const Operation& operation, Bytes bytes, TaskGraph& graph)
{
    graph.messages = 2;
    for (size_t c = 0; c < whole.classes.size(); c++)
    {
        const RankClass& sender = whole.classes[c];
        if (sender.stage != operation.stage ||
            !Sends(whole, sender.program.ops, operation.peer, operation.bytes))
        {
            continue;
        }
        const uint32_t receiver = whole.ClassOf(sender.representative + operation.peer);
        graph.classes[c].program.ops = {
            Beginning(),
            MessageOp(OpKind::Send, 0, operation.peer, bytes),
            MessageOp(OpKind::Receive, 1, operation.peer, bytes),
        };
        graph.classes[receiver].program.ops = {
            Beginning(),
            MessageOp(OpKind::Receive, 0, -operation.peer, bytes),
            MessageOp(OpKind::Send, 1, -operation.peer, bytes),
        };
    }
}

bool
Does(const TaskGraph& graph, const std::vector<Op>& ops, uint32_t collective)
{
    return std::any_of(ops.begin(), ops.end(), [&](const Op& op) {
        return op.kind == OpKind::Run ? Does(graph, graph.bodies[op.index].ops, collective)
                                      : op.kind == OpKind::Collective && op.index == collective;
    });
}

void
FillWithCollective(const TaskGraph& whole,
                   const Operation& operation,
                   double part,
                   TaskGraph& graph)
{
    graph.collectives = {PartOf(whole.collectives[operation.collective], part)};
    for (size_t c = 0; c < whole.classes.size(); c++)
    {
        if (whole.classes[c].stage == operation.stage &&
            Does(whole, whole.classes[c].program.ops, operation.collective))
        {
            Program& program = graph.classes[c].program;
            program.ops.push_back(Beginning());
            AppendCollective(0, Stream::Tensor, 0, program);
            AppendWait(0, program);
        }
    }
}

} // namespace

bool
operator==(const OperationKind& a, const OperationKind& b)
{
    return a.name == b.name && a.algorithm == b.algorithm && a.protocol == b.protocol &&
           a.reach == b.reach;
}

std::string
ToString(Tier tier)
{
    switch (tier)
    {
    case Tier::Node:
        return "node";
    case Tier::Leaf:
        return "leaf";
    case Tier::Zone:
        return "zone";
    case Tier::Building:
        return "building";
    case Tier::Cross:
        break;
    }
    return "cross";
}

std::string
ToString(const OperationKind& kind)
{
    std::string text = kind.name;
    for (const std::string& word : {kind.algorithm, kind.protocol})
    {
        text += word.empty() ? "" : " " + word;
    }
    return text + ", " + ToString(kind.reach);
}

uint32_t
MembersOf(const Collective& collective)
{
    std::vector<RankGroup> groups;
    uint32_t members = 1;
    for (const Phase& phase : collective.phases)
    {
        if (std::find(groups.begin(), groups.end(), phase.group) == groups.end())
        {
            groups.push_back(phase.group);
            members *= phase.group.Size();
        }
    }
    return members;
}

Bytes
BytesOf(const Collective& collective)
{
    Bytes bytes;
    for (const Phase& phase : collective.phases)
    {
        bytes = std::max(bytes, phase.bytes);
    }
    return bytes;
}

Tier
ReachOf(const Collective& collective, Rank rank, const ClusterPaths& paths)
{
    Tier reach = Tier::Node;
    for (const Phase& phase : collective.phases)
    {
        for (uint32_t i = 0; i < phase.group.Size() && reach != Tier::Cross; i++)
        {
            const Rank member = phase.group.Member(rank, i);
            reach = member == rank ? reach : std::max(reach, paths.TierBetween(rank, member));
        }
    }
    return reach;
}

OperationKind
KindOf(const Collective& collective, Rank rank, const ClusterPaths& paths)
{
    return {collective.name,
            collective.algorithm,
            collective.protocol,
            ReachOf(collective, rank, paths)};
}

OperationKind
KindOfMessage(Rank from, Rank to, const ClusterPaths& paths)
{
    return {"message", "", "", paths.TierBetween(from, to)};
}

std::vector<Operation>
OperationsOf(const PreparedRun& run, const ClusterPaths& paths)
{
    return OperationFinder(run, paths).Find();
}

SliceSpec
ParseSlice(const std::string& text)
{
    const size_t colon = text.find(':');
    SliceSpec slice;
    slice.operation = static_cast<uint32_t>(ParseWhole(text.substr(0, colon), 0, UINT32_MAX));
    if (colon != std::string::npos)
    {
        slice.part = ParseNumber(text.substr(colon + 1), 1e-9, 1.0);
    }
    return slice;
}

std::string
ToString(const SliceSpec& slice)
{
    return std::to_string(slice.operation) +
           (slice.part < 1 ? ":" + NumberText(slice.part) : std::string());
}

PreparedRun
SliceOf(const PreparedRun& run, const SliceSpec& slice, const ClusterPaths& paths)
{
    const std::vector<Operation> operations = OperationsOf(run, paths);
    if (slice.operation >= operations.size())
    {
        throw ConfigError("--slice",
                          "there is no operation " + std::to_string(slice.operation),
                          operations.empty()
                              ? "nothing, for this plan sends nothing between servers"
                              : "0 to " + std::to_string(operations.size() - 1),
                          "scaleacross calibrate STUDY --list prints them");
    }
    const Operation& operation = operations[slice.operation];
    PreparedRun part = run;
    TaskGraph& graph = part.graph;
    graph.bodies = {Program()};
    graph.collectives.clear();
    graph.messages = 0;
    graph.handles = 1;
    graph.rendezvous = false;
    for (RankClass& rankClass : graph.classes)
    {
        rankClass.program = Program();
    }
    if (operation.peer != 0)
    {
        const auto bytes = static_cast<double>(operation.bytes.Count()) * slice.part;
        FillWithMessages(run.graph,
                         operation,
                         Bytes(std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(bytes)))),
                         graph);
    }
    else
    {
        FillWithCollective(run.graph, operation, slice.part, graph);
    }
    part.layout.takingPart = TakingPart(part.graph);
    return part;
}

} // namespace scaleacross
