// SPDX-License-Identifier: GPL-2.0-only

#include "cli/rows-file.h"

#include "cli/output-file.h"
#include "cli/show/json-rows.h"
#include "core/base/errors.h"

#include <filesystem>
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
RowsFile::Expect(const std::string& input, const std::string& database) const
{
    if (m_path.empty())
    {
        return;
    }
    ExpectOutput(m_path, input, g_option);
    if (!database.empty())
    {
        ExpectBesideDatabase(m_path, database, g_option);
    }
}

void
RowsFile::ExpectBeside(const std::string& path, const std::string& option) const
{
    namespace fs = std::filesystem;
    if (!m_path.empty() && !path.empty() &&
        fs::weakly_canonical(m_path) == fs::weakly_canonical(path))
    {
        throw ConfigError(g_option + " " + m_path, option + " writes it, too", "two files", "");
    }
}

void
RowsFile::Write(const std::function<Json()>& rows, const std::string& input) const
{
    if (!m_path.empty())
    {
        WriteOutput(m_path, CsvOfRows(rows()), input, g_option);
    }
}

} // namespace scaleacross
