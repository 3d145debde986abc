// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHOSEN_SEARCH_H
#define SCALEACROSS_CHOSEN_SEARCH_H

#include "core/store/database.h"
#include "core/store/search-reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Returns the search of a database that a command means: the one of this number, or, of 0, the only
 * one there is, or the only one of a study as its file says it, without --set or --sweep. All
 * commands that read a search have their choice from here, and the Python package has the same rule
 * (database.choose_search).
 *
 * Throws ConfigError with a list of what is there where no search is meant, or several could be.
 */
SearchSummary ChosenSearch(Database& database, int64_t search);

/// The same of the searches of the database at `path`.
const SearchSummary& ChosenSearch(const std::string& path,
                                  const std::vector<SearchSummary>& searches,
                                  int64_t search);

/// What tells it from other searches: "small, cluster.cross.distance=20km, keep 5, shard 2/4".
std::string NameOf(const SearchSummary& search);

} // namespace scaleacross

#endif // SCALEACROSS_CHOSEN_SEARCH_H
