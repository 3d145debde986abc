// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WITHOUT_EFFECT_H
#define SCALEACROSS_WITHOUT_EFFECT_H

#include "core/spec/scenario.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// What a study says and its job does not have, a line each: words of experts for a model without
/// them, and recomputation of what there is none of. They change nothing.
std::vector<std::string> WarningsOfNoEffect(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_WITHOUT_EFFECT_H
