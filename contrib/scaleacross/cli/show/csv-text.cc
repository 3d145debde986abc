// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/csv-text.h"

#include "core/base/csv-field.h"

namespace scaleacross
{

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
