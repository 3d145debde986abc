// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PROGRESS_LINE_H
#define SCALEACROSS_PROGRESS_LINE_H

#include "core/explore/search.h"

#include <string>

namespace scaleacross
{

/// One line on stderr that is written over and over: share, rate and time left. Only on a terminal.
class ProgressLine
{
  public:
    explicit ProgressLine(std::string what);
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    /// Removes the line.
    ~ProgressLine();

    void Show(const Progress& progress);

    /// A line of words in place of a share of something.
    void ShowText(const std::string& text);

    /// Removes the line, until something is shown again.
    void Clear();

  private:
    void Write(const std::string& line);

    std::string m_what;
    bool m_terminal;
    bool m_shown{false};
};

} // namespace scaleacross

#endif // SCALEACROSS_PROGRESS_LINE_H
