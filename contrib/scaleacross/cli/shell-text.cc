// SPDX-License-Identifier: GPL-2.0-only

#include "cli/shell-text.h"

namespace scaleacross
{

std::string
ShellText(const std::string& text)
{
    const std::string safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-./=,:+@%";
    if (!text.empty() && text.find_first_not_of(safe) == std::string::npos)
    {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text)
    {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

std::string
ShellPath(const std::string& path)
{
    return ShellText(path.size() > 1 && path[0] == '-' ? "./" + path : path);
}

} // namespace scaleacross
