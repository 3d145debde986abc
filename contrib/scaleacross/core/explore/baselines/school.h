// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHOOL_H
#define SCALEACROSS_SCHOOL_H

#include "core/spec/study.h"

#include <cstdint>
#include <string>
#include <vector>

/// What schools have in common (BaselineFacts).
namespace scaleacross::school
{

using Values = std::vector<std::string>;

/// The divisors of n up to `most`, ascending.
Values Divisors(uint32_t n, uint32_t most);

/// GPUs that every server has a whole number of.
uint32_t ServerGpus(const Study& study);

/// Tensor parallel degrees that a server and the heads allow, ascending.
Values TensorDegrees(const Study& study);

/// Divisors of a server's GPUs.
Values ContextDegrees(const Study& study);

/// Divisors of the experts; 1 of a dense model.
Values ExpertDegrees(const Study& study);

/// Divisors of the GPUs, up to the layers.
Values PipelineDegrees(const Study& study);

/// Chunk counts that split the layers evenly over some number of stages, or the layers with the
/// embedding and the loss counted as two more; up to half of the layers.
Values ChunkCounts(const Study& study);

/// Divisors of the batch up to 8.
Values Microbatches(const Study& study);

/// Ranks that share weights with HSDP: 0 (those of a building), and what lies on one server.
Values ShardGroups(const Study& study);

/// What a plan may recompute, the least first.
Values Recomputations();

/// Both values of a field that is on or off.
Values Either();

/// Whether a study gives or varies plan.etp.
bool NamesExpertTensor(const Study& study);

/**
 * What every school tunes; the plan is the study's network and defaults for all else.
 *
 * Values: cp divides the server's GPUs; ep the experts; pp the GPUs and is at most the layers;
 * microbatches divide the batch, up to 8; chunks divide the layers or the layers + 2 (embedding and
 * loss counted as layers, as Megatron's options account-for-embedding- and
 * -loss-in-pipeline-split do), up to half of them. All else is as the study fixes it.
 *
 * All recompute the least that fits, nothing before selective before full: it costs time and buys
 * nothing but memory (Korthikanti et al., arXiv:2205.05198).
 */
Study SchoolOf(const Study& study);

/**
 * What every planner tunes that lays a job over buildings: tp inside the server, ep, pp,
 * microbatches and asynchronous tensor parallelism, with the values of SchoolOf, the least
 * recomputation that fits. All else has its default; the network is the study's.
 *
 * Some of them take degrees as given; whoever uses them gives them good ones, hence these are tuned
 * for all. None knows context parallelism.
 */
Study PlannerOf(const Study& study);

/// Without an axis.
Study Without(Study study, const std::string& key);

} // namespace scaleacross::school

#endif // SCALEACROSS_SCHOOL_H
