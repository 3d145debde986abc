// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_SHAPE_H
#define SCALEACROSS_PIPELINE_SHAPE_H

#include "core/pipeline/pipeline-times.h"
#include "core/pipeline/schedule.h"
#include "core/program/program.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace scaleacross
{

/// Dimensions of a pipeline schedule.
struct PipelineShape
{
    Schedule schedule;
    uint32_t ranks{1};        //!< p
    uint32_t microbatches{1}; //!< m
    uint32_t chunks{1};       //!< v per rank
    /// N of schedules in rounds, p <= N <= m, dividing m. 0: m / max(1, m / p), which is p where p
    /// divides m.
    uint32_t round{0};
    /// Most microbatches, all chunks of a rank together, whose activations a schedule with a limit
    /// lets a rank hold. 0: p.
    uint32_t inFlight{0};
    /// For schedules that are made for times; null: all passes alike and free transfers.
    std::shared_ptr<const PipelineTimes> times{};
};

/// One step of a rank's pipeline: what to do to which model chunk for which microbatch.
struct PipelineAction
{
    Action action{Action::Forward};
    uint16_t chunk{0};
    uint16_t microbatch{0};
    uint16_t backChunk{0}; //!< ForwardBackward: what goes backward
    uint16_t backMicrobatch{0};

    friend bool operator==(const PipelineAction& a, const PipelineAction& b)
    {
        return a.action == b.action && a.chunk == b.chunk && a.microbatch == b.microbatch &&
               a.backChunk == b.backChunk && a.backMicrobatch == b.backMicrobatch;
    }
};

/// A microbatch's way through a chunk, in one direction.
struct ChunkPass
{
    uint16_t chunk{0};
    uint16_t microbatch{0};
};

/// What an action does forward, if anything.
constexpr std::optional<ChunkPass>
ForwardOf(const PipelineAction& action)
{
    if (action.action == Action::Forward || action.action == Action::ForwardBackward)
    {
        return ChunkPass{action.chunk, action.microbatch};
    }
    return std::nullopt;
}

/// Of which pass it makes the input gradient.
constexpr std::optional<ChunkPass>
InputGradientOf(const PipelineAction& action)
{
    if (action.action == Action::ForwardBackward)
    {
        return ChunkPass{action.backChunk, action.backMicrobatch};
    }
    if (action.action == Action::Backward || action.action == Action::InputGradient)
    {
        return ChunkPass{action.chunk, action.microbatch};
    }
    return std::nullopt;
}

/// Of which pass it makes the weight gradient, after which nothing of the pass is held.
constexpr std::optional<ChunkPass>
WeightGradientOf(const PipelineAction& action)
{
    return action.action == Action::WeightGradient  ? ChunkPass{action.chunk, action.microbatch}
           : action.action == Action::InputGradient ? std::optional<ChunkPass>()
                                                    : InputGradientOf(action);
}

/// Virtual stages (positions along the model) of all ranks: p v.
uint32_t Positions(const PipelineShape& shape);

/// The position of chunk `chunk` of rank r, by the schedule's placement.
uint32_t VirtualStage(const PipelineShape& shape, uint32_t r, uint32_t chunk);

/// The rank that holds a position.
uint32_t RankOf(const PipelineShape& shape, uint32_t position);

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_SHAPE_H
