// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEDULE_H
#define SCALEACROSS_SCHEDULE_H

#include "core/base/word.h"

#include <vector>

namespace scaleacross
{

class PipelineSchedule;

/// The name of a pipeline schedule as a value: what a plan holds.
using Schedule = Word<PipelineSchedule>;

template <>
const std::vector<const PipelineSchedule*>& Schedule::Rows();
extern template class Word<PipelineSchedule>;

} // namespace scaleacross

#endif // SCALEACROSS_SCHEDULE_H
