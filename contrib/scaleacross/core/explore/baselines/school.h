// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHOOL_H
#define SCALEACROSS_SCHOOL_H

#include "core/spec/complete-search.h"
#include "core/spec/study.h"

#include <string>

/// What schools have in common (BaselineFacts).
namespace scaleacross::school
{

/// Tensor parallel degrees that a server and the heads allow, ascending.
Values TensorDegrees(const Study& study);

/// Divisors of a server's GPUs.
Values ContextDegrees(const Study& study);

/// Divisors of the batch up to 8.
Values Microbatches(const Study& study);

/// What a plan may recompute, the least first.
Values Recomputations();

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
