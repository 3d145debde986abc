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
    facts.name = "1f1b-overlapped";
    facts.help = "1F1B, plain or over chunks in rounds, every forward beside a backward of another "
                 "microbatch";
    facts.source = "Megatron Core's overlap_moe_expert_parallel_comm";
    facts.chunks = {1, kAnyChunks, 1};
    facts.inRounds = true;
    facts.overlapsPasses = true;
    return facts;
}

/**
 * Interleaved 1F1B with one forward more to begin with, so that a forward and the backward after it
 * are of different microbatches and can be one action.
 *
 * A pair gives on what both of its passes made at its end, so a microbatch's way to the last rank
 * and back takes 2 (p-1-r) pairs from rank r, with one chunk as with many.
 */
class OneFOneBOverlapped : public PipelineSchedule
{
  public:
    OneFOneBOverlapped()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::optional<Infeasible> DoCheck(const PipelineShape& shape) const override
    {
        return shape.chunks == 1 ? std::nullopt : CheckRounds(shape);
    }

    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        const uint32_t steps = shape.microbatches * shape.chunks;
        const uint32_t round = shape.chunks == 1 ? shape.microbatches : RoundOf(shape);
        const uint32_t warmup =
            std::min((shape.chunks - 1) * round + 2 * (shape.ranks - 1 - r) + 1, steps);
        const auto step = [&](Action action, uint32_t k) {
            return RoundStep(action, k, round, shape.chunks);
        };
        std::vector<PipelineAction> order;
        order.reserve(steps + warmup);
        for (uint32_t k = 0; k < warmup; k++)
        {
            order.push_back(step(Action::Forward, k));
        }
        for (uint32_t k = warmup; k < steps; k++)
        {
            PipelineAction pair = step(Action::Forward, k);
            const PipelineAction back = step(Action::Backward, k - warmup);
            pair.action = Action::ForwardBackward;
            pair.backChunk = back.chunk;
            pair.backMicrobatch = back.microbatch;
            order.push_back(pair);
        }
        for (uint32_t k = steps - warmup; k < steps; k++)
        {
            order.push_back(step(Action::Backward, k));
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
OneFOneBOverlappedSchedule()
{
    static const OneFOneBOverlapped schedule;
    return schedule;
}

} // namespace scaleacross
