// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BENCH_PLANS_H
#define SCALEACROSS_BENCH_PLANS_H

#include "core/spec/study.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace scaleacross
{

/// The study whose space is timed where none is named: Llama 4 Maverick over two buildings.
Study StandardStudy();

/**
 * What a search pays for a plan, in CPU time of one thread, over the space of a study.
 *
 * A leaf bound is all that is found out of a distinct plan before it is put into the queue: making
 * it and seeing that no other means the same, layout, schedule and memory, and FirstLook()'s bound.
 * The filter's bound (rung 1.5, with the bounds of cuts and NICs) and rung 2 are timed on every
 * `stride`-th of those that can run.
 *
 * Keys: study, combinations, space, runnable, leaf_bounds_per_cpu_s, leaf_bound_us, sample,
 * replay_us and run_us (mean), bound_error (mean of rung 2 / rung 1.5 - 1), bound_error_worst,
 * repeat. Of `repeat` passes over the space the median counts.
 */
nlohmann::json BenchPlans(const Study& study, uint32_t repeat, uint64_t stride);

} // namespace scaleacross

#endif // SCALEACROSS_BENCH_PLANS_H
