// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/pipeline-schedule.h"

#include "core/pipeline/order-walk.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

/// Microbatches and chunks are 16-bit numbers in an action.
constexpr uint32_t kMost = 65535;

} // namespace

PipelineSchedule::PipelineSchedule(ScheduleFacts facts)
    : m_facts(std::move(facts))
{
}

PipelineSchedule::~PipelineSchedule() = default;

std::string
PipelineSchedule::ChunksText() const
{
    const ChunkRule& rule = m_facts.chunks;
    const std::string least = std::to_string(rule.least);
    if (rule.least == rule.most)
    {
        return least;
    }
    if (rule.step == 1)
    {
        return least + " or more";
    }
    return least + ", " + std::to_string(rule.least + rule.step) + ", " +
           std::to_string(rule.least + 2 * rule.step) + " ...";
}

std::optional<Infeasible>
PipelineSchedule::Check(const PipelineShape& shape) const
{
    if (shape.ranks == 0 || shape.microbatches == 0 || shape.chunks == 0)
    {
        return Infeasible{"schedule",
                          "a pipeline without ranks, microbatches or chunks: take 1 or more"};
    }
    if (shape.microbatches > kMost || shape.chunks > kMost)
    {
        return Infeasible{"schedule",
                          std::to_string(shape.microbatches) + " microbatches of " +
                              std::to_string(shape.chunks) + " chunks: at most " +
                              std::to_string(kMost) +
                              " of either: take a larger plan.microbatch, or fewer chunks"};
    }
    const ChunkRule& rule = m_facts.chunks;
    if (shape.chunks < rule.least || shape.chunks > rule.most ||
        (shape.chunks - rule.least) % rule.step != 0)
    {
        return Infeasible{"schedule",
                          m_facts.name + " takes " + ChunksText() +
                              " chunks per rank, the plan has " + std::to_string(shape.chunks) +
                              ": take so many plan.chunks, or another plan.schedule"};
    }
    return DoCheck(shape);
}

std::vector<PipelineAction>
PipelineSchedule::Order(const PipelineShape& shape, uint32_t r) const
{
    return DoOrder(shape, r);
}

PipelineOrders
PipelineSchedule::Orders(const PipelineShape& shape) const
{
    return DoOrders(shape);
}

Duration
PipelineSchedule::Bubble(const PipelineShape& shape, const PassTimes& times) const
{
    return std::max(Duration(), DoBubble(shape, times));
}

std::optional<Infeasible>
PipelineSchedule::DoCheck(const PipelineShape& /*shape*/) const
{
    return std::nullopt;
}

PipelineOrders
PipelineSchedule::DoOrders(const PipelineShape& shape) const
{
    PipelineOrders orders;
    orders.reserve(shape.ranks);
    for (uint32_t r = 0; r < shape.ranks; r++)
    {
        orders.push_back(DoOrder(shape, r));
    }
    return orders;
}

Duration
PipelineSchedule::DoBubble(const PipelineShape& shape, const PassTimes& times) const
{
    // Beyond fill and drain every microbatch adds its own passes, hence no bubble.
    PipelineShape few = shape;
    few.microbatches = std::min(shape.microbatches, 4 * shape.ranks);
    if (Check(few))
    {
        few.microbatches = shape.microbatches;
    }
    const PassTimes each = {times.forward / shape.chunks,
                            times.inputGradient / shape.chunks,
                            times.weightGradient / shape.chunks};
    const PipelineTimes alike = {std::vector<PassTimes>(Positions(shape), each),
                                 std::vector<Duration>(Positions(shape))};
    const auto spans = WalkOrders(few, Orders(few), alike);
    SCALEACROSS_INVARIANT(spans, m_facts.name + " waits in a circle");
    return spans->Longest() - each.Total() * (int64_t{few.microbatches} * shape.chunks);
}

} // namespace scaleacross
