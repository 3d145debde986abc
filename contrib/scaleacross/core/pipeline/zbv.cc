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
    facts.name = "zbv";
    facts.help =
        "zero bubble on a V: two chunks per rank, down and back up, 1F1B's memory on every "
        "rank";
    facts.source = "Qi et al., arXiv:2405.15362; order as torch.distributed.pipelining";
    facts.chunks = {2, 2, 1};
    facts.placement = Placement::Vee;
    facts.splitsBackward = true;
    return facts;
}

/// No bubble where F = I = W and m >= 2p-1; each rank then holds the activations of p microbatches,
/// less with fewer. The order is that for at least 2p-1 microbatches.
class Zbv : public PipelineSchedule
{
  public:
    Zbv()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        OrderWriter writer(shape);
        const uint32_t p = shape.ranks;
        const uint32_t n = std::max(2 * p - 1, shape.microbatches);
        const auto gradients = [&writer](uint32_t chunk) {
            writer.InputGradient(chunk);
            writer.WeightGradient(chunk);
        };
        for (uint32_t k = 0; k < 2 * (p - r) - 1; k++)
        {
            writer.Forward(0);
        }
        for (uint32_t k = 0; k < r; k++)
        {
            writer.Forward(1);
            writer.Forward(0);
        }
        for (uint32_t k = 0; k < p - r; k++)
        {
            writer.Forward(1);
            gradients(1);
        }
        while (writer.Forwards(1) < writer.Forwards(0) || writer.Forwards(0) < n)
        {
            if (writer.Forwards(0) < n)
            {
                writer.Forward(0);
            }
            gradients(0);
            writer.Forward(1);
            gradients(1);
        }
        for (uint32_t k = 0; k < r; k++)
        {
            writer.InputGradient(0);
            writer.InputGradient(1);
        }
        for (uint32_t k = 0; k < p - r; k++)
        {
            gradients(0);
        }
        for (const uint32_t chunk : {1U, 0U})
        {
            while (writer.Owed(chunk) > 0)
            {
                writer.WeightGradient(chunk);
            }
        }
        return writer.Take();
    }
};

} // namespace

const PipelineSchedule&
ZbvSchedule()
{
    static const Zbv schedule;
    return schedule;
}

} // namespace scaleacross
