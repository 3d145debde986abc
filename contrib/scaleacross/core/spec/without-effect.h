// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WITHOUT_EFFECT_H
#define SCALEACROSS_WITHOUT_EFFECT_H

#include "core/spec/scenario.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// What a study says and its job does not have, a line each: words of experts for a model without
/// them, and modules of recomputation that there are none of. They change nothing.
std::vector<std::string> WarningsOfNoEffect(const Scenario& scenario);

/// The same recomputation of this model, without the modules that it does not have.
Recompute WithoutLackedModules(const ModelSpec& model, const Recompute& recompute);

} // namespace scaleacross

#endif // SCALEACROSS_WITHOUT_EFFECT_H
