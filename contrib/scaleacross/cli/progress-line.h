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

  private:
    std::string m_what;
    bool m_terminal;
    bool m_shown{false};
};

} // namespace scaleacross

#endif // SCALEACROSS_PROGRESS_LINE_H
