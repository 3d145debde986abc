// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_INPUT_FILES_H
#define SCALEACROSS_INPUT_FILES_H

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// A file that this process has read, or that what it has read names.
struct InputFile
{
    std::string path;     //!< as it was given
    std::string database; //!< of a database, and of what SQLite keeps beside it, its path
};

/// Whatever opens a user's file to read it says so here, from any thread, so that nothing is
/// written over it.
void NoteInputFile(const std::string& path);

/// The same of a database, with the files that SQLite keeps beside it, whether they are there or
/// not.
void NoteInputDatabase(const std::string& path);

/// The noted file that a path leads to, over links of either kind too; none if it leads to another.
std::optional<InputFile> InputFileAt(const std::string& path);

/// The place that a path leads to, whether there is a file or not, through links to nothing too.
std::filesystem::path PlaceOf(const std::string& path);

/// The places of a database and of what SQLite keeps beside it: journal, log and its index.
std::vector<std::filesystem::path> PlacesOfDatabase(const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_INPUT_FILES_H
