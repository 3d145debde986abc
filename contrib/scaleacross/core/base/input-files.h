// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_INPUT_FILES_H
#define SCALEACROSS_INPUT_FILES_H

#include <cstddef>
#include <string>
#include <vector>

namespace scaleacross
{

/// A file that this process has read, or that what it has read names.
struct InputFile
{
    std::string path;  //!< as it was given
    std::string place; //!< from the root, if the current folder changes
    bool isDatabase;   //!< SQLite keeps other files beside it
};

/// Whatever opens a user's file to read it says so here, from any thread, so that nothing is
/// written over it.
void NoteInputFile(const std::string& path);

/// The same of a database.
void NoteInputDatabase(const std::string& path);

/// Those that have been noted, each path once, but for the first `from` of them.
std::vector<InputFile> InputFiles(size_t from = 0);

} // namespace scaleacross

#endif // SCALEACROSS_INPUT_FILES_H
