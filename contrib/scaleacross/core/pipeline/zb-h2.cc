// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/order-writer.h"
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
    facts.name = "zb-h2";
    facts.help = "zero-bubble H2: twice the warm-up and twice the memory fill the bubble";
    facts.source = "Qi et al., arXiv:2401.10241";
    facts.splitsBackward = true;
    return facts;
}

/// 2 (p-1-r) + 1 forwards; then I, W once more than 2 r are owed, F, in turn. Every rank holds
/// 2p-1 microbatches.
class ZbH2 : public PipelineSchedule
{
  public:
    ZbH2()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        OrderWriter writer(shape);
        const uint32_t m = shape.microbatches;
        for (uint32_t k = 0; k < std::min(2 * (shape.ranks - 1 - r) + 1, m); k++)
        {
            writer.Forward(0);
        }
        for (uint32_t k = 0; k < m; k++)
        {
            writer.InputGradient(0);
            if (writer.Owed(0) > 2 * r)
            {
                writer.WeightGradient(0);
            }
            writer.Forward(0);
        }
        while (writer.Owed(0) > 0)
        {
            writer.WeightGradient(0);
        }
        return writer.Take();
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return (times.forward + times.inputGradient - times.weightGradient * 2) * (shape.ranks - 1);
    }
};

} // namespace

const PipelineSchedule&
ZbH2Schedule()
{
    static const ZbH2 schedule;
    return schedule;
}

} // namespace scaleacross
