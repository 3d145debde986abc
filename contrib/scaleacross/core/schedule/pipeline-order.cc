// SPDX-License-Identifier: GPL-2.0-only

#include "core/schedule/pipeline-order.h"

#include <algorithm>
#include <string>

namespace scaleacross
{

namespace
{

/// Microbatches and chunks are 16-bit numbers in an action.
constexpr uint32_t kMost = 65535;

/// N, the contiguous microbatches per chunk and round; 0 if the shape has none that fits. DoraPP
/// without a given round follows the rule of PyTorch's interleaved schedule: R = max(1, m / p)
/// rounds of N = m / R, which is N = p wherever p divides m.
uint32_t
RoundOf(const PipelineShape& shape)
{
    const uint32_t p = shape.ranks;
    const uint32_t m = shape.microbatches;
    uint32_t n = p;
    if (shape.schedule == Schedule::DoraPp)
    {
        n = shape.round != 0 ? shape.round : m / std::max(1U, m / p);
    }
    return m % n == 0 ? n : 0;
}

/// The k-th chunk and microbatch that go forward on any rank: rounds of N microbatches, within a
/// round chunk by chunk. The k-th backward is the same with the chunks reversed.
PipelineAction
Step(Action action, uint32_t k, uint32_t round, uint32_t chunks)
{
    const uint32_t within = k % (round * chunks);
    const uint32_t chunk = within / round;
    const uint32_t microbatch = k / (round * chunks) * round + within % round;
    return {action,
            static_cast<uint16_t>(action == Action::Forward ? chunk : chunks - 1 - chunk),
            static_cast<uint16_t>(microbatch)};
}

/// `warmup` forwards, then one forward and one backward in turn, then the remaining backwards.
std::vector<PipelineAction>
OneForwardOneBackward(uint32_t warmup, uint32_t steps, uint32_t round, uint32_t chunks)
{
    std::vector<PipelineAction> order;
    order.reserve(2 * steps);
    for (uint32_t k = 0; k < steps + warmup; k++)
    {
        if (k < steps)
        {
            order.push_back(Step(Action::Forward, k, round, chunks));
        }
        if (k >= warmup)
        {
            order.push_back(Step(Action::Backward, k - warmup, round, chunks));
        }
    }
    return order;
}

/// Warm-up as in 1F1B; backwards are I; rank r lags its W by r microbatches, so that every rank
/// holds p microbatches and the W fill what would be the drain bubble.
std::vector<PipelineAction>
ZeroBubbleH1(uint32_t warmup, uint32_t lag, uint32_t microbatches)
{
    std::vector<PipelineAction> order;
    order.reserve(3 * microbatches);
    const auto add = [&order](Action action, uint32_t microbatch) {
        order.push_back({action, 0, static_cast<uint16_t>(microbatch)});
    };
    for (uint32_t k = 0; k < microbatches + warmup; k++)
    {
        if (k < microbatches)
        {
            add(Action::Forward, k);
        }
        if (k >= warmup)
        {
            add(Action::InputGradient, k - warmup);
            if (k - warmup >= lag)
            {
                add(Action::WeightGradient, k - warmup - lag);
            }
        }
    }
    for (uint32_t k = microbatches - std::min(lag, microbatches); k < microbatches; k++)
    {
        add(Action::WeightGradient, k);
    }
    return order;
}

std::optional<Infeasible>
CheckRounds(const PipelineShape& shape)
{
    const std::string p = std::to_string(shape.ranks);
    const std::string m = std::to_string(shape.microbatches);
    if (shape.schedule == Schedule::Interleaved)
    {
        if (shape.chunks < 2)
        {
            return Infeasible{"schedule",
                              "interleaved needs at least 2 chunks per rank, the plan has 1"};
        }
        if (RoundOf(shape) == 0)
        {
            return Infeasible{"schedule",
                              "interleaved runs rounds of pp " + p +
                                  " microbatches, which does "
                                  "not divide the " +
                                  m + " microbatches"};
        }
        return std::nullopt;
    }
    if (shape.round != 0 && (shape.round < shape.ranks || shape.round > shape.microbatches))
    {
        return Infeasible{"schedule",
                          "dorapp rounds of " + std::to_string(shape.round) +
                              " microbatches are not between pp " + p + " and the " + m +
                              " microbatches"};
    }
    if (RoundOf(shape) == 0)
    {
        const std::string rounds =
            shape.round != 0 ? "rounds of " + std::to_string(shape.round) + " microbatches do"
                             : std::to_string(shape.microbatches / shape.ranks) + " rounds do";
        return Infeasible{"schedule", "dorapp's " + rounds + " not divide " + m + " microbatches"};
    }
    return std::nullopt;
}

} // namespace

std::optional<Infeasible>
CheckPipeline(const PipelineShape& shape)
{
    if (shape.ranks == 0 || shape.microbatches == 0 || shape.chunks == 0)
    {
        return Infeasible{"schedule", "a pipeline without ranks, microbatches or chunks"};
    }
    if (shape.microbatches > kMost || shape.chunks > kMost)
    {
        return Infeasible{"schedule",
                          std::to_string(shape.microbatches) + " microbatches of " +
                              std::to_string(shape.chunks) + " chunks: at most " +
                              std::to_string(kMost) + " of either"};
    }
    switch (shape.schedule)
    {
    case Schedule::GPipe:
    case Schedule::OneFOneB:
    case Schedule::ZbH1:
        if (shape.chunks != 1)
        {
            return Infeasible{"schedule",
                              std::to_string(shape.chunks) +
                                  " chunks per rank with a schedule that has one: gpipe, 1f1b "
                                  "and zb-h1 do not interleave"};
        }
        return std::nullopt;
    case Schedule::Interleaved:
    case Schedule::DoraPp:
        return CheckRounds(shape);
    }
    return std::nullopt;
}

std::vector<PipelineAction>
PipelineOrder(const PipelineShape& shape, uint32_t r)
{
    const uint32_t m = shape.microbatches;
    const uint32_t v = shape.chunks;
    const uint32_t after = shape.ranks - 1 - r; // ranks that follow this one
    switch (shape.schedule)
    {
    case Schedule::GPipe:
        return OneForwardOneBackward(m, m, m, 1);
    case Schedule::OneFOneB:
        return OneForwardOneBackward(std::min(after, m), m, m, 1);
    case Schedule::ZbH1:
        return ZeroBubbleH1(std::min(after, m), r, m);
    case Schedule::Interleaved:
    case Schedule::DoraPp: {
        const uint32_t round = RoundOf(shape);
        const uint32_t warmup = std::min((v - 1) * round + 2 * after, m * v);
        return OneForwardOneBackward(warmup, m * v, round, v);
    }
    }
    return {};
}

uint64_t
PeakHeld(const PipelineShape& shape, uint32_t r, const std::vector<uint64_t>& heldByChunk)
{
    uint64_t held = 0;
    uint64_t peak = 0;
    for (const auto& action : PipelineOrder(shape, r))
    {
        switch (action.action)
        {
        case Action::Forward:
            held += heldByChunk[action.chunk];
            peak = std::max(peak, held);
            break;
        case Action::Backward:
        case Action::WeightGradient:
            held -= heldByChunk[action.chunk];
            break;
        case Action::InputGradient:
        case Action::Optimizer:
            break;
        }
    }
    return peak;
}

uint32_t
PeakInFlight(const PipelineShape& shape, uint32_t r)
{
    return static_cast<uint32_t>(PeakHeld(shape, r, std::vector<uint64_t>(shape.chunks, 1)));
}

} // namespace scaleacross
