// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OUTPUT_FILE_H
#define SCALEACROSS_OUTPUT_FILE_H

#include <string>

namespace scaleacross
{

/// What becomes of a file that is there.
enum class Existing
{
    Replaced,
    Extended //!< the command has read it, and adds to it
};

/**
 * Before anything runs: claims the file for an option. Throws ConfigError (where = the option)
 * where it is called "-", stands in no folder that can be written to, is one that this command has
 * read or that its study names (InputFiles(), so once these are read; unless it is extended), or
 * one that another option has claimed; by any way to it. An empty path: there is none.
 */
void ExpectOutput(const std::string& path,
                  const std::string& option = "--output",
                  Existing existing = Existing::Replaced);

/// The same of the database that results go to, and of the files that SQLite writes beside it. It
/// may have been read, for it is added to.
void ExpectDatabase(const std::string& path, const std::string& option = "--db");

/**
 * Writes a file as a whole or not at all: under another name beside it, then renamed. What is no
 * regular file is written as it is; and what standard output or error goes to, such as /dev/stdout,
 * gets the text behind what is there.
 *
 * @param option that names the file, for messages
 *
 * Throws ConfigError as ExpectOutput() and if it cannot be written there, RunError if writing fails
 * on the way, as on a full disk; neither leaves anything behind.
 */
void WriteOutput(const std::string& path,
                 const std::string& text,
                 const std::string& option = "--output",
                 Existing existing = Existing::Replaced);

/// Hands over what has been printed. Throws RunError if it has not arrived, as on a full disk.
void FlushOutput();

} // namespace scaleacross

#endif // SCALEACROSS_OUTPUT_FILE_H
