// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CSV_TEXT_H
#define SCALEACROSS_CSV_TEXT_H

#include <string>
#include <vector>

namespace scaleacross
{

/// Rows as comma-separated values, quoted where RFC 4180 asks for it; ReadCsvTable() reads them,
/// but for cells of several lines.
std::string CsvText(const std::vector<std::vector<std::string>>& rows);

} // namespace scaleacross

#endif // SCALEACROSS_CSV_TEXT_H
