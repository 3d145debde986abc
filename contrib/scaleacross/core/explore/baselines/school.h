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

/// Tensor parallel degrees that a server and the heads allow, ascending.
Values TensorDegrees(const Study& study);

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

} // namespace scaleacross::school

#endif // SCALEACROSS_SCHOOL_H
