// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// n-1 dependent steps to the next member.
class Ring : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::Ring;
    }

    uint32_t StepCount(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        const uint32_t n = phase.group.Size();
        return OneFlow(n - 1, true, (index + 1) % n, SentBy(phase, index));
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
    }

    PhaseRounds RoundsOf(const Phase& phase) const override
    {
        PhaseRounds rounds = StepPattern::RoundsOf(phase);
        rounds.perEdge = rounds.perMember = phase.group.Size() - 1;
        return rounds;
    }
};

class RingReduceScatter : public Ring
{
  public:
    Pattern Mirror() const override
    {
        return Pattern::RingAllGather;
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t number) const override
    {
        const uint32_t n = phase.group.Size();
        // number <= n-2, so n + index - number - 1 is positive.
        return {(index + 1) % n, 0, PartOf(phase.bytes, (index + n - number - 1) % n, n)};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        // All parts but its own.
        return phase.bytes - PartOf(phase.bytes, index, phase.group.Size());
    }
};

class RingAllGather : public Ring
{
  public:
    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t number) const override
    {
        const uint32_t n = phase.group.Size();
        return {(index + 1) % n, 0, PartOf(phase.bytes, (index + n - number) % n, n)};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        // It never sends on the part that its successor started from.
        const uint32_t n = phase.group.Size();
        return phase.bytes - PartOf(phase.bytes, (index + 1) % n, n);
    }
};

} // namespace

const StepPattern&
RingReduceScatterSteps()
{
    static const RingReduceScatter steps;
    return steps;
}

const StepPattern&
RingAllGatherSteps()
{
    static const RingAllGather steps;
    return steps;
}

} // namespace scaleacross
