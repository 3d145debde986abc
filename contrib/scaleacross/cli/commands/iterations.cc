// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/rows-file.h"
#include "cli/show/report-json.h"
#include "cli/show/table.h"
#include "cli/warnings.h"
#include "core/engine/analytical-engine.h"
#include "core/explore/search.h"
#include "core/io/iteration-rows.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace scaleacross
{

namespace
{

struct IterationsCommand
{
    std::vector<std::string> files;
    CommonOptions common; //!< only --set and --json
    bool fittedOnly{false};
    RowsFile csv;
};

/// A row and what the engine makes of it.
struct Modelled
{
    IterationRow row;
    Evaluation evaluation;
    std::vector<std::string> warnings; //!< where it runs

    /// Over the measured time, less 1; nothing if the plan does not run.
    std::optional<double> Error() const
    {
        const auto* report = std::get_if<RunReport>(&evaluation);
        return report == nullptr ? std::nullopt
                                 : std::optional(report->iterationTime.S() / row.measured.S() - 1);
    }
};

/// Why a plan does not run. Domain: it does not.
const std::string&
ReasonOf(const Modelled& modelled)
{
    const auto* infeasible = std::get_if<Infeasible>(&modelled.evaluation);
    return infeasible != nullptr ? infeasible->detail
                                 : std::get<Failure>(modelled.evaluation).detail;
}

/// Mean and worst of the absolute errors of fitted rows, or of the others.
std::string
Summary(const std::vector<Modelled>& all, bool fitted)
{
    double sum = 0;
    double worst = 0;
    size_t rows = 0;
    for (const auto& modelled : all)
    {
        if (const auto error = modelled.Error(); error && modelled.row.fitted == fitted)
        {
            sum += std::abs(*error);
            worst = std::max(worst, std::abs(*error));
            rows++;
        }
    }
    return rows == 0 ? ""
                     : fmt::format("{} {}: mean {}, worst {}\n",
                                   rows,
                                   fitted ? "fitted" : "not fitted",
                                   PercentText(sum / static_cast<double>(rows)),
                                   PercentText(worst));
}

std::string
Text(const std::vector<Modelled>& all)
{
    using Align = Table::Align;
    Table table({{"set", Align::Left},
                 {"row", Align::Left},
                 {"", Align::Left},
                 {"measured"},
                 {"model"},
                 {"error"}});
    std::string reasons;
    for (const auto& modelled : all)
    {
        const IterationRow& row = modelled.row;
        const auto error = modelled.Error();
        std::vector<std::string> cells = {row.set,
                                          row.name,
                                          row.fitted ? "fitted" : "",
                                          fmt::format("{:.4g} s", row.measured.S()),
                                          "-",
                                          "-"};
        if (error)
        {
            cells[4] = fmt::format("{:.4g} s", row.measured.S() * (1 + *error));
            cells[5] = fmt::format("{:+.1f} %", 100 * *error);
        }
        else
        {
            reasons += fmt::format("{} {}: {}\n", row.set, row.name, ReasonOf(modelled));
        }
        for (const auto& warning : modelled.warnings)
        {
            reasons += fmt::format("{} {}: {}\n", row.set, row.name, warning);
        }
        table.Add(cells);
    }
    return table.Text() + "\n" + Summary(all, true) + Summary(all, false) + reasons;
}

Json
RowsJson(const std::vector<Modelled>& all)
{
    Json rows = Json::array();
    for (const auto& modelled : all)
    {
        Json row = {{"set", modelled.row.set},
                    {"name", modelled.row.name},
                    {"fitted", modelled.row.fitted},
                    {"measured_s", modelled.row.measured.S()}};
        row.update(ToJson(modelled.evaluation));
        const auto error = modelled.Error();
        row["error"] = error ? Json(*error) : Json(nullptr);
        row["warnings"] = modelled.warnings;
        if (!error)
        {
            row["reason"] = ReasonOf(modelled);
        }
        rows.push_back(row);
    }
    return rows;
}

Exit
Run(const IterationsCommand& options)
{
    std::vector<IterationRow> rows;
    for (const auto& file : options.files)
    {
        for (auto& row : ReadIterationRows(file, OverridesOf(options.common)))
        {
            if (row.fitted || !options.fittedOnly)
            {
                rows.push_back(std::move(row));
            }
        }
    }
    options.csv.Expect();
    std::vector<Modelled> all;
    for (auto& row : rows)
    {
        const Evaluation evaluation = Evaluate(AnalyticalEngine(), row.study.scenario, {});
        auto warnings = std::holds_alternative<RunReport>(evaluation)
                            ? WarningsOf(row.study.scenario, "analytical", row.study.search)
                            : std::vector<std::string>();
        all.push_back({std::move(row), evaluation, std::move(warnings)});
    }
    std::cout << (options.common.json ? RowsJson(all).dump(2) + "\n" : Text(all));
    options.csv.Write([&all] { return RowsJson(all); });
    return Exit::Done; // a row that does not run is an answer, too
}

} // namespace

void
AddIterations(CommandLine& program)
{
    auto options = std::make_shared<IterationsCommand>();
    Command command =
        program.Add("iterations", "measured iteration times beside the analytical engine's");
    command.Add("ROWS", options->files, "CSV files of measured rows, see doc/compute.md")
        .Required();
    command.Flag("--fitted", options->fittedOnly, "only rows marked as fitted");
    AddSetAndJson(command, options->common);
    options->csv.AddTo(command, "measured row");
    command.Does([options] { return Run(*options); });
}

} // namespace scaleacross
