// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_PROGRAM_H
#define SCALEACROSS_PIPELINE_PROGRAM_H

#include "core/pipeline/order-walk.h"
#include "core/pipeline/pipeline-order.h"
#include "core/program/program.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Where a rank stands in its pipeline and what its neighbours exchange.
struct PipelinePlace
{
    PipelineShape shape;
    uint32_t stage{0};  //!< r
    Rank rank{0};       //!< of the job, which has this stage
    RankGroup pipeline; //!< the ranks of a replica's stages
    Bytes bytes;        //!< of one activation or gradient message
};

/**
 * Messages of one iteration: one per direction, boundary between two virtual stages and microbatch,
 * numbered ((direction x boundaries) + boundary) x m + microbatch with forward = direction 0. Those
 * over a boundary inside a rank have numbers and are not sent; none where all virtual stages are on
 * one rank.
 */
uint32_t PipelineMessages(const PipelineShape& shape);

/// By action of the place's rank: PostReceive of the messages whose receives are posted before it.
std::vector<std::vector<Op>> PostsOf(const PipelinePlace& place,
                                     const std::vector<PipelineAction>& actions,
                                     const ReceivePosts& posts);

/**
 * Appends one action to a program: receive what it needs from the neighbouring virtual stages, run
 * `body`, send what it made. A weight gradient neither receives nor sends; what passes between two
 * chunks of the rank is no transfer.
 */
void AppendAction(const PipelinePlace& place,
                  const PipelineAction& action,
                  uint32_t body,
                  Program& program);

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_PROGRAM_H
