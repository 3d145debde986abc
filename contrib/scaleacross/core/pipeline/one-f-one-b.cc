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
    facts.name = "1f1b";
    facts.help = "one forward, one backward";
    facts.source = "Narayanan et al., arXiv:2104.04473";
    facts.usual = true;
    return facts;
}

/// As many forwards as there are ranks behind, then one forward and one backward in turn: rank r
/// holds p - r microbatches.
class OneFOneB : public PipelineSchedule
{
  public:
    OneFOneB()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        const uint32_t m = shape.microbatches;
        return OneForwardOneBackward(std::min(shape.ranks - 1 - r, m), m, m, 1);
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return times.Total() * (shape.ranks - 1);
    }
};

} // namespace

const PipelineSchedule&
OneFOneBSchedule()
{
    static const OneFOneB schedule;
    return schedule;
}

} // namespace scaleacross
