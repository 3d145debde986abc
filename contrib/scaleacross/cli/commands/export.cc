// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/kept-plan.h"
#include "cli/output-file.h"
#include "cli/show/csv-text.h"
#include "core/store/ranking-table.h"

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

Exit
Export(const ExportOptions& options)
{
    Database database(options.db, Database::Access::Read);
    std::string text;
    database.Snapshot(
        [&] { text = CsvText(RankingTable(database, ChosenSearch(database, options.search).id)); });
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
