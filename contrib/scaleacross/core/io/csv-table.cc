// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/csv-table.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <sstream>

namespace scaleacross
{

namespace
{

/// Takes a cell that begins at `at`, where a quotation mark is, and goes on behind it.
std::string
QuotedCell(const std::string& line, size_t& at, const std::string& where)
{
    std::string cell;
    bool closed = false;
    for (at++; at < line.size() && !closed; at++)
    {
        if (line[at] != '"')
        {
            cell += line[at];
        }
        else if (at + 1 < line.size() && line[at + 1] == '"')
        {
            cell += line[++at];
        }
        else
        {
            closed = true;
        }
    }
    if (!closed || (at < line.size() && line[at] != ','))
    {
        throw ConfigError(where,
                          "a quoted cell does not end with its quotation mark",
                          "\"a cell\", with two quotation marks for one within it",
                          "");
    }
    return cell;
}

std::vector<std::string>
CellsOf(std::string line, const std::string& where)
{
    if (!line.empty() && line.back() == '\r')
    {
        line.pop_back();
    }
    std::vector<std::string> cells;
    for (size_t at = 0; at <= line.size(); at++)
    {
        if (at < line.size() && line[at] == '"')
        {
            cells.push_back(QuotedCell(line, at, where));
            continue;
        }
        const size_t end = std::min(line.find(',', at), line.size());
        cells.push_back(line.substr(at, end - at));
        at = end;
    }
    return cells;
}

void
CheckNames(const std::vector<std::string>& columns, const std::string& where)
{
    for (auto column = columns.begin(); column != columns.end(); ++column)
    {
        if (column->empty() || std::find(columns.begin(), column, *column) != column)
        {
            throw ConfigError(where,
                              column->empty() ? "a column has no name"
                                              : "the column " + *column + " is given twice",
                              "every column with a name of its own",
                              "");
        }
    }
}

} // namespace

CsvTable
ReadCsvTable(const std::string& path)
{
    std::istringstream lines(std::string(WithoutByteOrderMark(ReadTextFile(path))));
    CsvTable table;
    size_t number = 0;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        if (line.empty() || line.front() == '#' || line == "\r")
        {
            continue;
        }
        const std::string where = path + ":" + std::to_string(number);
        const auto cells = CellsOf(line, where);
        if (table.columns.empty())
        {
            CheckNames(cells, where);
            table.where = where;
            table.columns = cells;
            continue;
        }
        if (cells.size() != table.columns.size())
        {
            throw ConfigError(where,
                              "the line has " + std::to_string(cells.size()) + " cells",
                              std::to_string(table.columns.size()) + ", as the first line",
                              "");
        }
        table.rows.push_back({where, cells});
    }
    if (table.rows.empty())
    {
        throw ConfigError(path, "there are no rows", "a line of columns and one for each row", "");
    }
    return table;
}

} // namespace scaleacross
