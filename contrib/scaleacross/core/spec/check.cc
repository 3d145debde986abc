// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/check.h"

#include "core/base/errors.h"

namespace scaleacross
{

void
CheckWhole(const std::string& key,
           uint64_t value,
           uint64_t least,
           uint64_t most,
           const std::string& why)
{
    if (value < least || value > most)
    {
        throw ConfigError(key,
                          std::to_string(value) + " is out of range" +
                              (why.empty() ? "" : ": " + why),
                          "a whole number " + std::to_string(least) + " to " + std::to_string(most),
                          "");
    }
}

} // namespace scaleacross
