// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ONE_LINE_H
#define SCALEACROSS_ONE_LINE_H

#include <algorithm>
#include <string>

namespace scaleacross
{

/// Most bytes of a name that tables, files and drawings show.
constexpr size_t kLongestName = 100;

/// No control characters: what can be printed in a table's cell or drawn.
inline bool
IsOneLine(const std::string& text)
{
    return std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
}

} // namespace scaleacross

#endif // SCALEACROSS_ONE_LINE_H
