// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHECK_H
#define SCALEACROSS_CHECK_H

#include "core/base/errors.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// Throws ConfigError (where = key) unless least <= value <= most. `why`, if the ends follow from
/// something else: "the model has 8 layers".
void CheckWhole(const std::string& key,
                uint64_t value,
                uint64_t least,
                uint64_t most,
                const std::string& why = "");

} // namespace scaleacross

#endif // SCALEACROSS_CHECK_H
