// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_QUESTION_H
#define SCALEACROSS_QUESTION_H

#include "cli/command.h"
#include "core/explore/search.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace scaleacross
{

// What commands share that search a study many times to answer one question, and store nothing.

/// Throws ConfigError unless the study ranks with the analytical engine: hundreds of searches.
void ExpectAnalytical(const Study& study);

/// How to search a study for its best plan.
SearchOptions SearchOptionsOf(const CommonOptions& options,
                              const Study& study,
                              const std::atomic<bool>& stop);

/// Does `answer`, and says so where it was interrupted.
Exit Uninterrupted(const std::function<Exit()>& answer);

} // namespace scaleacross

#endif // SCALEACROSS_QUESTION_H
