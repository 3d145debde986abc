// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KEPT_RUNS_H
#define SCALEACROSS_KEPT_RUNS_H

#include "core/explore/leaderboard.h"
#include "core/store/database.h"

#include <cstdint>
#include <functional>

namespace scaleacross
{

/// Writes to the runs of a search what the leaderboard keeps them for.
/// @param inFile their plan_index, by Ranked::index
void MarkKept(Database& database,
              int64_t search,
              const Leaderboard& board,
              const std::function<uint64_t(uint64_t)>& inFile);

/// Removes of a search that is finished, and marked, what it does not keep, and of its scenario the
/// runs that nobody else wants.
void Prune(Database& database, int64_t search);

} // namespace scaleacross

#endif // SCALEACROSS_KEPT_RUNS_H
