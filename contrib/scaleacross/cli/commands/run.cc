// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/engines.h"
#include "cli/output-file.h"
#include "cli/placed-error.h"
#include "cli/question.h"
#include "cli/rows-file.h"
#include "cli/show/progress-line.h"
#include "cli/show/report-json.h"
#include "cli/show/report-text.h"
#include "cli/show/trace-events.h"
#include "cli/warnings.h"
#include "cli/workers/interrupt.h"
#include "cli/workers/time-limit.h"
#include "cli/workers/worker-process.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/engine/event-warnings.h"
#include "core/explore/search-space.h"
#include "core/explore/search.h"
#include "core/store/run-store.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

struct RunCommand
{
    CommonOptions common;
    std::string engine{"analytical"};
    bool noStore{false};
    std::string timeLimit;  //!< empty: none
    std::string slice;      //!< empty: all of the plan
    std::string trace;      //!< a file; empty: none
    std::string traceRanks; //!< empty: by their number
    RunOptions run;
    RowsFile csv;
};

/// What became of a plan.
struct Outcome
{
    Plan plan;
    std::string trace; //!< files that are replayed in place of a plan; empty: none are
    std::string engine;
    Evaluation evaluation;
    std::vector<std::string> warnings;
};

Json
ToJson(const Outcome& outcome)
{
    Json json = ToJson(outcome.evaluation);
    json["engine"] = outcome.engine;
    if (outcome.trace.empty())
    {
        json["plan"] = ToJson(outcome.plan);
    }
    else
    {
        json["trace"] = outcome.trace;
    }
    json["warnings"] = outcome.warnings;
    return json;
}

void
Print(const Outcome& outcome, bool json)
{
    const std::string label =
        outcome.trace.empty() ? Label(outcome.plan) : "traces " + outcome.trace;
    std::cout << (json ? ToJson(outcome).dump(2) + "\n"
                       : RunText(label, outcome.evaluation) + WarningText(outcome.warnings));
}

/// What became of a run, and whether a thread is still busy with it.
struct Watched
{
    Evaluation evaluation;
    bool abandoned{false};
};

Watched
RunEngine(const std::shared_ptr<const Engine>& engine, const Scenario& scenario, RunOptions run)
{
    // A run that is given up may still tell of its progress.
    const auto line = std::make_shared<ProgressLine>("run");
    run.progress = [line, total = run.warmup + run.iterations](const RunProgress& progress) {
        line->ShowText(fmt::format("iteration {} of {}, {} simulated",
                                   std::min(progress.iteration, total),
                                   total,
                                   ToString(progress.simulated)));
    };
    // All of it belongs to the thread as well, which may outlive whoever calls this.
    const auto evaluation = Within(run.limits.wallTime, [engine, scenario, run] {
        return Evaluate(*engine, scenario, run);
    });
    line->Clear();
    if (!evaluation)
    {
        return {Failure{"timeout", NotDoneAfter(run.limits.wallTime)}, true};
    }
    return {*evaluation, false};
}

/**
 * Where the result goes. A database that is there is opened before the run: what cannot be stored
 * is not found out after hours. A new one is created after it: what an engine refuses leaves no
 * file.
 */
class Shelf
{
  public:
    Shelf(const RunCommand& options, const Study& study)
        : m_path(DatabasePathOf(options.common, study)),
          m_stores(!options.noStore && options.slice.empty()) // which is no plan's result
    {
        std::error_code unreadable; // which ExpectCreatable tells of
        if (m_stores && std::filesystem::exists(m_path, unreadable))
        {
            Open();
        }
        else if (m_stores)
        {
            Database::ExpectCreatable(m_path);
        }
    }

    void Put(const RunSetting& setting, const Plan& plan, const Evaluation& evaluation)
    {
        if (!m_stores)
        {
            return;
        }
        if (!m_database)
        {
            Open();
        }
        m_database->Explained([&] {
            RunStore store(*m_database, setting);
            m_database->Transact([&] { store.Put(plan, evaluation, true); });
        });
    }

  private:
    void Open()
    {
        m_database.emplace(m_path, Database::Access::Write);
    }

    std::string m_path;
    bool m_stores;
    std::optional<Database> m_database;
};

/// A slice is run once; --warmup may be what it is without being given.
void
ExpectOnce(const RunOptions& run)
{
    const auto refuse = [](const std::string& option, const std::string& allowed) {
        throw ConfigError(option,
                          "a slice is run once, from an idle network",
                          allowed,
                          "leave it out; other seeds repeat a slice");
    };
    if (run.warmup > RunOptions().warmup)
    {
        refuse("--warmup", "0");
    }
    if (run.iterations > 1)
    {
        refuse("--iterations", "1");
    }
}

/// As --trace-ranks says; without it all ranks of a small job, as long as a person can look at
/// them.
Timelines
TracedOf(const RunCommand& options, const Scenario& scenario)
{
    constexpr uint32_t kMany = 64;
    if (!options.traceRanks.empty())
    {
        return options.traceRanks == "all" ? Timelines::OfAll : Timelines::OfClasses;
    }
    return scenario.cluster.Gpus() > kMany ? Timelines::OfClasses : Timelines::OfAll;
}

Exit
Run(const RunCommand& options)
{
    const Study study =
        StudyOf(options.common, IsWorker() ? StudyScope::Scenario : StudyScope::Replay);
    const std::shared_ptr<const Engine> engine =
        MakeEngine(options.engine, "--engine", StopFor(options.engine));
    RunOptions run = options.run;
    run.seed = study.seed;
    run.limits.wallTime = TimeLimitOf(options.timeLimit);
    if (!options.slice.empty())
    {
        if (study.scenario.Job().trace)
        {
            throw ConfigError("--slice",
                              "the study replays traces, and a slice is of a plan",
                              "without --slice",
                              "write the part that is asked for as traces of its own");
        }
        run.slice = ParseAt("--slice", [&] { return ParseSlice(options.slice); });
        ExpectOnce(run);
        run.warmup = 0;
    }
    if (!options.trace.empty())
    {
        run.timeline = TracedOf(options, study.scenario);
    }
    ExpectDatabase(options.noStore ? "" : DatabasePathOf(options.common, study));
    ExpectOutput(options.trace, "--trace");
    options.csv.Expect();
    Shelf shelf(options, study);
    const Plan plan{study.scenario.Job().plan, study.scenario.network};
    const RunSetting setting = MakeRunSetting(study.scenario, *engine, run);
    const Watched watched =
        WithPlaces(study, [&] { return RunEngine(engine, study.scenario, run); });
    const auto keep = [&] {
        const auto& trace = study.scenario.Job().trace;
        Outcome outcome{plan, trace ? trace->files : "", engine->Name(), watched.evaluation, {}};
        if (const auto* report = std::get_if<RunReport>(&watched.evaluation))
        {
            outcome.warnings = WarningsOf(study.scenario, engine->Name(), study.search, report);
            const auto ofEvents = WarningsOfEvents(study.scenario.events, *report);
            outcome.warnings.insert(outcome.warnings.end(), ofEvents.begin(), ofEvents.end());
        }
        Print(outcome, options.common.json);
        shelf.Put(setting, plan, watched.evaluation);
        // Last: a disk that is full takes nothing else with it.
        options.csv.Write([&] { return Json::array({ToJson(outcome)}); });
        if (const auto* report = std::get_if<RunReport>(&watched.evaluation);
            report != nullptr && report->timeline)
        {
            WriteOutput(options.trace, TraceEvents(study, *report), "--trace");
        }
    };
    if (watched.abandoned)
    {
        EndAbandoned(keep);
    }
    keep();
    return std::holds_alternative<RunReport>(watched.evaluation) ? Exit::Done : Exit::Failed;
}

} // namespace

void
AddRun(CommandLine& program)
{
    auto options = std::make_shared<RunCommand>();
    Command command = program.Add("run", "run the plan that a study fixes, or a search keeps");
    AddStudyOrKept(command, options->common);
    AddSeed(command, options->common);
    AddSetAndJson(command, options->common);
    AddDatabase(command, options->common);
    options->csv.AddTo(command, "run, here one");
    command.Add("--engine", options->engine, EngineHelp()).ShowDefault();
    AddRunOptions(command, options->run);
    command.Add("--time-limit",
                options->timeLimit,
                "wall clock time, preparation included, such as 60s; beyond it the run has "
                "failed with the reason \"timeout\"; default: no limit");
    command.Add("--slice",
                options->slice,
                "run only operations of the plan, beginning together: N[+M...][:PART], PART of "
                "the bytes of each; N@all on all stages that do it, N@STAGE on that one, 2xN "
                "twice in a row (`scaleacross calibrate STUDY --list` has them); once and without "
                "warm-up; stored nowhere");
    command.Add("--trace",
                options->trace,
                "write the timeline of the measured iterations in the trace event format, for "
                "ui.perfetto.dev or chrome://tracing");
    command
        .Add("--trace-ranks",
             options->traceRanks,
             "whose: all, or one of each class of ranks that do the same; default: all of up to 64")
        .OneOf({"all", "classes"})
        .Needs("--trace");
    command.Flag("--no-store", options->noStore, "do not write to a database").Excludes("--db");
    command.Does([options] { return Uninterrupted([options] { return Run(*options); }); });
}

} // namespace scaleacross
