// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/rounds.h"

#include <algorithm>
#include <string>

namespace scaleacross
{

uint32_t
RoundOf(const PipelineShape& shape)
{
    const uint32_t p = shape.ranks;
    const uint32_t m = shape.microbatches;
    const uint32_t n = shape.round != 0 ? shape.round : m / std::max(1U, m / p);
    return m % n == 0 ? n : 0;
}

PipelineAction
RoundStep(Action action, uint32_t k, uint32_t round, uint32_t chunks)
{
    const uint32_t within = k % (round * chunks);
    const uint32_t chunk = within / round;
    const uint32_t microbatch = k / (round * chunks) * round + within % round;
    return {action,
            static_cast<uint16_t>(action == Action::Forward ? chunk : chunks - 1 - chunk),
            static_cast<uint16_t>(microbatch)};
}

std::vector<PipelineAction>
OneForwardOneBackward(uint32_t warmup, uint32_t steps, uint32_t round, uint32_t chunks)
{
    std::vector<PipelineAction> order;
    order.reserve(2 * size_t{steps});
    for (uint32_t k = 0; k < steps + warmup; k++)
    {
        if (k < steps)
        {
            order.push_back(RoundStep(Action::Forward, k, round, chunks));
        }
        if (k >= warmup)
        {
            order.push_back(RoundStep(Action::Backward, k - warmup, round, chunks));
        }
    }
    return order;
}

std::optional<Infeasible>
CheckRounds(const PipelineShape& shape)
{
    const std::string name = ToString(shape.schedule);
    const std::string m = std::to_string(shape.microbatches);
    if (shape.round != 0 && (shape.round < shape.ranks || shape.round > shape.microbatches))
    {
        return Infeasible{"schedule",
                          name + " rounds of " + std::to_string(shape.round) +
                              " microbatches are not between pp " + std::to_string(shape.ranks) +
                              " and the " + m + " microbatches: take plan.round between these"};
    }
    if (RoundOf(shape) == 0)
    {
        const std::string rounds =
            shape.round != 0 ? "rounds of " + std::to_string(shape.round) + " microbatches do"
                             : std::to_string(shape.microbatches / shape.ranks) + " rounds do";
        return Infeasible{"schedule",
                          name + "'s " + rounds + " not divide " + m + " microbatches: take " +
                              "a plan.round that does, or another number of them"};
    }
    return std::nullopt;
}

} // namespace scaleacross
