// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/output-file.h"
#include "cli/show/csv-text.h"
#include "core/base/errors.h"
#include "core/store/ranking-table.h"
#include "core/store/search-reader.h"

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>

namespace scaleacross
{

namespace
{

struct ExportOptions
{
    std::string db;
    int64_t search{0};
    bool csv{false};
    std::string output;
};

int64_t
ChosenSearch(const ExportOptions& options, Database& database)
{
    const auto searches = ListSearches(database);
    if (searches.empty())
    {
        throw ConfigError(options.db,
                          "no search is stored here",
                          "a database in which explore has stored one",
                          "");
    }
    const bool known = std::any_of(searches.begin(), searches.end(), [&](const auto& search) {
        return search.id == options.search;
    });
    if (options.search != 0 && !known)
    {
        throw ConfigError("--search " + std::to_string(options.search),
                          "the database has no such search",
                          "a number that `show` lists",
                          "");
    }
    return options.search != 0 ? options.search : searches.front().id;
}

Exit
Export(const ExportOptions& options)
{
    Database database(options.db, Database::Access::Read);
    std::string text;
    database.Snapshot(
        [&] { text = CsvText(RankingTable(database, ChosenSearch(options, database))); });
    if (options.output.empty())
    {
        std::cout << text;
    }
    else
    {
        WriteOutput(options.output, text, options.db);
    }
    return Exit::Done;
}

} // namespace

void
AddExport(CommandLine& program)
{
    auto options = std::make_shared<ExportOptions>();
    Command command = program.Add("export", "write the plans that a search keeps as a table");
    command.Add("DB", options->db, "a database").Required();
    command.Flag("--csv", options->csv, "comma-separated values, a row per plan").Required();
    command
        .Add("--search", options->search, "number of the search; default: the one last worked on")
        .Between(1, std::numeric_limits<int64_t>::max());
    command.Add("-o,--output", options->output, "file to write; default: standard output");
    command.Does([options] { return Export(*options); });
}

} // namespace scaleacross
