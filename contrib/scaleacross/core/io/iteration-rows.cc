// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/iteration-rows.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

namespace scaleacross
{

namespace
{

const char* const g_required[] = {"name", "seconds", "study"};

std::vector<std::string>
Cells(std::string line)
{
    if (!line.empty() && line.back() == '\r')
    {
        line.pop_back();
    }
    std::vector<std::string> cells;
    std::istringstream stream(line + ",");
    for (std::string cell; std::getline(stream, cell, ',');)
    {
        cells.push_back(cell);
    }
    return cells;
}

/// The columns by their names, checked.
std::vector<std::string>
Columns(const std::string& line, const std::string& where)
{
    std::vector<std::string> columns = Cells(line);
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
    for (const std::string required : g_required)
    {
        if (std::find(columns.begin(), columns.end(), required) == columns.end())
        {
            throw ConfigError(where,
                              "there is no column " + required,
                              "name, seconds, study and keys of the study",
                              "write e.g. name,seconds,fitted,study,plan.tp");
        }
    }
    return columns;
}

bool
ParseFitted(const std::string& text)
{
    if (text != "yes" && text != "no" && !text.empty())
    {
        throw ValueError(Quoted(text) + " is not known", "yes, no or nothing", "");
    }
    return text == "yes";
}

IterationRow
RowOf(const std::vector<std::string>& columns,
      const std::vector<std::string>& cells,
      const std::filesystem::path& file,
      const std::string& where,
      const Overrides& overrides)
{
    std::map<std::string, std::string> own;
    Overrides all;
    for (size_t i = 0; i < columns.size(); i++)
    {
        const bool ofRow = columns[i] == "fitted" ||
                           std::find(std::begin(g_required), std::end(g_required), columns[i]) !=
                               std::end(g_required);
        if (ofRow)
        {
            own[columns[i]] = cells[i];
        }
        else if (!cells[i].empty())
        {
            all.emplace_back(columns[i], cells[i]);
        }
    }
    all.insert(all.end(), overrides.begin(), overrides.end());
    const auto at = [&](const std::string& column) { return where + " " + column; };
    IterationRow row;
    row.set = file.stem().string();
    row.name = own["name"];
    row.fitted = ParseAt(at("fitted"), [&] { return ParseFitted(own["fitted"]); });
    row.measured = Duration::Seconds(
        ParseAt(at("seconds"), [&] { return ParseNumber(own["seconds"], 1e-6, 1e6); }));
    try
    {
        row.study = ReadStudy((file.parent_path() / own["study"]).string(), all);
    }
    catch (const ConfigError& error)
    {
        throw error.At(where + ": " + error.Where());
    }
    return row;
}

} // namespace

std::vector<IterationRow>
ReadIterationRows(const std::string& path, const Overrides& overrides)
{
    std::istringstream lines(ReadTextFile(path));
    std::vector<std::string> columns;
    std::vector<IterationRow> rows;
    size_t number = 0;
    for (std::string line; std::getline(lines, line);)
    {
        number++;
        if (line.empty() || line.front() == '#' || line == "\r")
        {
            continue;
        }
        const std::string where = path + ":" + std::to_string(number);
        if (columns.empty())
        {
            columns = Columns(line, where);
            continue;
        }
        const auto cells = Cells(line);
        if (cells.size() != columns.size())
        {
            throw ConfigError(where,
                              "the line has " + std::to_string(cells.size()) + " cells",
                              std::to_string(columns.size()) + ", as the first line",
                              "");
        }
        rows.push_back(RowOf(columns, cells, path, where, overrides));
    }
    if (rows.empty())
    {
        throw ConfigError(path, "there are no rows", "a line of columns and one for each row", "");
    }
    return rows;
}

} // namespace scaleacross
