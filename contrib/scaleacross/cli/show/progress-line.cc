// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/progress-line.h"

#include "core/spec/plan-fields.h"

#include <algorithm>
#include <cstdio>
#include <fmt/core.h>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>

namespace scaleacross
{

namespace
{

using Clock = std::chrono::steady_clock;

double
SecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// When there are lines where there is no terminal.
class Lines
{
  public:
    void Every(Duration time)
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_every = time;
    }

    /// Seconds since the first thing was told of, if it is time for another line.
    std::optional<double> Next()
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        if (SecondsSince(m_last) < m_every.S())
        {
            return std::nullopt;
        }
        m_last = Clock::now();
        return SecondsSince(m_start);
    }

  private:
    std::mutex m_mutex;
    Duration m_every{Duration::Seconds(60)};
    Clock::time_point m_start{Clock::now()};
    Clock::time_point m_last{m_start};
};

Lines&
AllLines()
{
    static Lines lines;
    return lines;
}

/// Digits of a share that can be small for long.
std::string
ShareText(uint64_t done, uint64_t total)
{
    const double percent = 100 * static_cast<double>(done) / static_cast<double>(total);
    // What is not all is not said to be.
    return fmt::format("{:.1f} %", done == total ? percent : std::min(percent, 99.9));
}

} // namespace

ProgressLine::ProgressLine(std::string what, Duration limit)
    : m_what(std::move(what)),
      m_limit(limit),
      m_terminal(isatty(STDERR_FILENO) == 1)
{
    AllLines(); // time begins
}

ProgressLine::~ProgressLine()
{
    Clear();
}

void
ProgressLine::Every(Duration time)
{
    AllLines().Every(time);
}

void
ProgressLine::Clear()
{
    if (m_shown)
    {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
        m_shown = false;
    }
}

void
ProgressLine::GoOnFrom(uint64_t decided, uint64_t ran)
{
    m_decidedBefore = decided;
    m_ranBefore = ran;
}

void
ProgressLine::Show(const Progress& progress)
{
    if (progress.total == 0)
    {
        return;
    }
    std::string text =
        fmt::format("{} of {} combinations decided, {} plans run",
                    ShareText(std::max(progress.done, m_decidedBefore), progress.total),
                    progress.total,
                    std::max(progress.ran, m_ranBefore));
    if (progress.done < m_decidedBefore)
    {
        text += fmt::format(" (before; looked at again first, {} so far)",
                            ShareText(progress.done, progress.total));
    }
    if (progress.best)
    {
        text += fmt::format(", best {}{}: {} by {}",
                            progress.proven ? "" : "so far",
                            progress.proven ? "(proven)" : "",
                            ToString(progress.best->report.iterationTime),
                            Label(progress.best->plan));
    }
    if (m_limit != Duration::Max())
    {
        const double left = std::max(0.0, m_limit.S() - SecondsSince(m_start));
        text = fmt::format("{:.0f} s left, ", left) + text;
    }
    ShowText(text);
}

void
ProgressLine::ShowShare(uint64_t done, uint64_t total, const std::string& text)
{
    if (total == 0)
    {
        return;
    }
    const auto filled =
        static_cast<size_t>(20 * static_cast<double>(done) / static_cast<double>(total));
    const std::string bar = std::string(filled, '#') + std::string(20 - filled, ' ');
    ShowText(fmt::format("{}{}/{}{}", m_terminal ? "[" + bar + "] " : "", done, total, text));
}

void
ProgressLine::ShowText(const std::string& text)
{
    if (m_terminal)
    {
        std::fputs(("\r\x1b[K" + m_what + " " + text).c_str(), stderr);
        std::fflush(stderr);
        m_shown = true;
        return;
    }
    if (const auto seconds = AllLines().Next())
    {
        const std::string line =
            fmt::format("scaleacross: {:.0f} s: {} {}\n", *seconds, m_what, text);
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
    }
}

} // namespace scaleacross
