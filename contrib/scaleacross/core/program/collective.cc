// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/collective.h"

#include "core/program/step-pattern.h"

#include <algorithm>
#include <tuple>

namespace scaleacross
{

Bytes
PartOf(Bytes buffer, uint32_t index, uint32_t n)
{
    return PartsOf(buffer, index, 1, n);
}

Phase
ChunkOf(const Phase& phase, uint32_t chunk, uint32_t chunks)
{
    Phase part = phase;
    part.bytes = PartOf(phase.bytes, chunk, chunks);
    part.lane = chunk % phase.perServer;
    return part;
}

bool
operator==(const Phase& a, const Phase& b)
{
    return a.pattern == b.pattern && a.group == b.group && a.bytes == b.bytes &&
           a.shift == b.shift && a.parts == b.parts && a.chunk == b.chunk &&
           a.perServer == b.perServer && a.lane == b.lane && a.inside == b.inside &&
           a.between == b.between && a.occupied == b.occupied && a.slots == b.slots &&
           a.width == b.width && a.inTurn == b.inTurn;
}

bool
MoveAlike(const Collective& a, const Collective& b)
{
    return a.comm == b.comm && a.chunks == b.chunks && a.channels == b.channels &&
           a.streams == b.streams && a.launch == b.launch && a.processors == b.processors &&
           a.phases == b.phases;
}

bool
HaveSamePeers(const Phase& a, const Phase& b)
{
    return a.pattern == b.pattern && a.group == b.group && a.shift == b.shift &&
           a.parts == b.parts && a.perServer == b.perServer;
}

bool
operator==(const StepCost& a, const StepCost& b)
{
    return a.fixed == b.fixed && a.perByte == b.perByte;
}

bool
operator==(const SlotWindow& a, const SlotWindow& b)
{
    return a.slots == b.slots && a.bytes == b.bytes && a.least == b.least && a.phases == b.phases;
}

bool
operator<(const SlotWindow& a, const SlotWindow& b)
{
    return std::tie(a.slots, a.bytes, a.least, a.phases) <
           std::tie(b.slots, b.bytes, b.least, b.phases);
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
    return StepsOf(phase).StepCount(phase);
}

MemberFlows
FlowsOf(const Phase& phase, uint32_t index)
{
    return StepsOf(phase).FlowsOf(phase, index);
}

PhaseMessage
MessageOf(const Phase& phase, uint32_t index, uint32_t output, uint32_t number)
{
    return StepsOf(phase).MessageOf(phase, index, output, number);
}

Bytes
SentBy(const Phase& phase, uint32_t index)
{
    return phase.group.Size() == 1 ? Bytes() : StepsOf(phase).SentBy(phase, index);
}

uint32_t
TimesSent(const Phase& phase)
{
    return StepsOf(phase).TimesSent(phase);
}

} // namespace scaleacross
