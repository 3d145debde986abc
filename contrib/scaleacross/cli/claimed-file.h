// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLAIMED_FILE_H
#define SCALEACROSS_CLAIMED_FILE_H

#include <string>

namespace scaleacross
{

/// A file that an option of this command writes.
struct ClaimedFile
{
    std::string option;
    std::string path;
    bool isDatabase{false}; //!< and with it the files that SQLite keeps beside it
};

/// Throws ConfigError (where = the option) where the command has read the file, or its study names
/// it (InputFiles()), by any way to it: another path, links of either kind. A database that has
/// been read may be added to, but nothing else may have the place of its journal or log.
void RefuseInputs(const ClaimedFile& file);

/// From now on the file is the option's. Throws ConfigError where it is another's.
void Claim(const ClaimedFile& file);

} // namespace scaleacross

#endif // SCALEACROSS_CLAIMED_FILE_H
