// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/engines.h"
#include "cli/report-json.h"
#include "cli/report-text.h"
#include "core/explore/search-space.h"
#include "core/explore/search.h"
#include "core/store/run-store.h"

#include <iostream>
#include <memory>

namespace scaleacross
{

namespace
{

struct RunCommand
{
    CommonOptions common;
    std::string engine{"analytical"};
    bool noStore{false};
    RunOptions run;
};

void
Print(const RunCommand& options, const Plan& plan, const Evaluation& evaluation)
{
    if (options.common.json)
    {
        Json json = ToJson(evaluation);
        json["engine"] = options.engine;
        json["plan"] = ToJson(plan);
        std::cout << json.dump(2) << "\n";
        return;
    }
    std::cout << RunText(Label(plan), evaluation);
}

/// Runs, prints, and stores where there is a database.
Exit
RunWith(const RunCommand& options, const Study& study, const Engine& engine, Database* database)
{
    RunOptions run = options.run;
    run.seed = study.seed;
    const Plan plan{study.scenario.Job().plan, study.scenario.network};
    const Evaluation evaluation = Evaluate(engine, study.scenario, run);
    Print(options, plan, evaluation);
    if (database != nullptr)
    {
        RunStore store(*database, MakeRunSetting(study.scenario, engine, run));
        database->Transact([&] { store.Put(plan, evaluation, true); });
    }
    return std::holds_alternative<RunReport>(evaluation) ? Exit::Done : Exit::Failed;
}

Exit
Run(const RunCommand& options)
{
    const Study study = StudyOf(options.common);
    const auto engine = MakeEngine(options.engine);
    if (options.noStore)
    {
        return RunWith(options, study, *engine, nullptr);
    }
    // Opened before the run: what cannot be stored is not found out after hours.
    return WithDatabase(options.common, study, [&](Database& database) {
        return RunWith(options, study, *engine, &database);
    });
}

} // namespace

void
AddRun(CLI::App& app, CommandAction& chosen)
{
    auto options = std::make_shared<RunCommand>();
    CLI::App* command = app.add_subcommand("run", "run the plan that a study fixes");
    AddCommonOptions(*command, options->common);
    command->add_option("--engine", options->engine, "analytical or packet")->capture_default_str();
    AddRunOptions(*command, options->run);
    command->add_flag("--no-store", options->noStore, "do not write to a database");
    command->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

} // namespace scaleacross
