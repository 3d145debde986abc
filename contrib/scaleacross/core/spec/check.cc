// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/check.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <cmath>

namespace scaleacross
{

void
CheckWhole(const std::string& key, uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least || value > most)
    {
        throw ConfigError(key,
                          std::to_string(value) + " is out of range",
                          "a whole number " + std::to_string(least) + " to " + std::to_string(most),
                          "");
    }
}

void
CheckRange(const std::string& key, double value, double least, double most)
{
    if (!std::isfinite(value) || value < least || value > most)
    {
        throw ConfigError(key,
                          (std::isfinite(value) ? NumberText(value) : "not a number") +
                              std::string(" is out of range"),
                          "a number from " + NumberText(least) + " to " + NumberText(most),
                          "");
    }
}

} // namespace scaleacross
