// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WITHOUT_EFFECT_H
#define SCALEACROSS_WITHOUT_EFFECT_H

#include "core/spec/plan-fields.h"
#include "core/spec/scenario.h"
#include "core/spec/study.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// What a study says and its job does not have, a line each: words of experts for a model without
/// them, of NCCL for other collectives, and modules of recomputation that there are none of or that
/// others contain. They change nothing. What counts once `search` has chosen another field of the
/// network is not among them: that is what it is said for.
std::vector<std::string> WarningsOfNoEffect(const Scenario& scenario,
                                            const std::vector<SearchAxis>& search = {});

/// Whether only `network.collective: nccl` reads a field.
bool IsWordOfNccl(const PlanField& field);

/// What `given` says of the network and `taken`, the same plan as it is run, is without.
std::vector<std::string> WarningsOfDroppedWords(const Plan& given,
                                                const Plan& taken,
                                                const std::vector<SearchAxis>& search = {});

/// Of what changes nothing, what is said of the network whatever uses it.
std::vector<std::string> WarningsOfNetworkWords(const Scenario& scenario,
                                                const std::vector<SearchAxis>& search = {});

/// The same recomputation of this model, without the modules that it does not have or that are part
/// of what others do again: shared experts of moe, activation functions where all MLPs are.
Recompute WithoutIdleModules(const ModelSpec& model, const Recompute& recompute);

} // namespace scaleacross

#endif // SCALEACROSS_WITHOUT_EFFECT_H
