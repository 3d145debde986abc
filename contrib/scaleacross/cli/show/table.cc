// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/table.h"

#include "core/base/errors.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace scaleacross
{

Table::Table(std::vector<Column> columns)
    : m_columns(std::move(columns))
{
    std::vector<std::string> titles;
    for (const auto& column : m_columns)
    {
        titles.push_back(column.title);
    }
    m_rows.push_back(titles);
}

void
Table::Add(std::vector<std::string> cells)
{
    SCALEACROSS_INVARIANT(cells.size() == m_columns.size(), std::to_string(cells.size()));
    m_rows.push_back(std::move(cells));
}

std::string
Table::Text() const
{
    std::vector<size_t> widths(m_columns.size());
    for (const auto& row : m_rows)
    {
        for (size_t i = 0; i < row.size(); i++)
        {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const auto& row : m_rows)
    {
        std::string line;
        for (size_t i = 0; i < row.size(); i++)
        {
            line += i == 0 ? "" : "  ";
            line += m_columns[i].align == Align::Left ? fmt::format("{:<{}}", row[i], widths[i])
                                                      : fmt::format("{:>{}}", row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string
PercentText(double fraction)
{
    return fmt::format("{:.1f} %", 100 * fraction);
}

std::string
SignedPercent(double fraction)
{
    return fmt::format("{:+.1f} %", 100 * fraction);
}

} // namespace scaleacross
