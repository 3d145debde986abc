// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// n-1 independent steps, one to every other member, all posted at once.
class DirectAllToAll : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::None;
    }

    bool IsDirect() const override
    {
        return true;
    }

    uint32_t StepCount(const Phase& phase) const override
    {
        return phase.group.Size() > 1 ? 1 : 0;
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
        const uint32_t to = (index + number + 1) % n;
        return {to, 0, PartOf(phase.bytes, to, n)};
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        // All parts but its own.
        return phase.bytes - PartOf(phase.bytes, index, phase.group.Size());
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        return phase.group.Size() - 1;
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
};

} // namespace

const StepPattern&
DirectAllToAllSteps()
{
    static const DirectAllToAll steps;
    return steps;
}

} // namespace scaleacross
