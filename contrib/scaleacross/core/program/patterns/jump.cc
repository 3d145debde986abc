// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/step-pattern.h"

namespace scaleacross
{

namespace
{

/// One message from every member to one other.
class OneStep : public StepPattern
{
  public:
    Chain ChainOf() const override
    {
        return Chain::None;
    }

    uint32_t StepCount(const Phase& phase) const override
    {
        return phase.group.Size() > 1 ? 1 : 0;
    }

    MemberFlows FlowsOf(const Phase& phase, uint32_t index) const override
    {
        const PhaseMessage message = MessageOf(phase, index, 0, 0);
        return OneFlow(1, false, message.to, message.bytes);
    }

    Bytes SentBy(const Phase& phase, uint32_t index) const override
    {
        return MessageOf(phase, index, 0, 0).bytes;
    }
};

class SendToNext : public OneStep
{
  public:
    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t /* number */) const override
    {
        return {(index + 1) % phase.group.Size(), 0, phase.bytes};
    }

    uint32_t TimesSent(const Phase& phase) const override
    {
        const uint32_t n = phase.group.Size();
        return n > 1 ? n : 0;
    }

    PhaseRounds RoundsOf(const Phase& phase) const override
    {
        PhaseRounds rounds = StepPattern::RoundsOf(phase);
        rounds.message = static_cast<double>(phase.bytes.Count());
        return rounds;
    }
};

/// `parts` parts at once.
class Jump : public OneStep
{
  public:
    uint32_t TimesSent(const Phase& phase) const override
    {
        return phase.parts;
    }

    PhaseRounds RoundsOf(const Phase& phase) const override
    {
        PhaseRounds rounds = StepPattern::RoundsOf(phase);
        rounds.message =
            static_cast<double>(phase.bytes.Count()) * phase.parts / phase.group.Size();
        return rounds;
    }
};

class JumpReduceScatter : public Jump
{
  public:
    Pattern Mirror() const override
    {
        return Pattern::JumpAllGather;
    }

    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t /* number */) const override
    {
        const uint32_t n = phase.group.Size();
        const uint32_t to = (index + phase.shift) % n;
        return {to, 0, PartsOf(phase.bytes, to, phase.parts, n)};
    }
};

class JumpAllGather : public Jump
{
  public:
    PhaseMessage MessageOf(const Phase& phase,
                           uint32_t index,
                           uint32_t /* output */,
                           uint32_t /* number */) const override
    {
        const uint32_t n = phase.group.Size();
        return {(index + n - phase.shift) % n, 0, PartsOf(phase.bytes, index, phase.parts, n)};
    }
};

} // namespace

const StepPattern&
SendToNextSteps()
{
    static const SendToNext steps;
    return steps;
}

const StepPattern&
JumpReduceScatterSteps()
{
    static const JumpReduceScatter steps;
    return steps;
}

const StepPattern&
JumpAllGatherSteps()
{
    static const JumpAllGather steps;
    return steps;
}

} // namespace scaleacross
