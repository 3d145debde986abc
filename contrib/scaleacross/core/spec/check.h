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

/// Throws ConfigError (where = key) unless least <= value <= most; for quantities of
/// core/base/units.h, whose texts name the range with its units.
template <class Quantity>
void
CheckQuantity(const std::string& key, Quantity value, Quantity least, Quantity most)
{
    if (!(least <= value && value <= most))
    {
        throw ConfigError(key,
                          ToString(value) + " is out of range",
                          ToString(least) + " to " + ToString(most),
                          "");
    }
}

} // namespace scaleacross

#endif // SCALEACROSS_CHECK_H
