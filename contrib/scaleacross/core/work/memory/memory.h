// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MEMORY_H
#define SCALEACROSS_MEMORY_H

#include "core/base/errors.h"
#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Bytes a rank of one pipeline stage holds at its peak, by category, and may hold.
struct MemoryUse
{
    Bytes parameters; //!< BF16, as sharded at rest
    Bytes gradients;
    Bytes optimizer;   //!< FP32 master weights and two Adam moments
    Bytes activations; //!< at the schedule's peak of microbatches in flight
    Bytes gathered;    //!< unsharded parameters (and gradients) of live FSDP units
    Bytes buffers;     //!< messages, what is live in a pass, stand-ins for gradients
    Bytes usable;      //!< HBM that it may fill, of its GPU; 0 where nothing is known

    Bytes Total() const
    {
        return parameters + gradients + optimizer + activations + gathered + buffers;
    }

    static const FigureTable<MemoryUse>& Figures();
};

/**
 * One entry per pipeline stage, for the rank that has the least left: buildings may differ in the
 * memory of their GPUs and, under plan.apportion, in microbatches. Formulas and sources in the .cc.
 * Domain: a job that CheckJob() accepts.
 *
 * `activations` follows the order of the schedule: the peak, over its actions, of what each chunk
 * keeps per microbatch from forward to the end of backward (to W, where the backward is split).
 */
std::vector<MemoryUse> MemoryOf(const Scenario& scenario, const RankLayout& layout);

/// The same for the rank that holds the most, whatever its GPU has. `tightest`: MemoryOf() of the
/// two, which it is unless replicas differ in their microbatches.
std::vector<MemoryUse> FullestOf(const Scenario& scenario,
                                 const RankLayout& layout,
                                 const std::vector<MemoryUse>& tightest);

/// The most that an entry holds.
Bytes MostOf(const std::vector<MemoryUse>& stages);

/// The same of one building: its stages, rising, on its own GPUs and with its own microbatches.
std::vector<MemoryUse> MemoryIn(const Scenario& scenario,
                                const RankLayout& layout,
                                uint32_t building);

/// Infeasible "memory": the stage that exceeds the usable HBM the most, with need, limit and
/// largest category. Nothing without WorkloadSpec::memoryLimit.
std::optional<Infeasible> CheckMemory(const Scenario& scenario, const RankLayout& layout);
/// The same with MemoryOf() of the two.
std::optional<Infeasible> CheckMemory(const Scenario& scenario,
                                      const std::vector<MemoryUse>& stages);

/// What a plan lacks that runs without WorkloadSpec::memoryLimit: at most one line.
std::vector<std::string> MemoryWarnings(const Scenario& scenario);

/// The same of a run, by its stages; of those whose usable HBM is not known nothing is said.
std::vector<std::string> MemoryWarnings(const std::vector<MemoryUse>& stages);

} // namespace scaleacross

#endif // SCALEACROSS_MEMORY_H
