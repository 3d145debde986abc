// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/table.h"

#include "core/base/errors.h"

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <cstdint>
#include <fmt/core.h>
#include <numeric>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr size_t kGap = 2;

size_t
IndentOf(const std::string& cell)
{
    return std::min(cell.find_first_not_of(' '), cell.size());
}

/// Lines of at most `width`, longer only if a part is, each behind the indent.
std::vector<std::string>
Lines(const std::vector<std::string>& parts, size_t indent, size_t width)
{
    std::vector<std::string> lines;
    for (const std::string& part : parts)
    {
        if (!lines.empty() && lines.back().size() + 1 + part.size() <= width)
        {
            lines.back() += " " + part;
        }
        else
        {
            lines.push_back(std::string(indent, ' ') + part);
        }
    }
    return lines;
}

} // namespace

size_t
OutputWidth()
{
    winsize size{};
    const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
                       size.ws_col > 0;
    return known ? size.ws_col : SIZE_MAX;
}

size_t
ReadingWidth()
{
    constexpr size_t kElsewhere = 100;
    const size_t width = OutputWidth();
    return width == SIZE_MAX ? kElsewhere : width;
}

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

std::vector<std::string>
Table::PartsOf(size_t row, size_t column) const
{
    const std::string cell = m_rows[row][column].substr(IndentOf(m_rows[row][column]));
    if (row > 0 && m_columns[column].align == Align::Right)
    {
        return {cell};
    }
    std::vector<std::string> parts;
    boost::algorithm::split(parts, cell, boost::algorithm::is_space());
    return parts;
}

/// Of columns: the widest are narrowed down to one another, none below its widest part.
std::vector<size_t>
Table::WidthsWithin(size_t width) const
{
    std::vector<size_t> widths(m_columns.size());
    std::vector<size_t> least(m_columns.size());
    for (size_t row = 0; row < m_rows.size(); row++)
    {
        for (size_t i = 0; i < m_columns.size(); i++)
        {
            widths[i] = std::max(widths[i], m_rows[row][i].size());
            for (const std::string& part : PartsOf(row, i))
            {
                least[i] = std::max(least[i], IndentOf(m_rows[row][i]) + part.size());
            }
        }
    }
    size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
    while (total > width)
    {
        size_t widest = widths.size();
        for (size_t i = 0; i < widths.size(); i++)
        {
            if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest]))
            {
                widest = i;
            }
        }
        if (widest == widths.size())
        {
            break;
        }
        widths[widest]--;
        total--;
    }
    return widths;
}

std::string
Table::Text(size_t width) const
{
    const std::vector<size_t> widths = WidthsWithin(width);
    std::string text;
    for (size_t row = 0; row < m_rows.size(); row++)
    {
        std::vector<std::vector<std::string>> cells;
        size_t lines = 1;
        for (size_t i = 0; i < widths.size(); i++)
        {
            const std::string& cell = m_rows[row][i];
            cells.push_back(cell.size() <= widths[i]
                                ? std::vector{cell}
                                : Lines(PartsOf(row, i), IndentOf(cell), widths[i]));
            lines = std::max(lines, cells.back().size());
        }
        for (size_t number = 0; number < lines; number++)
        {
            std::string line;
            for (size_t i = 0; i < widths.size(); i++)
            {
                const std::string cell = number < cells[i].size() ? cells[i][number] : "";
                line += i == 0 ? "" : std::string(kGap, ' ');
                line += m_columns[i].align == Align::Left ? fmt::format("{:<{}}", cell, widths[i])
                                                          : fmt::format("{:>{}}", cell, widths[i]);
            }
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + "\n";
        }
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
