// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/rounds.h"

#include <algorithm>
#include <string>

namespace scaleacross
{

namespace
{

ScheduleFacts
DepthFirstFacts()
{
    ScheduleFacts facts;
    facts.name = "interleaved";
    facts.help = "1F1B over chunks, in rounds of pp";
    facts.source = "Narayanan et al., arXiv:2104.04473";
    facts.chunks = {2, kAnyChunks, 1};
    return facts;
}

ScheduleFacts
FlexibleFacts()
{
    ScheduleFacts facts;
    facts.name = "dorapp";
    facts.help = "flexible interleaved 1F1B, rounds of pp to m microbatches; our reconstruction of "
                 "DoraPP, whose definition is not public";
    facts.source = "Llama 3, arXiv:2407.21783 section 3.3.2; reconstructed";
    facts.chunks = {1, kAnyChunks, 1};
    facts.inRounds = true;
    return facts;
}

/// (v-1) N + 2 (p-1-r) forwards, at most all, then pairs: the bubble shrinks to 1/v for v times the
/// transfers.
std::vector<PipelineAction>
Flexible(const PipelineShape& shape, uint32_t r)
{
    const uint32_t steps = shape.microbatches * shape.chunks;
    const uint32_t round = RoundOf(shape);
    const uint32_t warmup = (shape.chunks - 1) * round + 2 * (shape.ranks - 1 - r);
    return OneForwardOneBackward(std::min(warmup, steps), steps, round, shape.chunks);
}

Duration
FlexibleBubble(const PipelineShape& shape, const PassTimes& times)
{
    return times.Total() * (shape.ranks - 1) / shape.chunks;
}

/// Depth first: rounds of N = p.
class Interleaved : public PipelineSchedule
{
  public:
    Interleaved()
        : PipelineSchedule(DepthFirstFacts())
    {
    }

  private:
    std::optional<Infeasible> DoCheck(const PipelineShape& shape) const override
    {
        if (shape.microbatches % shape.ranks != 0)
        {
            return Infeasible{"schedule",
                              "interleaved runs rounds of pp " + std::to_string(shape.ranks) +
                                  " microbatches, which does not divide the " +
                                  std::to_string(shape.microbatches) +
                                  " microbatches: take a multiple of pp of them"};
        }
        return std::nullopt;
    }

    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        PipelineShape depthFirst = shape;
        depthFirst.round = shape.ranks;
        return Flexible(depthFirst, r);
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return FlexibleBubble(shape, times);
    }
};

/// Our reconstruction of DoraPP: the flexible schedule of Llama 3 (arXiv:2407.21783, 3.3.2), rounds
/// of any N between depth first and breadth first.
class DoraPp : public PipelineSchedule
{
  public:
    DoraPp()
        : PipelineSchedule(FlexibleFacts())
    {
    }

  private:
    std::optional<Infeasible> DoCheck(const PipelineShape& shape) const override
    {
        return CheckRounds(shape);
    }

    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        return Flexible(shape, r);
    }

    Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const override
    {
        return FlexibleBubble(shape, times);
    }
};

} // namespace

const PipelineSchedule&
InterleavedSchedule()
{
    static const Interleaved schedule;
    return schedule;
}

const PipelineSchedule&
DoraPpSchedule()
{
    static const DoraPp schedule;
    return schedule;
}

} // namespace scaleacross
