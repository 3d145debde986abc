// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/iteration-rows.h"

#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/csv-table.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace scaleacross
{

namespace
{

const char* const g_required[] = {"name", "seconds", "study"};

void
CheckColumns(const CsvTable& table)
{
    for (const std::string required : g_required)
    {
        if (std::find(table.columns.begin(), table.columns.end(), required) == table.columns.end())
        {
            throw ConfigError(table.where,
                              "there is no column " + required,
                              "name, seconds, study and keys of the study",
                              "write e.g. name,seconds,fitted,study,plan.tp");
        }
    }
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
    const CsvTable table = ReadCsvTable(path);
    CheckColumns(table);
    std::vector<IterationRow> rows;
    for (const CsvLine& line : table.rows)
    {
        rows.push_back(RowOf(table.columns, line.cells, path, line.where, overrides));
    }
    return rows;
}

} // namespace scaleacross
