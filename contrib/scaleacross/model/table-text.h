// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TABLE_TEXT_H
#define SCALEACROSS_TABLE_TEXT_H

#include <cstdint>
#include <string>

// Reading tables that attributes have as text: each function takes what it has read off the front.

namespace scaleacross
{

/// A whole number up to `most`; false, and nothing is taken, if the text does not begin with one.
bool TakeNumber(std::string& text, uint32_t most, uint32_t& number);

/// The part up to a separator, without spaces at its ends; the separator is taken too. All of the
/// text if there is none.
std::string TakeUntil(std::string& text, char separator);

} // namespace scaleacross

#endif // SCALEACROSS_TABLE_TEXT_H
