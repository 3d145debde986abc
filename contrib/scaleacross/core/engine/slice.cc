// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/slice.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/engine.h"
#include "core/engine/operation.h"
#include "core/work/collectives/collective-table.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scaleacross
{

namespace
{

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

/// A message there, and one back.
void
FillWithMessages(const TaskGraph& whole,
                 const Operation& operation,
                 const std::vector<uint32_t>& senders,
                 Bytes bytes,
                 TaskGraph& graph)
{
    graph.messages = 2;
    for (const uint32_t c : senders)
    {
        const uint32_t receiver =
            whole.ClassOf(whole.classes[c].representative + static_cast<Rank>(operation.peer));
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

void
FillWithCollective(const Collective& collective,
                   const std::vector<uint32_t>& classes,
                   TaskGraph& graph)
{
    graph.collectives = {collective};
    for (const uint32_t c : classes)
    {
        Program& program = graph.classes[c].program;
        program.ops.push_back(Beginning());
        AppendCollective(0, Stream::Tensor, 0, program);
        AppendWait(0, program);
    }
}

} // namespace

double
WindowOf(const Collective& collective, double most)
{
    if (collective.chunks == 1)
    {
        return most;
    }
    auto chunks = static_cast<uint32_t>(most * collective.chunks);
    const uint32_t even = 2 * collective.channels;
    chunks -= chunks % (chunks < even ? 2 : even);
    return static_cast<double>(chunks) / collective.chunks;
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
    OperationFinder finder(run.graph, paths);
    const std::vector<Operation> operations = finder.All();
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
    graph.once = true;
    for (RankClass& rankClass : graph.classes)
    {
        rankClass.program = Program();
    }
    const std::vector<uint32_t>& classes = finder.ClassesOf(operation);
    if (operation.IsMessage())
    {
        const auto bytes = static_cast<double>(operation.bytes.Count()) * slice.part;
        FillWithMessages(run.graph,
                         operation,
                         classes,
                         Bytes(std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(bytes)))),
                         graph);
    }
    else
    {
        FillWithCollective(PartOf(run.graph.collectives[operation.collective], slice.part),
                           classes,
                           graph);
    }
    part.layout.takingPart = TakingPart(part.graph);
    return part;
}

} // namespace scaleacross
