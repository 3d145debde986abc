// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PROGRESS_LINE_H
#define SCALEACROSS_PROGRESS_LINE_H

#include "core/base/units.h"
#include "core/explore/search.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace scaleacross
{

/**
 * Says on stderr how far something is. On a terminal this is one line that is written over and
 * over; elsewhere a line of its own, with the seconds since the program began to tell, every
 * minute (Every()), however many things follow each other.
 *
 * Of a search it says what is decided, what has run, and the best so far; of one that goes on, what
 * was before, for as long as it looks at that again. It does not say how long
 * that will take: families of plans are decided at once, by the million or one by one, so that the
 * rate so far says nothing of what is left.
 */
class ProgressLine
{
  public:
    /// @param what is told of
    /// @param limit of time from now on, of which it says what is left; Max(): none
    explicit ProgressLine(std::string what, Duration limit = Duration::Max());
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    /// Removes the line from the terminal.
    ~ProgressLine();

    /// Sets how often there is a line where there is no terminal, for all.
    static void Every(Duration time);

    /// Has it begin at what earlier calls of a search have decided and run.
    void GoOnFrom(uint64_t decided, uint64_t ran);

    void Show(const Progress& progress);

    /// A bar, "3/8" and what else there is to say.
    void ShowShare(uint64_t done, uint64_t total, const std::string& text);

    /// A line of words in place of a share of something.
    void ShowText(const std::string& text);

    /// Removes the line from the terminal, until something is shown again.
    void Clear();

  private:
    std::string m_what;
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
    Duration m_limit;
    uint64_t m_decidedBefore{0};
    uint64_t m_ranBefore{0};
    bool m_terminal;
    bool m_shown{false};
};

} // namespace scaleacross

#endif // SCALEACROSS_PROGRESS_LINE_H
