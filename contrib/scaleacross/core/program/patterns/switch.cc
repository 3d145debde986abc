// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// All at once, through a switch that adds up or copies.
class Switch : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::None;
    }

    uint32_t StepCount(const Phase& /* phase */) const override
    {
        return 1;
    }

    void ForEachPeer(const Phase& phase,
                     uint32_t index,
                     const std::function<void(uint32_t)>& visit) const override
    {
        for (uint32_t other = 0; other < phase.group.Size(); other++)
        {
            if (other != index)
            {
                visit(other);
            }
        }
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        const uint32_t n = phase.group.Size();
        return OneFlow(n - 1, false, (index + 1) % n, SentBy(phase, index));
    }
};

/// A member sends each of the others its part, which arrives as one sum of all.
class SwitchReduceScatter : public Switch
{
  public:
    bool IsDirect() const override
    {
        return true;
    }

    Pattern Mirror() const override
    {
        return Pattern::SwitchAllGather;
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t number) const override
    {
        const uint32_t n = phase.group.Size();
        const uint32_t to = (index + number + 1) % n;
        return {to, 0, PartOf(phase.bytes, to, n)};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        return phase.bytes - PartOf(phase.bytes, index, phase.group.Size());
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
    }
};

/// A member sends its part once, and all others receive it.
class SwitchAllGather : public Switch
{
  public:
    bool IsCopied() const override
    {
        return true;
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
SwitchReduceScatterSteps()
{
    static const SwitchReduceScatter steps;
    return steps;
}

const StepPattern&
SwitchAllGatherSteps()
{
    static const SwitchAllGather steps;
    return steps;
}

} // namespace scaleacross
