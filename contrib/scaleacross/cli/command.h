// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMMAND_H
#define SCALEACROSS_COMMAND_H

#include "core/engine/engine.h"
#include "core/io/read-study.h"
#include "core/store/database.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Exit codes of the program.
enum class Exit : int
{
    Done = 0,
    Failed = 1,       //!< what was asked for could not be done: no plan can run, a run failed
    BadInput = 2,     //!< study, arguments or database cannot be used
    Interrupted = 130 //!< by SIGINT or SIGTERM; what was finished is stored
};

/// Says on stderr why the program ends, after what has been printed so far.
void PrintError(const std::string& message);

/// What a subcommand does once its arguments are read.
using CommandAction = std::function<Exit()>;

/// Each file of this folder that is named after a subcommand adds it. The action is stored where
/// the chosen command will be looked up.
void AddExplore(CLI::App& app, CommandAction& chosen);
void AddRun(CLI::App& app, CommandAction& chosen);
void AddCompare(CLI::App& app, CommandAction& chosen);
void AddShow(CLI::App& app, CommandAction& chosen);
void AddList(CLI::App& app, CommandAction& chosen);
void AddBench(CLI::App& app, CommandAction& chosen);
void AddFairness(CLI::App& app, CommandAction& chosen);
void AddCollective(CLI::App& app, CommandAction& chosen);
void AddSchedule(CLI::App& app, CommandAction& chosen);
void AddIterations(CLI::App& app, CommandAction& chosen);

/// Options that mean the same everywhere.
struct CommonOptions
{
    std::string study;
    std::string db;   //!< empty: <name of the study>.db in the current folder
    unsigned jobs{0}; //!< 0: one per core
    std::optional<uint32_t> seed;
    bool json{false};
    std::vector<std::string> set;
};

/// Adds --json and --set.
void AddSetAndJson(CLI::App& command, CommonOptions& options);

/// Adds --db.
void AddDatabase(CLI::App& command, CommonOptions& options);

/// Adds STUDY, --seed, --json and --set.
void AddStudyOptions(CLI::App& command, CommonOptions& options);

/// The same, --db and --jobs.
void AddCommonOptions(CLI::App& command, CommonOptions& options);

/// Adds --warmup and --iterations.
void AddRunOptions(CLI::App& command, RunOptions& options);

/// --set and --seed as overrides of the study. Throws ConfigError for "--set" without "=".
Overrides OverridesOf(const CommonOptions& options);

/// Reads the study that the options name.
Study StudyOf(const CommonOptions& options, StudyScope scope = StudyScope::Training);

/// A study's name as that of a file in the current folder: a slash becomes "-", and dots and dashes
/// that it begins with "_".
std::string FileNameOf(const std::string& name);

/// The database that the options name, or that belongs to the study.
std::string DatabasePathOf(const CommonOptions& options, const Study& study);

/// Opens the database that the options name, or that belongs to the study, for writing, and does
/// `work` with it as Database::Explained().
Exit WithDatabase(const CommonOptions& options,
                  const Study& study,
                  const std::function<Exit(Database&)>& work);

/// Number of jobs, at least 1.
unsigned JobsOf(const CommonOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_COMMAND_H
