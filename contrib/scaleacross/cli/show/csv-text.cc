// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/csv-text.h"

namespace scaleacross
{

namespace
{

/// A field as RFC 4180 quotes it.
std::string
CsvField(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
    {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text)
    {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

} // namespace

std::string
CsvText(const std::vector<std::vector<std::string>>& rows)
{
    std::string text;
    for (const auto& row : rows)
    {
        std::string line;
        for (const auto& cell : row)
        {
            line += (&cell == &row.front() ? "" : ",") + CsvField(cell);
        }
        text += line + "\n";
    }
    return text;
}

} // namespace scaleacross
