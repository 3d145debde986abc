// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_JSON_H
#define SCALEACROSS_COLLECTIVE_JSON_H

#include "core/program/collective.h"

#include <nlohmann/json_fwd.hpp>

namespace scaleacross
{

/// A collective with all that engines look at, its phases among it: what is as it usually is, is
/// left out. Times are whole picoseconds; patterns, classes and what calls do are numbers, in the
/// order of their enumerations.
nlohmann::ordered_json ExactJson(const Collective& collective);

/// The same axes as [[stride, count], ...].
nlohmann::ordered_json ExactJson(const RankGroup& group);

/// What ExactJson() has written. Domain: that. Throws nlohmann's exceptions where something is
/// missing.
Collective CollectiveOfJson(const nlohmann::ordered_json& json);
RankGroup GroupOfJson(const nlohmann::ordered_json& json);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_JSON_H
