// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CAPPED_H
#define SCALEACROSS_CAPPED_H

#include <cstdint>

namespace scaleacross
{

/// The sum, or UINT64_MAX if it is more.
constexpr uint64_t
AddCapped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// The product, or UINT64_MAX if it is more.
constexpr uint64_t
MultiplyCapped(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

} // namespace scaleacross

#endif // SCALEACROSS_CAPPED_H
