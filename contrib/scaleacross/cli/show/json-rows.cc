// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/json-rows.h"

#include "cli/show/csv-text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// Cells by their columns' names.
using Row = std::vector<std::pair<std::string, std::string>>;

void
AddCells(const std::string& name, const Json& value, Row& row)
{
    if (value.is_object())
    {
        for (const auto& [key, part] : value.items())
        {
            AddCells(name.empty() ? key : name + "." + key, part, row);
        }
        return;
    }
    row.emplace_back(name,
                     value.is_null()     ? ""
                     : value.is_string() ? value.get<std::string>()
                                         : value.dump());
}

} // namespace

std::string
CsvOfRows(const Json& rows)
{
    std::vector<std::string> names;
    std::map<std::string, size_t> columns;
    std::vector<Row> flat;
    for (const Json& row : rows)
    {
        flat.emplace_back();
        AddCells("", row, flat.back());
        for (const auto& [name, cell] : flat.back())
        {
            if (columns.emplace(name, names.size()).second)
            {
                names.push_back(name);
            }
        }
    }
    std::vector<std::vector<std::string>> lines{names};
    for (const Row& row : flat)
    {
        lines.emplace_back(names.size());
        for (const auto& [name, cell] : row)
        {
            lines.back()[columns.at(name)] = cell;
        }
    }
    return CsvText(lines);
}

} // namespace scaleacross
