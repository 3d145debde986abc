// SPDX-License-Identifier: GPL-2.0-only

#include "cli/rows-file.h"

#include "cli/output-file.h"
#include "cli/show/json-rows.h"

#include <nlohmann/json.hpp>

namespace scaleacross
{

namespace
{

const std::string g_option = "--csv";

} // namespace

void
RowsFile::AddTo(Command command, const std::string& what)
{
    command
        .Add(g_option,
             m_path,
             "file for a row of every " + what + ": what --json says, as comma-separated values")
        .Named("FILE");
}

void
RowsFile::Expect() const
{
    ExpectOutput(m_path, g_option);
}

void
RowsFile::Write(const std::function<Json()>& rows) const
{
    if (!m_path.empty())
    {
        WriteOutput(m_path, CsvOfRows(rows()), g_option);
    }
}

} // namespace scaleacross
