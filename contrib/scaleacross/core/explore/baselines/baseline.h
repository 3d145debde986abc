// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BASELINES_H
#define SCALEACROSS_BASELINES_H

#include "core/base/errors.h"
#include "core/explore/search.h"
#include "core/spec/plan-fields.h"
#include "core/spec/study.h"

#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/**
 * A school of training large models: what it always does, what it tunes, and what it does not
 * touch.
 *
 * A baseline's plan is the fastest of the school: all combinations of what it tunes, over complete
 * sets of values, by the analytical engine. The gain of a search over it is the worth of what the
 * school was not allowed to touch.
 */
struct Baseline
{
    std::string name;
    std::string rule;      //!< what it always does
    std::string tunes;     //!< what it chooses by the iteration time
    std::string untouched; //!< what it leaves alone

    /// The spaces of the school for a study, the preferred one first: the next one counts only
    /// where no plan of those before can run.
    std::vector<Study> (*spaces)(const Study& study);
};

/**
 * `production`: what an operator who trains over several buildings today would do.
 *
 * DP-out, HSDP without reshard, flexible interleaved 1F1B (dorapp, reconstructed, in rounds of pp),
 * hierarchical collectives, E-ECMP with 16 queue pairs; tp is the largest divisor of a server's
 * GPUs that divides heads and KV heads (Llama 3: tensor parallelism fills the server). It tunes pp,
 * cp, ep, chunks, microbatch and asynchronous tensor parallelism. It does not touch what crosses,
 * sharding, schedule, tp and network. Sources: what is published of Llama 3 and of
 * the study's "production configuration" says DP-out, HSDP and QP scaling.
 *
 * `megatron`: what a Megatron-LM user would end up with by its published guidance: tensor
 * parallelism inside the server, its distributed optimizer, interleaved or plain 1F1B, rings (NCCL
 * knows no buildings).
 *
 * FSDP without reshard holds and sends the same as Megatron's distributed optimizer (gradient
 * reduce-scatter and parameter all-gather once per iteration, optimizer states over all of DP). Its
 * rank order is tp-cp-ep-dp-pp, the pipeline outermost (the default of initialize_model_parallel):
 * PP-out where any plan of it can run, else DP-out (its --use-tp-pp-dp-mapping). It tunes tp, cp,
 * ep, pp, schedule, chunks, microbatch and asynchronous tensor parallelism (its --tp-comm-overlap).
 * It does not touch what crosses, sharding and network.
 *
 * Both recompute the least that fits, nothing before selective before full: it costs time and buys
 * nothing but memory (Korthikanti et al., arXiv:2205.05198).
 *
 * Values: tp divides the server's GPUs, heads and KV heads; cp the server's GPUs; ep the experts;
 * pp the GPUs and is at most the layers; microbatches divide the batch, up to 8; chunks divide the
 * layers or the layers + 2 (embedding and loss counted as layers, as Megatron's options
 * account-for-embedding- and -loss-in-pipeline-split do), up to half of them. All else is as the
 * study fixes it.
 */
const std::vector<Baseline>& Baselines();

/// Throws ConfigError that lists the known names and suggests the nearest.
const Baseline& FindBaseline(const std::string& name);

/**
 * The fastest plan of the school, or why it has none: its first space's most frequent reason.
 *
 * `jobs`, `stop` and `progress` of the options count; throws Interrupted where stopped. The plan
 * does not depend on the number of threads.
 */
std::variant<Plan, Infeasible> ChooseBaseline(const Baseline& baseline,
                                              const Study& study,
                                              const Engine& engine,
                                              const SearchOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_BASELINES_H
