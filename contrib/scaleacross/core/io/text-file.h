// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEXT_FILE_H
#define SCALEACROSS_TEXT_FILE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace scaleacross
{

/// Larger than any study or config.json by far, and small enough that no parser takes long over it.
constexpr size_t kMostTextBytes = 1U << 20;

/// The content of a text file. Throws ConfigError (where = path) if it is missing, no regular file,
/// not readable, empty, larger than `most` bytes, or refused by CheckText().
std::string ReadTextFile(const std::string& path, size_t most = kMostTextBytes);

/// The content of a file of any kind. Throws ConfigError (where = path) if it is missing, no
/// regular file or not readable.
std::string ReadBinaryFile(const std::string& path);

/// What standard input is called in messages.
constexpr const char* kStandardInput = "standard input";

/// As ReadTextFile(), of standard input, to its end.
std::string ReadStandardInput();

/// Throws ConfigError (where = "name:line:column") unless `text` is UTF-8 without control
/// characters other than tab and line ends, at most `most` bytes long and more than white space.
void CheckText(std::string_view text, const std::string& name, size_t most = kMostTextBytes);

} // namespace scaleacross

#endif // SCALEACROSS_TEXT_FILE_H
