// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SO_FAR_H
#define SCALEACROSS_SO_FAR_H

#include "core/explore/result-sink.h"
#include "core/store/database.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// How a call of a search has ended before the search was done, and what was decided then.
struct SoFar
{
    enum class End
    {
        Time,  //!< its time was up
        Signal //!< a signal stopped it
    };

    End end{End::Time};
    /// SearchResult::counts, which knows more than the last block of plans that is done
    /// (Frontier::next, which is not stored here).
    Frontier counts;
};

/// Returns it as a line of JSON, as the database keeps it.
std::string ToText(const SoFar& soFar);

/// Returns what a line of ToText() says. Damaged() where it is none, or where more than `plans`
/// positions are decided.
SoFar SoFarOf(const Database& database, const std::string& text, uint64_t plans);

} // namespace scaleacross

#endif // SCALEACROSS_SO_FAR_H
