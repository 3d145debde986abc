// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_FIGURES_H
#define SCALEACROSS_MODEL_FIGURES_H

#include "core/engine/run-report.h"

#include <array>

namespace scaleacross
{

/// Figures of a report that a model's training has: in databases and JSON they are null where none
/// was trained (HasModel()), and 0 in the report.
constexpr std::array<const char*, 2> kModelFigures{"mfu", "memory_bytes_max"};

/// Whether a model was trained; a collective and traces of unknown content have no memory.
inline bool
HasModel(const RunReport& report)
{
    return !report.memory.empty();
}

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_FIGURES_H
