// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/csv-field.h"

namespace scaleacross
{

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

} // namespace scaleacross
