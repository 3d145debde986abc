// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MEGATRON_WORDS_H
#define SCALEACROSS_MEGATRON_WORDS_H

#include "cli/plan-formats/planned-job.h"

#include <string>
#include <vector>

/// How Megatron-LM says layers and modules.
namespace scaleacross
{

/**
 * Options that give every position of the pipeline its layers, and every rank its virtual stages:
 * the simplest that do. None where all stages have equally many, without virtual ones.
 *
 * Worked case: 126 layers over 16 stages, 7 + 14 x 8 + 7: --decoder-first-pipeline-num-layers 7 and
 * --decoder-last-pipeline-num-layers 7. With 4 virtual stages of 2, but for 1 in the first and the
 * last: --pipeline-model-parallel-layout 'Et|(t*2|)*62tL'. 8 layers over 2 stages, none in the
 * last: 'Et*8|L', since Megatron refuses ends of 0 layers by number.
 *
 * Domain: a plan with a pipeline.
 */
std::vector<std::string> MegatronLayerOptions(const PlannedJob& job);

/// Words of --recompute-modules, each behind a blank, of the parts of a model that are recomputed;
/// without those that it has not, which Megatron refuses.
std::string MegatronModules(const ModelSpec& model, const RecomputedParts& parts);

} // namespace scaleacross

#endif // SCALEACROSS_MEGATRON_WORDS_H
