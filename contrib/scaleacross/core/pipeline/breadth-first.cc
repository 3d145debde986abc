// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-schedule.h"

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "breadth-first";
    facts.help = "looped: chunk by chunk all forwards, then all backwards in reverse";
    facts.source = "Lamy-Poirier, arXiv:2211.05953; order as torch.distributed.pipelining";
    facts.chunks = {1, kAnyChunks, 1};
    return facts;
}

/// GPipe over chunks: everything is held at the turn, but a chunk's parameters are used by all
/// microbatches in a row, so that one gather and one reduction per chunk serve them all.
class BreadthFirst : public PipelineSchedule
{
  public:
    BreadthFirst()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t /*r*/) const override
    {
        std::vector<PipelineAction> order;
        order.reserve(2 * size_t{shape.microbatches} * shape.chunks);
        for (uint32_t chunk = 0; chunk < shape.chunks; chunk++)
        {
            for (uint32_t j = 0; j < shape.microbatches; j++)
            {
                order.push_back(
                    {Action::Forward, static_cast<uint16_t>(chunk), static_cast<uint16_t>(j)});
            }
        }
        for (size_t k = order.size(); k-- > 0;)
        {
            order.push_back({Action::Backward, order[k].chunk, order[k].microbatch});
        }
        return order;
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return times.Total() * (shape.ranks - 1) / shape.chunks;
    }
};

} // namespace

const PipelineSchedule&
BreadthFirstSchedule()
{
    static const BreadthFirst schedule;
    return schedule;
}

} // namespace scaleacross
