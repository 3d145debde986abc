// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PASS_NAME_H
#define SCALEACROSS_PASS_NAME_H

#include "core/program/program.h"

#include <string>

namespace scaleacross
{

/// What a pass is called wherever people see it, in timelines and traces: "forward 3", "optimizer",
/// "forward and backward 3 and 1".
std::string PassName(Action action, uint16_t microbatch, uint16_t backMicrobatch);

} // namespace scaleacross

#endif // SCALEACROSS_PASS_NAME_H
