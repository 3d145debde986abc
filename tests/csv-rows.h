// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_CSV_ROWS_H
#define SCALEACROSS_TESTS_CSV_ROWS_H

#include "places.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/// Tables of published figures beside the tests that hold the program to them.
namespace scaleacross
{

/// A row's cells by the names of their columns.
using CsvRow = std::map<std::string, std::string>;

/// The cells of a line; one that ends in a comma ends in an empty cell.
inline std::vector<std::string>
CsvCells(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream text(line + ",");
    for (std::string cell; std::getline(text, cell, ',');)
    {
        cells.push_back(cell);
    }
    return cells;
}

/// The rows of a file of tests/validation, without quotes. Lines that begin with # are comments,
/// the first other one names the columns. A row of another length fails the test.
inline std::vector<CsvRow>
CsvRows(const std::string& name)
{
    std::ifstream file(SourcePath("tests/validation/") + name);
    EXPECT_TRUE(file) << name;
    std::vector<std::string> columns;
    std::vector<CsvRow> rows;
    for (std::string line; std::getline(file, line);)
    {
        const auto cells = CsvCells(line);
        if (line.rfind('#', 0) == 0)
        {
            continue;
        }
        if (columns.empty())
        {
            columns = cells;
            continue;
        }
        EXPECT_EQ(cells.size(), columns.size()) << name << ": " << line;
        CsvRow row;
        for (size_t i = 0; i < std::min(cells.size(), columns.size()); i++)
        {
            row[columns[i]] = cells[i];
        }
        rows.push_back(row);
    }
    return rows;
}

/// The cells of every line of what RFC 4180 describes, but for its line ends.
inline std::vector<std::vector<std::string>>
QuotedCsvLines(const std::string& csv)
{
    std::vector<std::vector<std::string>> rows{{""}};
    bool quoted = false;
    for (size_t i = 0; i < csv.size(); i++)
    {
        std::string& cell = rows.back().back();
        if (quoted && csv[i] == '"' && i + 1 < csv.size() && csv[i + 1] == '"')
        {
            cell += csv[i++];
        }
        else if (csv[i] == '"')
        {
            quoted = !quoted;
        }
        else if (!quoted && csv[i] == ',')
        {
            rows.back().emplace_back();
        }
        else if (!quoted && csv[i] == '\n')
        {
            rows.push_back({""});
        }
        else
        {
            cell += csv[i];
        }
    }
    EXPECT_FALSE(quoted);
    rows.pop_back(); // behind the last line end
    return rows;
}

/// The rows of what the program has written, by their columns.
inline std::vector<CsvRow>
CsvTable(const std::string& csv)
{
    const auto lines = QuotedCsvLines(csv);
    std::vector<CsvRow> table;
    for (size_t i = 1; i < lines.size(); i++)
    {
        EXPECT_EQ(lines[i].size(), lines[0].size());
        CsvRow& row = table.emplace_back();
        for (size_t column = 0; column < lines[i].size(); column++)
        {
            EXPECT_TRUE(row.emplace(lines[0][column], lines[i][column]).second)
                << lines[0][column] << " stands there twice";
        }
    }
    return table;
}

/// The number that a cell is, all of it.
inline double
CsvNumber(const CsvRow& row, const std::string& column)
{
    const std::string& cell = row.at(column);
    size_t end = 0;
    const double number = std::stod(cell, &end);
    EXPECT_EQ(end, cell.size()) << column << ": " << cell;
    return number;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_CSV_ROWS_H
