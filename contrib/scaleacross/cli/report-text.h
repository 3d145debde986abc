// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_REPORT_TEXT_H
#define SCALEACROSS_REPORT_TEXT_H

#include "core/explore/outcome.h"

#include <string>

namespace scaleacross
{

/// One run for people: the plan, its main figures and a table of its communication classes.
std::string RunText(const std::string& label, const Evaluation& evaluation);

} // namespace scaleacross

#endif // SCALEACROSS_REPORT_TEXT_H
