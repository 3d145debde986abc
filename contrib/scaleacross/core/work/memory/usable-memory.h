// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_USABLE_MEMORY_H
#define SCALEACROSS_USABLE_MEMORY_H

#include "core/base/units.h"
#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"

#include <cstdint>

namespace scaleacross
{

/// HBM that stage `stage` may fill: the usable part of the smallest GPU among those it is on.
Bytes UsableMemory(const Scenario& scenario, const RankLayout& layout, uint32_t stage);

} // namespace scaleacross

#endif // SCALEACROSS_USABLE_MEMORY_H
