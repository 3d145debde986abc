// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CSV_TABLE_H
#define SCALEACROSS_CSV_TABLE_H

#include <string>
#include <vector>

namespace scaleacross
{

/// A row of a CSV file.
struct CsvLine
{
    std::string where;              //!< "rows.csv:7", for messages
    std::vector<std::string> cells; //!< one of each column
};

/// A CSV file whose first line names its columns.
struct CsvTable
{
    std::string where; //!< of the line of names
    std::vector<std::string> columns;
    std::vector<CsvLine> rows; //!< one at least
};

/**
 * Reads a CSV file: cells between commas; one that begins with a quotation mark ends with another,
 * and has two for one within it (RFC 4180), but no line end. Empty lines, and those that begin with
 * #, are left out.
 *
 * Throws ConfigError (where = "rows.csv:7") where the file cannot be read, a column has no name or
 * that of another, a line has more or fewer cells than there are columns or a quotation mark
 * without its other, or there are no rows.
 */
CsvTable ReadCsvTable(const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_CSV_TABLE_H
