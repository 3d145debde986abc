// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// n/2 dependent steps to both neighbours.
class TwoWays : public StepPattern
{
  public:
    explicit TwoWays(bool gather)
        : m_gather(gather)
    {
    }

    Chain ChainOf() const override
    {
        return Chain::TwoWays;
    }

    Pattern Mirror() const override
    {
        return m_gather ? StepPattern::Mirror() : Pattern::TwoWayAllGather;
    }

    uint32_t StepCount(const Phase& phase) const override
    {
        return phase.group.Size() / 2;
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        const uint32_t steps = StepCount(phase);
        MemberFlows flows;
        for (uint32_t way = 0; way < 2; way++)
        {
            flows.inputs[way] = steps;
            flows.outputs[way] =
                OutflowTo(Neighbour(phase, index, way), steps, BytesOf(phase, index, way));
            flows.outputs[way].after = 1U << way;
            flows.outputs[way].ahead = 1;
        }
        return flows;
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t output,
                           uint32_t number) const override
    {
        const Part part = PartOfStep(phase, index, output, number);
        const Bytes bytes = PartOf(phase.bytes, part.part, phase.group.Size());
        return {Neighbour(phase, index, output),
                output,
                part.half ? PartOf(bytes, output, 2) : bytes};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        return BytesOf(phase, index, 0) + BytesOf(phase, index, 1);
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
    }

    void ForEachPeer(const Phase& phase,
                     uint32_t index,
                     const std::function<void(uint32_t)>& visit) const override
    {
        visit(Neighbour(phase, index, 0));
        visit(Neighbour(phase, index, 1));
    }

    PhaseRounds RoundsOf(const Phase& phase) const override
    {
        const uint32_t n = phase.group.Size();
        PhaseRounds rounds = StepPattern::RoundsOf(phase);
        rounds.perEdge = (n - 1) / 2.0;
        rounds.perMember = n - 1;
        rounds.chains = 2.0 * n;
        return rounds;
    }

  private:
    /// What a member sends in a step over an output, and whether that is only one half of it.
    struct Part
    {
        uint32_t part;
        bool half;
    };

    static uint32_t Neighbour(const Phase& phase, uint32_t index, uint32_t way)
    {
        const uint32_t n = phase.group.Size();
        return (index + (way == 0 ? 1 : n - 1)) % n;
    }

    Part PartOfStep(const Phase& phase, uint32_t index, uint32_t output, uint32_t step) const
    {
        const uint32_t n = phase.group.Size();
        const uint32_t steps = n / 2;
        // The distance of the member from which the part comes, or to which it goes.
        const uint32_t distance = m_gather ? step : steps - step;
        const bool after = m_gather == (output == 1);
        const bool last = step == (m_gather ? steps - 1 : 0);
        return {(index + (after ? distance : n - distance)) % n, n % 2 == 0 && last};
    }

    /// Bytes of all messages of an output.
    Bytes BytesOf(const Phase& phase, uint32_t index, uint32_t output) const
    {
        const uint32_t n = phase.group.Size();
        const uint32_t steps = n / 2;
        const Part begin = PartOfStep(phase, index, output, 0);
        const Part end = PartOfStep(phase, index, output, steps - 1);
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

    bool m_gather;
};

} // namespace

const StepPattern&
TwoWayReduceScatterSteps()
{
    static const TwoWays steps(false);
    return steps;
}

const StepPattern&
TwoWayAllGatherSteps()
{
    static const TwoWays steps(true);
    return steps;
}

} // namespace scaleacross
