// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/program-repetition.h"

#include <algorithm>
#include <cstddef>

namespace scaleacross
{

namespace
{

bool
IsMessage(const Op& op)
{
    return op.kind == OpKind::PostReceive || op.kind == OpKind::Send || op.kind == OpKind::Receive;
}

/// Whether `later` does for microbatches that are so many further on what `op` does.
bool
Repeats(const Op& op, const Op& later, uint32_t microbatches)
{
    const uint32_t further = IsMessage(op) ? microbatches : 0;
    return op.kind == later.kind && op.stream == later.stream && op.action == later.action &&
           op.chunk == later.chunk && op.backChunk == later.backChunk &&
           op.index + further == later.index && op.handle == later.handle &&
           op.peer == later.peer && op.duration == later.duration && op.bytes == later.bytes;
}

/// Where the forwards of the first chunk are, in the order of the program.
std::vector<uint32_t>
ForwardsOf(const Program& program)
{
    std::vector<uint32_t> forwards;
    for (uint32_t i = 0; i < program.ops.size(); i++)
    {
        const Op& op = program.ops[i];
        const bool forward = op.action == Action::Forward || op.action == Action::ForwardBackward;
        if (op.kind == OpKind::Run && forward && op.chunk == 0)
        {
            forwards.push_back(i);
        }
    }
    return forwards;
}

/// What has to repeat itself, so that what does is no part of a longer period.
uint32_t
Quarter(const Program& program)
{
    return static_cast<uint32_t>(program.ops.size() / 4);
}

/// RepetitionOf() a program whose forwards are known.
std::optional<ProgramRepetition>
RepetitionAround(const Program& program,
                 const std::vector<uint32_t>& forwards,
                 uint32_t microbatches)
{
    const size_t middle = (forwards.size() - std::min<size_t>(microbatches, forwards.size())) / 2;
    if (middle + microbatches >= forwards.size())
    {
        return std::nullopt;
    }
    const std::vector<Op>& ops = program.ops;
    const uint32_t known = forwards[middle];
    ProgramRepetition found;
    found.period = forwards[middle + microbatches] - known;
    const auto repeats = [&](uint32_t i) {
        return i + found.period < ops.size() &&
               Repeats(ops[i], ops[i + found.period], microbatches);
    };
    found.end = known;
    while (repeats(found.end))
    {
        found.end++;
    }
    if (found.end < known + found.period)
    {
        return std::nullopt;
    }
    found.begin = known;
    while (found.begin > 0 && repeats(found.begin - 1))
    {
        found.begin--;
    }
    found.mark = known - (known - found.begin) / found.period * found.period;
    return found;
}

} // namespace

std::optional<ProgramRepetition>
RepetitionOf(const Program& program, uint32_t microbatches)
{
    return RepetitionAround(program, ForwardsOf(program), microbatches);
}

std::optional<Repetition>
RepetitionOf(const TaskGraph& graph)
{
    std::vector<std::vector<uint32_t>> forwards;
    size_t fewest = SIZE_MAX;
    for (const RankClass& rankClass : graph.classes)
    {
        forwards.push_back(ForwardsOf(rankClass.program));
        if (!rankClass.program.ops.empty())
        {
            fewest = std::min(fewest, forwards.back().size());
        }
    }
    if (fewest == SIZE_MAX)
    {
        return std::nullopt;
    }
    Repetition found;
    for (found.microbatches = 1; found.microbatches <= fewest / 4; found.microbatches++)
    {
        found.classes.clear();
        for (uint32_t c = 0; c < graph.classes.size(); c++)
        {
            const Program& program = graph.classes[c].program;
            if (program.ops.empty())
            {
                found.classes.emplace_back();
                continue;
            }
            const auto own = RepetitionAround(program, forwards[c], found.microbatches);
            if (!own || own->end - own->begin < std::max(2 * own->period, Quarter(program)))
            {
                break;
            }
            found.classes.push_back(*own);
        }
        if (found.classes.size() == graph.classes.size())
        {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace scaleacross
