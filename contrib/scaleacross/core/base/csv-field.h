// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CSV_FIELD_H
#define SCALEACROSS_CSV_FIELD_H

#include <string>

namespace scaleacross
{

/// A field of comma-separated values, in quotation marks where RFC 4180 asks for them.
std::string CsvField(const std::string& text);

} // namespace scaleacross

#endif // SCALEACROSS_CSV_FIELD_H
