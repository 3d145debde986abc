// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MERGE_H
#define SCALEACROSS_MERGE_H

#include "core/store/database.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// What has become of the shards of one search.
struct MergedShards
{
    std::string study;
    uint64_t shards{0};
    std::vector<uint64_t> missing;    //!< those that no file has, from 1
    std::vector<uint64_t> unfinished; //!< those that are not done
    int64_t whole{0};                 //!< the finished search that took their place; 0: none yet

    /// Something that was asked of a search, or that it was asked of.
    struct Setting
    {
        std::string name;  //!< "keep"
        std::string value; //!< "5"; "" where it is not for people
    };

    /// What tells them from the shards of another search of the study in as many parts that is not
    /// whole either: of these settings, which the other has with other values. Shards belong to
    /// one search only if they have all of them in common.
    std::vector<Setting> differs;
    std::vector<std::string> others; //!< the values of that other search, in the same order

    bool IsWhole() const
    {
        return whole != 0;
    }
};

/**
 * Takes over what the databases at `paths` hold into `out`, in one transaction: all or nothing.
 *
 * The result is that of any other order of the files, of merging them in steps, and of merging some
 * of them again. Of two rows of one name, the one that is kept is chosen by what they hold:
 *
 * - of runs: a result, then "cannot run", then a failure; of failures the one that had more time,
 *   then more memory; then the one computed first; then the one with the lesser values;
 * - of searches: a finished one, the whole before one put together from shards and of these the one
 *   of fewer, the one that is farther, the concluded one; then likewise. What it keeps and counts
 *   comes with it.
 *
 * Finished shards, once they are all there, become the search of the whole and are gone, and so are
 * those of which the whole is there. Results that nobody keeps or has asked for are left behind.
 *
 * Throws ConfigError (where = path) for a file that cannot be read as a database of this schema.
 */
std::vector<MergedShards> Merge(Database& out, const std::vector<std::string>& paths);

} // namespace scaleacross

#endif // SCALEACROSS_MERGE_H
