// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/model-error.h"

#include <cmath>

namespace scaleacross
{

std::string
ModelErrorText()
{
    return std::to_string(std::lround(100 * kModelErrorFrom)) + " to " +
           std::to_string(std::lround(100 * kModelErrorTo)) + " %";
}

bool
IsWithinModelError(double excess)
{
    return std::abs(excess) < kModelErrorTo;
}

} // namespace scaleacross
