// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LAYOUT_KEY_H
#define SCALEACROSS_LAYOUT_KEY_H

#include "core/spec/parallel-plan.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What decides where the ranks of a plan are, what they see of a batch at a time, and whether time
/// deals layers and batch out: of one cluster and workload, plans with equal keys have all of it in
/// common.
std::vector<uint64_t> LayoutKey(const ParallelPlan& plan);

} // namespace scaleacross

#endif // SCALEACROSS_LAYOUT_KEY_H
