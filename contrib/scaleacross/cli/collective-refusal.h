// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_REFUSAL_H
#define SCALEACROSS_COLLECTIVE_REFUSAL_H

#include "core/base/errors.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/collective-spec.h"
#include "core/topology/rank-layout.h"

namespace scaleacross
{

/// Why a collective cannot be, as an error at the option to change: what that may be on these
/// ranks, and what to do.
ConfigError RefusalOf(const Infeasible& no, const CollectiveSpec& spec, const RankLayout& layout);

/// LayOutCollective(), which throws ConfigError where there is no layout.
RankLayout CollectiveLayout(const ClusterSpec& cluster);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_REFUSAL_H
