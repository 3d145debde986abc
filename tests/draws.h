// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_DRAWS_H
#define SCALEACROSS_TESTS_DRAWS_H

#include <cstddef>
#include <cstdlib>

namespace scaleacross
{

/// How many cases a law is tested on: what SCALEACROSS_DRAWS asks for, or what an ordinary run of
/// the tests has time for.
inline size_t
Draws(size_t otherwise)
{
    const char* const asked = std::getenv("SCALEACROSS_DRAWS");
    return asked == nullptr ? otherwise : std::strtoull(asked, nullptr, 10);
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_DRAWS_H
