// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

#include "core/base/errors.h"

#include <algorithm>

namespace scaleacross
{

Pattern
StepPattern::Mirror() const
{
    SCALEACROSS_INVARIANT(false, "only what reduces and scatters has a mirror image");
}

void
StepPattern::ForEachPeer(const Phase& phase,
                         uint32_t index,
                         const std::function<void(uint32_t)>& visit) const
{
    visit(MessageOf(phase, index, 0, 0).to);
}

PhaseRounds
StepPattern::RoundsOf(const Phase& phase) const
{
    const uint32_t n = phase.group.Size();
    PhaseRounds rounds;
    rounds.steps = StepCount(phase);
    rounds.message = static_cast<double>(phase.bytes.Count()) / n;
    rounds.chained = ChainOf() != Chain::None;
    rounds.chains = n;
    return rounds;
}

uint32_t
MostPeers(const Phase& phase)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < phase.group.Size(); i++)
    {
        uint32_t peers = 0;
        ForEachPeer(phase, i, [&peers](uint32_t /* peer */) { peers++; });
        most = std::max(most, peers);
    }
    return most;
}

Bytes
PartsOf(Bytes buffer, uint32_t first, uint32_t count, uint32_t n)
{
    // Part i begins at floor(S i / n), with S = q n + r, so that no product overflows.
    const uint64_t q = buffer.Count() / n;
    const uint64_t r = buffer.Count() % n;
    const auto beginOf = [&](uint32_t index) { return q * index + r * index / n; };
    const uint64_t begin = beginOf(first);
    const uint32_t end = first + count;
    return end <= n ? Bytes(beginOf(end) - begin)
                    : Bytes(buffer.Count() - begin + beginOf(end - n));
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

MemberFlows
OneFlow(uint32_t messages, bool chained, uint32_t to, Bytes bytes)
{
    MemberFlows flows;
    flows.inputs[0] = messages;
    flows.outputs[0] = OutflowTo(to, messages, bytes);
    flows.outputs[0].after = flows.outputs[0].ahead = chained ? 1 : 0;
    return flows;
}

} // namespace scaleacross
