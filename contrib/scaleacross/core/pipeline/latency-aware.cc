// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/list-schedule.h"
#include "core/pipeline/pipeline-order.h"
#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "latency-aware";
    facts.help = "list schedule made for the times of passes and boundaries, under a memory limit";
    facts.source = "ours, after the question of CrossPipe, arXiv:2507.00217";
    facts.chunks = {1, kAnyChunks, 1};
    facts.splitsBackward = true;
    facts.limitsHeld = true;
    facts.usesTimes = true;
    return facts;
}

bool
Holds(const PipelineShape& shape, const PipelineOrders& orders, uint64_t limit)
{
    const std::vector<uint64_t> each(shape.chunks, 1);
    return std::all_of(orders.begin(), orders.end(), [&](const std::vector<PipelineAction>& order) {
        return PeakHeld(order, each) <= limit * shape.chunks;
    });
}

/// The best of the list schedules, and of the schedules with fixed orders that split the backward,
/// place the chunks in the same way and hold no more.
class LatencyAware : public PipelineSchedule
{
  public:
    LatencyAware()
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
        const uint32_t limit = shape.inFlight != 0 ? shape.inFlight : shape.ranks;
        std::vector<PipelineOrders> fixed;
        PipelineShape other = shape; // whose rounds are no part of this schedule
        other.round = PipelineShape().round;
        for (const PipelineSchedule* schedule : Schedule::Rows())
        {
            const ScheduleFacts& facts = schedule->Facts();
            if (facts.usesTimes || !facts.splitsBackward || facts.placement != Facts().placement ||
                schedule->Check(other))
            {
                continue;
            }
            auto orders = schedule->Orders(other);
            if (Holds(shape, orders, limit))
            {
                fixed.push_back(std::move(orders));
            }
        }
        return BestOrders(shape,
                          shape.times ? *shape.times : UnitTimes(shape),
                          limit,
                          std::move(fixed));
    }
};

} // namespace

const PipelineSchedule&
LatencyAwareSchedule()
{
    static const LatencyAware schedule;
    return schedule;
}

} // namespace scaleacross
