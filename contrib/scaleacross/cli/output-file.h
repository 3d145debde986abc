// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OUTPUT_FILE_H
#define SCALEACROSS_OUTPUT_FILE_H

#include <string>

namespace scaleacross
{

/**
 * Writes a file as a whole or not at all: under another name beside it, then renamed. What is no
 * regular file is written as it is; and what standard output or error goes to, such as /dev/stdout,
 * gets the text behind what is there.
 *
 * @param input the file that the text was made from, if there is one
 * @param option that names the file, for messages
 *
 * Throws ConfigError (where = the option) if it cannot be written there, is the input or called
 * "-", RunError if writing fails on the way, as on a full disk; neither leaves anything behind.
 */
void WriteOutput(const std::string& path,
                 const std::string& text,
                 const std::string& input = "",
                 const std::string& option = "--output");

/// What WriteOutput() would refuse, found out before a long run: throws ConfigError where the file
/// is the input, is called "-" or stands in no folder that can be written to.
void ExpectOutput(const std::string& path, const std::string& input, const std::string& option);

/// Throws ConfigError where the file would be the database, which need not be there yet, by any way
/// to it, or one of those that SQLite writes beside it.
void ExpectBesideDatabase(const std::string& path,
                          const std::string& database,
                          const std::string& option);

/// Hands over what has been printed. Throws RunError if it has not arrived, as on a full disk.
void FlushOutput();

} // namespace scaleacross

#endif // SCALEACROSS_OUTPUT_FILE_H
