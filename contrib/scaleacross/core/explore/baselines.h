// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BASELINES_H
#define SCALEACROSS_BASELINES_H

#include "core/base/errors.h"
#include "core/explore/fit-check.h"
#include "core/spec/plan-fields.h"
#include "core/spec/study.h"

#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// A plan that somebody would use without a search: a fixed rule, against which gains are stated.
struct Baseline
{
    std::string name;
    std::string rule; //!< for `list` and reports, one or two sentences

    /// The rule's plan for a study, or the reason why the rule finds none.
    std::variant<Plan, Infeasible> (*choose)(const Study& study, const FitCheck& fits);
};

/**
 * `production`: what an operator who trains over several buildings today would do.
 *
 * DP-out, HSDP without reshard, flexible interleaved 1F1B (dorapp, reconstructed), hierarchical
 * collectives, E-ECMP with 16 queue pairs, microbatch 1, cp as the study fixes it. tp is the
 * largest divisor of a server's GPUs that divides heads and KV heads (Llama 3: tensor parallelism
 * fills the server). ep is the largest divisor of the experts that divides dp, with tp cp ep GPUs
 * inside one pod of full bisection. Then, in this order: no recomputation, else selective, else
 * full; within each, the least pp >= 2 that fits; within it, the largest chunk count that fits
 * (layers / pp down to 2, for with 1 nothing is interleaved). Sources: facts on Llama 3 and on the
 * study's "production configuration" say DP-out, HSDP, QP scaling and no recomputation at 8k; the
 * rule that picks degrees is ours.
 *
 * `megatron`: what a Megatron-LM user would write down by its published guidance: as little model
 * parallelism as memory allows, tensor and expert parallelism inside the server, then pipeline.
 *
 * FSDP without reshard, which holds and sends the same as Megatron's distributed optimizer
 * (gradient reduce-scatter and parameter all-gather once per iteration, optimizer states over all
 * of DP). Microbatch 1, ring collectives (NCCL knows no buildings), all else of the network and cp
 * as the study fixes it. pp = 1, 2, ... ascending; within a pp, (tp, ep) with tp ep inside a server
 * by ascending product, at equal products the smaller tp (expert before tensor parallelism), with
 * pp > 1 only the (tp, ep) that fill the server as far as the heads allow; within it no
 * recomputation, else selective; with pp > 1 interleaved, most chunks first, where the layers, or
 * layers + 2 (embedding and loss counted as layers, as its options account-for-embedding- and
 * -loss-in-pipeline-split do), divide evenly over the virtual stages. If nothing fits: the same
 * with full recomputation, then with 1F1B, then with both. Its rank order is tp-cp-ep-dp-pp, the
 * pipeline outermost (the default of initialize_model_parallel): PP-out where that can be laid
 * out, else DP-out (its --use-tp-pp-dp-mapping).
 */
const std::vector<Baseline>& Baselines();

/// Throws ConfigError that lists the known names and suggests the nearest.
const Baseline& FindBaseline(const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_BASELINES_H
