// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEXT_LINES_H
#define SCALEACROSS_TEXT_LINES_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace scaleacross
{

/// A line of a text file that says something.
struct TextLine
{
    size_t number; //!< from 1
    std::vector<std::string> words;
};

/// The words of all lines that have any; one that begins with # ends its line.
std::vector<TextLine> LinesOf(std::string_view text);

} // namespace scaleacross

#endif // SCALEACROSS_TEXT_LINES_H
