// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/collective.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// Where part `index` of `n` of a buffer begins: floor(S index / n), with S = q n + r, so that no
/// product overflows.
uint64_t
BeginOf(Bytes buffer, uint32_t index, uint32_t n)
{
    const uint64_t q = buffer.Count() / n;
    const uint64_t r = buffer.Count() % n;
    return q * index + r * index / n;
}

/// Bytes of parts first, ..., first + count - 1 (mod n). Domain: first < n, count <= n.
Bytes
PartsOf(Bytes buffer, uint32_t first, uint32_t count, uint32_t n)
{
    const uint64_t begin = BeginOf(buffer, first, n);
    const uint32_t end = first + count;
    return end <= n ? Bytes(BeginOf(buffer, end, n) - begin)
                    : Bytes(buffer.Count() - begin + BeginOf(buffer, end - n, n));
}

/// Of a ring that goes two ways, the part that member `index` sends in a step over an output, and
/// whether that is only one half of it.
struct TwoWayPart
{
    uint32_t part;
    bool half;
};

TwoWayPart
TwoWayPartOf(const Phase& phase, uint32_t index, uint32_t output, uint32_t step)
{
    const uint32_t n = phase.group.Size();
    const uint32_t steps = n / 2;
    const bool gather = phase.pattern == Pattern::TwoWayAllGather;
    // The distance of the member from which the part comes, or to which it goes.
    const uint32_t distance = gather ? step : steps - step;
    const bool after = gather == (output == 1);
    const bool last = step == (gather ? steps - 1 : 0);
    return {(index + (after ? distance : n - distance)) % n, n % 2 == 0 && last};
}

/// Bytes of all its messages.
Bytes
TwoWayBytes(const Phase& phase, uint32_t index, uint32_t output)
{
    const uint32_t n = phase.group.Size();
    const uint32_t steps = n / 2;
    const TwoWayPart begin = TwoWayPartOf(phase, index, output, 0);
    const TwoWayPart end = TwoWayPartOf(phase, index, output, steps - 1);
    // One after the other, upwards or downwards.
    const bool upwards = (begin.part + steps - 1) % n == end.part && steps > 1;
    const Bytes all = PartsOf(phase.bytes, upwards ? begin.part : end.part, steps, n);
    if (!begin.half && !end.half)
    {
        return all;
    }
    const Bytes cut = PartOf(phase.bytes, begin.half ? begin.part : end.part, n);
    return all - PartOf(cut, 1 - output, 2);
}

/// The trees number their places, and members take them: the place of a member.
uint32_t
TreeNumber(uint32_t tree, uint32_t index, uint32_t n)
{
    return tree == 0 ? index : n % 2 == 0 ? n - 1 - index : (index + 1) % n;
}

uint32_t
MemberAt(uint32_t tree, uint32_t number, uint32_t n)
{
    return tree == 0 ? number : n % 2 == 0 ? n - 1 - number : (number + n - 1) % n;
}

/// The lowest bit of a place, which tells its level; of the root the power of two that is not less
/// than n.
uint64_t
LowestBit(uint32_t number, uint32_t n)
{
    uint64_t bit = 1;
    while (number != 0 ? (number & bit) == 0 : bit < n)
    {
        bit *= 2;
    }
    return bit;
}

Outflow
OutflowTo(uint32_t to, uint32_t messages, Bytes bytes)
{
    Outflow output;
    output.to = to;
    output.messages = messages;
    output.bytes = bytes;
    return output;
}

constexpr uint32_t kTreeInputs = 3; //!< of each tree: left child, right child, parent

MemberFlows
TreeFlows(const Phase& phase, uint32_t index)
{
    const uint32_t n = phase.group.Size();
    const uint32_t messages = TreeMessages(phase);
    MemberFlows flows;
    for (uint32_t tree = 0; tree < 2; tree++)
    {
        const TreePlace place = PlaceInTree(tree, index, n);
        const uint32_t first = kTreeInputs * tree;
        const Bytes half = PartOf(phase.bytes, tree, 2);
        uint32_t children = 0;
        for (const auto& [input, child] : {std::pair{first, place.left}, {first + 1, place.right}})
        {
            if (child != TreePlace::kNone)
            {
                flows.inputs[input] = messages;
                children |= 1U << input;
            }
        }
        uint32_t reduced = children; // inputs that tell of what is reduced by all
        if (place.parent != TreePlace::kNone)
        {
            flows.inputs[first + 2] = messages;
            Outflow& up = flows.outputs[first];
            up = OutflowTo(place.parent, messages, half);
            up.after = children;
            up.within = 1U << (first + 2);
            up.window = TreeWindow(phase);
            reduced = 1U << (first + 2);
        }
        for (const auto& [output, child] :
             {std::pair{first + 1, place.left}, {first + 2, place.right}})
        {
            if (child != TreePlace::kNone)
            {
                flows.outputs[output] = OutflowTo(child, messages, half);
                flows.outputs[output].after = reduced;
            }
        }
    }
    return flows;
}

PhaseMessage
TreeMessage(const Phase& phase, uint32_t index, uint32_t output, uint32_t number)
{
    const uint32_t n = phase.group.Size();
    const uint32_t tree = output / kTreeInputs;
    const uint32_t first = kTreeInputs * tree;
    const TreePlace place = PlaceInTree(tree, index, n);
    const Bytes bytes = PartOf(PartOf(phase.bytes, tree, 2), number, TreeMessages(phase));
    if (output > first)
    {
        return {output == first + 1 ? place.left : place.right, first + 2, bytes};
    }
    const bool left = PlaceInTree(tree, place.parent, n).left == index;
    return {place.parent, first + (left ? 0 : 1), bytes};
}

/// One output, whose messages go to member `to`.
MemberFlows
OneFlow(uint32_t messages, bool chained, uint32_t to, Bytes bytes)
{
    MemberFlows flows;
    flows.inputs[0] = messages;
    flows.outputs[0] = OutflowTo(to, messages, bytes);
    flows.outputs[0].after = flows.outputs[0].ahead = chained ? 1 : 0;
    return flows;
}

} // namespace

Bytes
PartOf(Bytes buffer, uint32_t index, uint32_t n)
{
    return PartsOf(buffer, index, 1, n);
}

TreePlace
PlaceInTree(uint32_t tree, uint32_t index, uint32_t n)
{
    const uint32_t number = TreeNumber(tree, index, n);
    const uint64_t bit = LowestBit(number, n);
    TreePlace place;
    if (number != 0)
    {
        // One level up, unless there is nobody: then it hangs where that one would.
        const uint64_t up = (number ^ bit) | (2 * bit);
        place.parent =
            MemberAt(tree, up < n ? static_cast<uint32_t>(up) : number & (number - 1), n);
    }
    if (bit == 1)
    {
        return place;
    }
    if (number != 0)
    {
        place.left = MemberAt(tree, static_cast<uint32_t>(number - bit / 2), n);
    }
    for (uint64_t below = bit / 2; below > 0; below /= 2)
    {
        if (number + below < n)
        {
            place.right = MemberAt(tree, static_cast<uint32_t>(number + below), n);
            break;
        }
    }
    return place;
}

uint32_t
TreeMessages(const Phase& phase)
{
    const uint64_t half = PartOf(phase.bytes, 1, 2).Count(); // the larger one
    const uint64_t chunk = phase.chunk.Count();
    return static_cast<uint32_t>(std::max<uint64_t>(1, half / chunk + (half % chunk > 0 ? 1 : 0)));
}

uint32_t
TreeWindow(const Phase& phase)
{
    return static_cast<uint32_t>(
        std::max<uint64_t>(2, std::min<uint64_t>(UINT32_MAX, (16ULL << 20) / phase.chunk.Count())));
}

Phase
ChunkOf(const Phase& phase, uint32_t chunk, uint32_t chunks)
{
    Phase part = phase;
    part.bytes = PartOf(phase.bytes, chunk, chunks);
    return part;
}

bool
operator==(const Phase& a, const Phase& b)
{
    return a.pattern == b.pattern && a.group == b.group && a.bytes == b.bytes &&
           a.shift == b.shift && a.parts == b.parts && a.chunk == b.chunk;
}

std::vector<DisseminationRound>
DisseminationRounds(uint32_t n)
{
    std::vector<DisseminationRound> rounds;
    for (uint64_t shift = 1; shift < n; shift *= 2)
    {
        rounds.push_back({static_cast<uint32_t>(shift),
                          static_cast<uint32_t>(std::min<uint64_t>(shift, n - shift))});
    }
    return rounds;
}

std::string
ToString(CommClass value)
{
    switch (value)
    {
    case CommClass::Tensor:
        return "tp";
    case CommClass::Context:
        return "cp";
    case CommClass::Expert:
        return "ep";
    case CommClass::Pipeline:
        return "pp";
    case CommClass::Data:
        return "dp";
    }
    return "?";
}

uint32_t
StepCount(const Phase& phase)
{
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
    case Pattern::RingAllGather:
        return phase.group.Size() - 1;
    case Pattern::TwoWayReduceScatter:
    case Pattern::TwoWayAllGather:
        return phase.group.Size() / 2;
    case Pattern::DoubleTree: {
        uint32_t depth = 0; // bits of n - 1: one level for each
        for (uint32_t number = phase.group.Size() - 1; number > 0; number /= 2)
        {
            depth++;
        }
        return 2 * depth;
    }
    case Pattern::DirectAllToAll:
    case Pattern::SendToNext:
    case Pattern::JumpReduceScatter:
    case Pattern::JumpAllGather:
        break;
    }
    return phase.group.Size() > 1 ? 1 : 0;
}

MemberFlows
FlowsOf(const Phase& phase, uint32_t index)
{
    const uint32_t n = phase.group.Size();
    const Bytes sent = SentBy(phase, index);
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
    case Pattern::RingAllGather:
        return OneFlow(n - 1, true, (index + 1) % n, sent);
    case Pattern::DirectAllToAll:
        return OneFlow(n - 1, false, (index + 1) % n, sent);
    case Pattern::SendToNext:
    case Pattern::JumpReduceScatter:
    case Pattern::JumpAllGather:
        return OneFlow(1, false, MessageOf(phase, index, 0, 0).to, sent);
    case Pattern::TwoWayReduceScatter:
    case Pattern::TwoWayAllGather: {
        MemberFlows flows;
        for (uint32_t way = 0; way < 2; way++)
        {
            flows.inputs[way] = n / 2;
            flows.outputs[way] = OutflowTo((index + (way == 0 ? 1 : n - 1)) % n,
                                           n / 2,
                                           TwoWayBytes(phase, index, way));
            flows.outputs[way].after = 1U << way;
            flows.outputs[way].ahead = 1;
        }
        return flows;
    }
    case Pattern::DoubleTree:
        return TreeFlows(phase, index);
    }
    return {};
}

PhaseMessage
MessageOf(const Phase& phase, uint32_t index, uint32_t output, uint32_t number)
{
    const uint32_t n = phase.group.Size();
    const uint32_t next = (index + 1) % n;
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
        // number <= n-2, so n + index - number - 1 is positive.
        return {next, 0, PartOf(phase.bytes, (index + n - number - 1) % n, n)};
    case Pattern::RingAllGather:
        return {next, 0, PartOf(phase.bytes, (index + n - number) % n, n)};
    case Pattern::DirectAllToAll: {
        const uint32_t to = (index + number + 1) % n;
        return {to, 0, PartOf(phase.bytes, to, n)};
    }
    case Pattern::SendToNext:
        return {next, 0, phase.bytes};
    case Pattern::JumpReduceScatter: {
        const uint32_t to = (index + phase.shift) % n;
        return {to, 0, PartsOf(phase.bytes, to, phase.parts, n)};
    }
    case Pattern::JumpAllGather:
        return {(index + n - phase.shift) % n, 0, PartsOf(phase.bytes, index, phase.parts, n)};
    case Pattern::TwoWayReduceScatter:
    case Pattern::TwoWayAllGather: {
        const TwoWayPart part = TwoWayPartOf(phase, index, output, number);
        const Bytes bytes = PartOf(phase.bytes, part.part, n);
        return {(index + (output == 0 ? 1 : n - 1)) % n,
                output,
                part.half ? PartOf(bytes, output, 2) : bytes};
    }
    case Pattern::DoubleTree:
        return TreeMessage(phase, index, output, number);
    }
    return {};
}

Bytes
SentBy(const Phase& phase, uint32_t index)
{
    const uint32_t n = phase.group.Size();
    if (n == 1)
    {
        return Bytes(0);
    }
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
    case Pattern::DirectAllToAll:
        return phase.bytes - PartOf(phase.bytes, index, n); // all parts but its own
    case Pattern::RingAllGather:
        // It never sends on the part that its successor started from.
        return phase.bytes - PartOf(phase.bytes, (index + 1) % n, n);
    case Pattern::SendToNext:
    case Pattern::JumpReduceScatter:
    case Pattern::JumpAllGather:
        return MessageOf(phase, index, 0, 0).bytes;
    case Pattern::TwoWayReduceScatter:
    case Pattern::TwoWayAllGather:
        return TwoWayBytes(phase, index, 0) + TwoWayBytes(phase, index, 1);
    case Pattern::DoubleTree: {
        Bytes sent;
        for (const Outflow& output : TreeFlows(phase, index).outputs)
        {
            sent += output.bytes;
        }
        return sent;
    }
    }
    return {};
}

uint32_t
TimesSent(const Phase& phase)
{
    const uint32_t n = phase.group.Size();
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter:
    case Pattern::RingAllGather:
    case Pattern::DirectAllToAll:
    case Pattern::TwoWayReduceScatter:
    case Pattern::TwoWayAllGather:
        return n - 1;
    case Pattern::DoubleTree:
        return 2 * (n - 1);
    case Pattern::SendToNext:
        return n > 1 ? n : 0;
    case Pattern::JumpReduceScatter:
    case Pattern::JumpAllGather:
        return phase.parts;
    }
    return 0;
}

} // namespace scaleacross
