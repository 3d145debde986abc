// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// A member sends its part once, and the switch copies it to all others.
class SwitchAllGather : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::None;
    }

    bool IsCopied() const override
    {
        return true;
    }

    uint32_t StepCount(const Phase& /* phase */) const override
    {
        return 1;
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        const uint32_t n = phase.group.Size();
        return OneFlow(n - 1, false, (index + 1) % n, SentBy(phase, index));
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t number) const override
    {
        const uint32_t n = phase.group.Size();
        return {(index + number + 1) % n, 0, PartOf(phase.bytes, index, n)};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        return PartOf(phase.bytes, index, phase.group.Size());
    }

    uint32_t TimesSent(const Phase& /* phase */) const override
    {
        return 1;
    }
};

} // namespace

const StepPattern&
SwitchAllGatherSteps()
{
    static const SwitchAllGather steps;
    return steps;
}

} // namespace scaleacross
