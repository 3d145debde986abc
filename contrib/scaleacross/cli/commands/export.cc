// SPDX-License-Identifier: GPL-2.0-only

#include "cli/chosen-search.h"
#include "cli/command.h"
#include "cli/kept-plan.h"
#include "cli/output-file.h"
#include "cli/plan-formats/option-text.h"
#include "cli/plan-formats/plan-format.h"
#include "cli/show/csv-text.h"
#include "core/base/errors.h"
#include "core/store/ranking-table.h"

#include <fmt/core.h>
#include <iostream>
#include <limits>
#include <memory>

namespace scaleacross
{

namespace
{

struct ExportOptions
{
    std::string source;
    CommonOptions common; //!< with --format: of the study, or of the plan that is kept
    bool csv{false};
    std::string format;
    std::string output;
    bool ofKept{false}; //!< a number of a plan or search is given
};

std::string
RankingText(const ExportOptions& options)
{
    Database database(options.source, Database::Access::Read);
    std::string text;
    database.Snapshot([&] {
        text =
            CsvText(RankingTable(database, ChosenSearch(database, options.common.kept.search).id));
    });
    return text;
}

/// The study whose plan is asked for, or that fixes the plan of that rank in a database.
Study
StudyOf(const ExportOptions& options, uint64_t rank, StudyScope scope = StudyScope::Training)
{
    CommonOptions common = options.common;
    const bool isKept = Database::IsDatabase(options.source);
    (isKept ? common.kept.db : common.study) = options.source;
    common.kept.rank = rank;
    return StudyOf(common, scope);
}

/// The plan of a study, or of that rank in a database.
std::string
PlanText(const ExportOptions& options, uint64_t rank)
{
    const std::string source =
        Database::IsDatabase(options.source)
            ? TextOf(KeptPlanName{options.source, options.common.kept.search, rank})
            : options.source;
    const Study study = StudyOf(options, rank);
    WarnOfModel(study);
    return PlanFormatOf(options.format).text(PlannedJobOf(study, source));
}

/// Which of a database's plans the software can run, or what to do where there is none.
std::string
RemedyFor(const ExportOptions& options, const PlanRefused& refused)
{
    const std::string none = "no plan that is kept is one that it can run: " + refused.Remedy();
    if (!Database::IsDatabase(options.source))
    {
        return refused.Remedy();
    }
    for (uint64_t rank = 1;; rank++)
    {
        try
        {
            PlanText(options, rank);
            return fmt::format("--rank {} is the best plan that it can run", rank);
        }
        catch (const ConfigError& no)
        {
            if (no.Where().rfind("--rank", 0) == 0) // behind the last
            {
                return none;
            }
        }
    }
}

void
ExpectOnePlan(const ExportOptions& options)
{
    if (!Database::IsDatabase(options.source) && options.ofKept)
    {
        throw ConfigError("--rank, --search",
                          options.source + " is no database",
                          "a database that explore has filled",
                          "leave them out: a study has one plan");
    }
}

/// Writes a form that is several files; says what they are.
std::string
WriteFiles(const ExportOptions& options)
{
    ExpectOnePlan(options);
    if (options.output.empty())
    {
        throw ConfigError("--format " + options.format,
                          "it is a file for each rank, and they have no name",
                          "-o PREFIX, for PREFIX.0.et and so on",
                          "");
    }
    const Study study = StudyOf(options, options.common.kept.rank, StudyScope::Replay);
    WarnOfModel(study);
    return PlanFormatOf(options.format).write(study, options.output);
}

std::string
PlanText(const ExportOptions& options)
{
    ExpectOnePlan(options);
    try
    {
        return PlanText(options, options.common.kept.rank);
    }
    catch (const PlanRefused& refused)
    {
        throw ConfigError(refused.Where(),
                          refused.Problem(),
                          refused.Allowed(),
                          RemedyFor(options, refused));
    }
}

void
ExpectOneForm(const ExportOptions& options)
{
    if (options.csv == options.format.empty())
    {
        return;
    }
    throw ConfigError(options.csv ? "--format" : "--csv",
                      options.csv ? "is given beside --csv"
                                  : "is not given, nor is --format: no form is named",
                      "--csv, for a table of all plans, or --format, for one of them",
                      "");
}

Exit
Export(const ExportOptions& options)
{
    ExpectOneForm(options);
    if (!options.csv && PlanFormatOf(options.format).write != nullptr)
    {
        std::cout << WriteFiles(options);
        return Exit::Done;
    }
    const std::string text = options.csv ? RankingText(options) : PlanText(options);
    if (options.output.empty())
    {
        std::cout << text;
    }
    else
    {
        WriteOutput(options.output, text);
    }
    return Exit::Done;
}

} // namespace

void
AddExport(CommandLine& program)
{
    auto options = std::make_shared<ExportOptions>();
    Command command =
        program.Add("export", "write the plans that a search keeps, or one for other software");
    command.Add("DB", options->source, "a database; with --format also a study that fixes a plan")
        .Required();
    command.Flag("--csv", options->csv, "comma-separated values, a row per plan");
    command.Add("--format", options->format, "one plan: " + PlanFormatHelp());
    command
        .Add("--search",
             options->common.kept.search,
             "number of the search; default: the only one, or that of the study as its file says "
             "it")
        .Between(1, std::numeric_limits<int64_t>::max());
    command
        .Add("--rank",
             options->common.kept.rank,
             "with --format: which of a database's plans, 1 being the best")
        .Between(1, 1000000)
        .ShowDefault()
        .Needs("--format");
    AddSet(command, options->common).Needs("--format");
    command.Add("-o,--output",
                options->output,
                "file to write; default: standard output; of traces what their names begin with");
    command.Does([options, command] {
        options->ofKept = command.IsGiven("--rank") || command.IsGiven("--search");
        return Export(*options);
    });
}

} // namespace scaleacross
