// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/collective.h"

namespace scaleacross
{

namespace
{

/// Size of part `index` of `n` of a buffer; the parts add up to `total` exactly.
Bytes
Part(Bytes total, uint32_t index, uint32_t n)
{
    // floor(S (i+1) / n) - floor(S i / n) with S = q n + r, so that no product overflows.
    const uint64_t q = total.Count() / n;
    const uint64_t r = total.Count() % n;
    return Bytes(q + r * (index + 1) / n - r * index / n);
}

} // namespace

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
    return phase.pattern == Pattern::SendToNext ? 1 : phase.group.Size() - 1;
}

bool
StepsDepend(Pattern pattern)
{
    return pattern != Pattern::DirectAllToAll;
}

PhaseStep
StepOf(const Phase& phase, uint32_t index, uint32_t step)
{
    const uint32_t n = phase.group.Size();
    const uint32_t next = (index + 1) % n;
    const uint32_t previous = (index + n - 1) % n;
    switch (phase.pattern)
    {
    case Pattern::RingReduceScatter: {
        // step <= n-2, so n + index - step - 1 is positive.
        const uint32_t sent = (index + n - step - 1) % n;
        const uint32_t received = (previous + n - step - 1) % n;
        return {next, previous, Part(phase.bytes, sent, n), Part(phase.bytes, received, n)};
    }
    case Pattern::RingAllGather: {
        const uint32_t sent = (index + n - step) % n;
        const uint32_t received = (previous + n - step) % n;
        return {next, previous, Part(phase.bytes, sent, n), Part(phase.bytes, received, n)};
    }
    case Pattern::DirectAllToAll: {
        const uint32_t to = (index + step + 1) % n;
        const uint32_t from = (index + n - step - 1) % n;
        return {to, from, Part(phase.bytes, to, n), Part(phase.bytes, index, n)};
    }
    case Pattern::SendToNext:
        return {next, previous, phase.bytes, phase.bytes};
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
    if (phase.pattern == Pattern::SendToNext)
    {
        return phase.bytes;
    }
    // Every other pattern sends all parts of the buffer but one: a reduce-scatter keeps its own
    // part, an all-gather never sends on the part its successor started from, all-to-all keeps its
    // own.
    const uint32_t kept = phase.pattern == Pattern::RingAllGather ? (index + 1) % n : index;
    return phase.bytes - Part(phase.bytes, kept, n);
}

} // namespace scaleacross
