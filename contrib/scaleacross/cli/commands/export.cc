// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/kept-plan.h"
#include "cli/output-file.h"
#include "cli/show/csv-text.h"
#include "core/base/errors.h"
#include "core/engine/engine.h"
#include "core/io/chakra-files.h"
#include "core/io/chakra-writer.h"
#include "core/store/ranking-table.h"

#include <fmt/core.h>
#include <iostream>
#include <limits>
#include <memory>
#include <variant>

namespace scaleacross
{

namespace
{

struct ExportOptions
{
    std::string source; //!< a database, or a study
    KeptPlanName kept;
    std::vector<std::string> set;
    bool csv{false};
    bool chakra{false};
    std::string output;
};

bool
IsDatabaseName(const std::string& path)
{
    const bool named = path.size() > 3 && path.compare(path.size() - 3, 3, ".db") == 0;
    return named || Database::IsDatabase(path);
}

Exit
ExportTable(const ExportOptions& options)
{
    Database database(options.source, Database::Access::Read);
    std::string text;
    database.Snapshot([&] {
        text = CsvText(RankingTable(database, ChosenSearch(database, options.kept.search).id));
    });
    if (options.output.empty())
    {
        std::cout << text;
    }
    else
    {
        WriteOutput(options.output, text, options.source);
    }
    return Exit::Done;
}

/// The plan of the study, or of that rank of the database.
Study
StudyOf(const ExportOptions& options)
{
    CommonOptions common;
    common.set = options.set;
    common.study = options.source;
    if (IsDatabaseName(options.source))
    {
        common.kept = options.kept;
        common.kept.db = options.source;
    }
    return scaleacross::StudyOf(common, StudyScope::Replay);
}

Exit
ExportTraces(const ExportOptions& options)
{
    const Study study = StudyOf(options);
    const std::string& files = options.output;
    ExpectOutput(ChakraGroupsFile(files), options.source, "--output");
    const auto prepared = PrepareRun(study.scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        throw RunError(no->reason, no->detail);
    }
    const auto& run = std::get<PreparedRun>(prepared);
    const ChakraWriter writer(run);
    uint64_t bytes = 0;
    for (Rank rank = 0; rank < run.graph.ranks; rank++)
    {
        const std::string text = writer.Trace(rank);
        WriteOutput(ChakraFile(files, rank), text, options.source);
        bytes += text.size();
    }
    WriteOutput(ChakraGroupsFile(files), writer.Groups().Json(), options.source);
    fmt::print("{} to {}: an iteration of {} ranks, {:.1f} MB; groups in {}\n",
               ChakraFile(files, 0),
               ChakraFile(files, run.graph.ranks - 1),
               run.graph.ranks,
               static_cast<double>(bytes) / 1e6,
               ChakraGroupsFile(files));
    return Exit::Done;
}

Exit
Export(const ExportOptions& options, const Command& command)
{
    const auto refuse = [&command](const char* name, const char* problem, const char* allowed) {
        if (command.IsGiven(name))
        {
            throw ConfigError(name, problem, allowed, "");
        }
    };
    if (options.csv == options.chakra)
    {
        throw ConfigError("export",
                          options.csv ? "two forms are asked for" : "it is not said in which form",
                          "--csv or --chakra",
                          "--csv writes all plans of a search, --chakra what the ranks of one do");
    }
    if (options.csv)
    {
        refuse("--rank", "the table has all plans", "--chakra, or without --rank");
        refuse("--set", "a database is as it is", "--chakra, or without --set");
        return ExportTable(options);
    }
    if (options.output.empty())
    {
        throw ConfigError("--chakra",
                          "there is a file for each rank, and no name for them",
                          "-o PREFIX, for PREFIX.0.et and so on",
                          "");
    }
    if (!IsDatabaseName(options.source))
    {
        refuse("--rank", "a study has one plan", "a database, or without --rank");
        refuse("--search", "a study has no searches", "a database, or without --search");
    }
    return ExportTraces(options);
}

} // namespace

void
AddExport(CommandLine& program)
{
    auto options = std::make_shared<ExportOptions>();
    Command command = program.Add(
        "export",
        "write the plans that a search keeps as a table, or what the ranks of one do as traces");
    command.Add("DB|STUDY", options->source, "a database, or with --chakra a study").Required();
    command.Flag("--csv", options->csv, "comma-separated values, a row per plan");
    command.Flag("--chakra",
                 options->chakra,
                 "an execution trace of Chakra for each rank of one plan, one iteration");
    command
        .Add("--search",
             options->kept.search,
             "number of the search; default: the one last worked on")
        .Between(1, std::numeric_limits<int64_t>::max());
    command.Add("--rank", options->kept.rank, "with --chakra: which of the plans, 1 being the best")
        .Between(1, 1000000)
        .ShowDefault();
    command
        .Add("--set",
             options->set,
             "with --chakra: set a value of the study, or of what the search asked about; "
             "repeatable")
        .Named("KEY=VALUE")
        .Repeatable();
    command.Add("-o,--output",
                options->output,
                "file to write, default: standard output; with --chakra what PREFIX.0.et and the "
                "others begin with");
    command.Does([options, command] { return Export(*options, command); });
}

} // namespace scaleacross
