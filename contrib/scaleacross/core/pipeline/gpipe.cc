// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/rounds.h"

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "gpipe";
    facts.help = "all forwards, then all backwards";
    facts.source = "Huang et al., arXiv:1811.06965";
    return facts;
}

/// All forwards, then all backwards: everything is held at the turn.
class GPipe : public PipelineSchedule
{
  public:
    GPipe()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t /*r*/) const override
    {
        const uint32_t m = shape.microbatches;
        return OneForwardOneBackward(m, m, m, 1);
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return times.Total() * (shape.ranks - 1);
    }
};

} // namespace

const PipelineSchedule&
GPipeSchedule()
{
    static const GPipe schedule;
    return schedule;
}

} // namespace scaleacross
