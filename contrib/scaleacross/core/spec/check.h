// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHECK_H
#define SCALEACROSS_CHECK_H

#include "core/base/errors.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// Throws ConfigError (where = key) unless least <= value <= most.
void CheckWhole(const std::string& key, uint64_t value, uint64_t least, uint64_t most);

/// Throws ConfigError (where = key) unless value is finite and least <= value <= most.
void CheckRange(const std::string& key, double value, double least, double most);

} // namespace scaleacross

#endif // SCALEACROSS_CHECK_H
