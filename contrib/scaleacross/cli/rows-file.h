// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ROWS_FILE_H
#define SCALEACROSS_ROWS_FILE_H

#include "cli/command-line.h"
#include "cli/show/report-json.h"

#include <functional>
#include <string>

namespace scaleacross
{

/// The file that --csv names: the rows of a command's JSON as comma-separated values.
class RowsFile
{
  public:
    /// Adds --csv; `what` a row is, such as "plan of the ranking".
    void AddTo(Command command, const std::string& what);

    /// Refuses, before anything runs, a file that may not be written: see ExpectOutput().
    void Expect() const;

    /// Writes what `rows` gives, an array of objects, if a file is named.
    void Write(const std::function<Json()>& rows) const;

  private:
    std::string m_path; //!< empty: none
};

} // namespace scaleacross

#endif // SCALEACROSS_ROWS_FILE_H
