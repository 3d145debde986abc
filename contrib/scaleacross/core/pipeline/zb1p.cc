// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/rounds.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "zb1p";
    facts.help = "interleaved zero bubble: flexible interleaving with the backward split, weight "
                 "gradients in the drain";
    facts.source = "Qi et al., arXiv:2401.10241; order as torch.distributed.pipelining";
    facts.chunks = {2, kAnyChunks, 1};
    facts.splitsBackward = true;
    facts.inRounds = true;
    return facts;
}

/// As interleaved, with a warm-up of (v-1) N + p-1-r; rank r lags its W by r passes. With one chunk
/// it would be ZB-H1.
class Zb1p : public PipelineSchedule
{
  public:
    Zb1p()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::optional<Infeasible> DoCheck(const PipelineShape& shape) const override
    {
        return CheckRounds(shape);
    }

    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        const uint32_t round = RoundOf(shape);
        const uint32_t steps = shape.microbatches * shape.chunks;
        const uint32_t warmup = std::min((shape.chunks - 1) * round + shape.ranks - 1 - r, steps);
        std::vector<PipelineAction> order;
        order.reserve(3 * size_t{steps});
        const auto add = [&](Action action, uint32_t k) {
            order.push_back(RoundStep(action, k, round, shape.chunks));
        };
        for (uint32_t k = 0; k < steps + warmup; k++)
        {
            if (k < steps)
            {
                add(Action::Forward, k);
            }
            if (k >= warmup)
            {
                add(Action::InputGradient, k - warmup);
                if (k - warmup >= r)
                {
                    add(Action::WeightGradient, k - warmup - r);
                }
            }
        }
        for (uint32_t k = steps - std::min(r, steps); k < steps; k++)
        {
            add(Action::WeightGradient, k);
        }
        return order;
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return (times.forward + times.inputGradient - times.weightGradient) * (shape.ranks - 1) /
               shape.chunks;
    }
};

} // namespace

const PipelineSchedule&
Zb1pSchedule()
{
    static const Zb1p schedule;
    return schedule;
}

} // namespace scaleacross
