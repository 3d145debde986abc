// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/simplest-shape.h"

#include "core/pipeline/pipeline-schedule.h"

#include <algorithm>
#include <vector>

namespace scaleacross
{

namespace
{

/// The usual schedule first, then those that themselves say how many chunks they have; else as they
/// are registered.
const std::vector<const PipelineSchedule*>&
SimplestFirst()
{
    static const std::vector<const PipelineSchedule*> schedules = [] {
        std::vector<const PipelineSchedule*> rows = Schedule::Rows();
        const auto rank = [](const PipelineSchedule* schedule) {
            const ChunkRule& chunks = schedule->Facts().chunks;
            return schedule->IsUsual() ? 0 : chunks.least == chunks.most ? 1 : 2;
        };
        std::stable_sort(rows.begin(), rows.end(), [&rank](const auto* a, const auto* b) {
            return rank(a) < rank(b);
        });
        return rows;
    }();
    return schedules;
}

/// Whether the same positions are on the same ranks. Domain: as many ranks and chunks.
bool
ArePlacedAlike(const PipelineShape& a, const PipelineShape& b)
{
    return a.ranks == 1 || a.chunks == 1 ||
           a.schedule->Facts().placement == b.schedule->Facts().placement;
}

/// The actions of a shape's ranks, made when they are asked for.
class LazyOrders
{
  public:
    explicit LazyOrders(const PipelineShape& shape)
        : m_shape(shape),
          m_orders(shape.ranks)
    {
    }

    const std::vector<PipelineAction>& Of(uint32_t r)
    {
        if (m_orders[r].empty())
        {
            m_orders[r] = m_shape.schedule->Order(m_shape, r);
        }
        return m_orders[r];
    }

  private:
    const PipelineShape& m_shape;
    PipelineOrders m_orders;
};

} // namespace

PipelineShape
SimplestShape(const PipelineShape& shape)
{
    const ScheduleFacts& facts = shape.schedule->Facts();
    const auto isKnown = [&shape](const ScheduleFacts& of) {
        return !of.usesTimes || shape.ranks == 1;
    };
    if (!isKnown(facts))
    {
        return shape;
    }
    LazyOrders orders(shape);
    const auto runsAlike = [&](const PipelineShape& other) {
        // The last rank's turn is where most orders differ.
        for (uint32_t r = shape.ranks; r-- > 0;)
        {
            if (orders.Of(r) != other.schedule->Order(other, r))
            {
                return false;
            }
        }
        return true;
    };
    for (const PipelineSchedule* schedule : SimplestFirst())
    {
        const bool isSame = shape.schedule == *schedule;
        // Some passes of one that splits them are split in any shape.
        if (!isKnown(schedule->Facts()) || schedule->Facts().splitsBackward != facts.splitsBackward)
        {
            continue;
        }
        for (const uint32_t round : {0U, shape.microbatches, shape.round})
        {
            PipelineShape other{*schedule, shape.ranks, shape.microbatches, shape.chunks, round};
            if (isSame && round == shape.round)
            {
                return shape;
            }
            if ((round == 0 || schedule->Facts().inRounds) && ArePlacedAlike(shape, other) &&
                !schedule->Check(other) && runsAlike(other))
            {
                return other;
            }
        }
    }
    return shape;
}

} // namespace scaleacross
