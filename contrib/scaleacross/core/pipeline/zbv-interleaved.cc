// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/list-schedule.h"
#include "core/pipeline/pipeline-schedule.h"

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "zbv-interleaved";
    facts.help = "zero bubble on repeated Vs: ZBV with 2, on 4 or more chunks by list scheduling";
    facts.source = "zbv; repeated Vs are ours";
    facts.chunks = {2, kAnyChunks, 2};
    facts.placement = Placement::Vee;
    facts.splitsBackward = true;
    return facts;
}

/// The model runs down and up the ranks v/2 times. With one V it is ZBV; with more, the greedy
/// order for passes of equal length that holds p microbatches at most, as ZBV does.
class ZbvInterleaved : public PipelineSchedule
{
  public:
    ZbvInterleaved()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        return DoOrders(shape)[r];
    }

    PipelineOrders DoOrders(const PipelineShape& shape) const override
    {
        return shape.chunks == 2 ? Schedule("zbv")->Orders(shape)
                                 : BestOrders(shape, UnitTimes(shape), shape.ranks);
    }
};

} // namespace

const PipelineSchedule&
ZbvInterleavedSchedule()
{
    static const ZbvInterleaved schedule;
    return schedule;
}

} // namespace scaleacross
