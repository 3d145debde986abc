// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OUTPUT_FILE_H
#define SCALEACROSS_OUTPUT_FILE_H

#include <string>

namespace scaleacross
{

/**
 * Writes a file as a whole or not at all: under another name beside it, then renamed. What is no
 * regular file, such as /dev/stdout, is written as it is.
 *
 * @param input the file that the text was made from, if there is one
 *
 * Throws ConfigError (where = "--output") if it cannot be written there or is the input, RunError
 * if writing fails on the way, as on a full disk; neither leaves anything behind.
 */
void WriteOutput(const std::string& path, const std::string& text, const std::string& input = "");

/// Hands over what has been printed. Throws RunError if it has not arrived, as on a full disk.
void FlushOutput();

} // namespace scaleacross

#endif // SCALEACROSS_OUTPUT_FILE_H
