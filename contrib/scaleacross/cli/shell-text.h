// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SHELL_TEXT_H
#define SCALEACROSS_SHELL_TEXT_H

#include <string>

namespace scaleacross
{

/// A text as a POSIX shell reads it back: as it is where that is safe, else in single quotes.
std::string ShellText(const std::string& text);

/// The path of a file for a command line: one that begins with a dash is no option there.
std::string ShellPath(const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_SHELL_TEXT_H
