// SPDX-License-Identifier: GPL-2.0-only

#include "cli/show/progress-line.h"

#include <cstdio>
#include <fmt/core.h>
#include <unistd.h>
#include <utility>

namespace scaleacross
{

namespace
{

std::string
TimeLeft(const Progress& progress)
{
    if (progress.rate <= 0)
    {
        return "";
    }
    const double seconds = static_cast<double>(progress.total - progress.done) / progress.rate;
    if (seconds < 100)
    {
        return fmt::format(", {:.0f} s left", seconds);
    }
    return seconds < 6000 ? fmt::format(", {:.0f} min left", seconds / 60)
                          : fmt::format(", {:.1f} h left", seconds / 3600);
}

} // namespace

ProgressLine::ProgressLine(std::string what)
    : m_what(std::move(what)),
      m_terminal(isatty(STDERR_FILENO) == 1)
{
}

ProgressLine::~ProgressLine()
{
    Clear();
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
ProgressLine::Show(const Progress& progress)
{
    if (!m_terminal || progress.total == 0)
    {
        return;
    }
    const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
    const auto filled = static_cast<size_t>(20 * share);
    const std::string line = fmt::format("\r\x1b[K{} [{}{}] {}/{}  {:.1f}/s{}",
                                         m_what,
                                         std::string(filled, '#'),
                                         std::string(20 - filled, ' '),
                                         progress.done,
                                         progress.total,
                                         progress.rate,
                                         TimeLeft(progress));
    Write(line);
}

void
ProgressLine::ShowText(const std::string& text)
{
    if (m_terminal)
    {
        Write("\r\x1b[K" + m_what + " " + text);
    }
}

void
ProgressLine::Write(const std::string& line)
{
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    m_shown = true;
}

} // namespace scaleacross
