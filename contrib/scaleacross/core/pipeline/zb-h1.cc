// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "zb-h1";
    facts.help = "zero-bubble H1: weight gradients fill the drain";
    facts.source = "Qi et al., arXiv:2401.10241";
    facts.splitsBackward = true;
    return facts;
}

/// Warm-up as in 1F1B; backwards are I; rank r lags its W by r microbatches, so that every rank
/// holds p microbatches and the W fill what would be the drain bubble.
class ZbH1 : public PipelineSchedule
{
  public:
    ZbH1()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        const uint32_t m = shape.microbatches;
        const uint32_t warmup = std::min(shape.ranks - 1 - r, m);
        std::vector<PipelineAction> order;
        order.reserve(3 * size_t{m});
        const auto add = [&order](Action action, uint32_t microbatch) {
            order.push_back({action, 0, static_cast<uint16_t>(microbatch)});
        };
        for (uint32_t k = 0; k < m + warmup; k++)
        {
            if (k < m)
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
        for (uint32_t k = m - std::min(r, m); k < m; k++)
        {
            add(Action::WeightGradient, k);
        }
        return order;
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return (times.forward + times.inputGradient - times.weightGradient) * (shape.ranks - 1);
    }
};

} // namespace

const PipelineSchedule&
ZbH1Schedule()
{
    static const ZbH1 schedule;
    return schedule;
}

} // namespace scaleacross
