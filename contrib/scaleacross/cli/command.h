// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMMAND_H
#define SCALEACROSS_COMMAND_H

#include "cli/command-line.h"
#include "cli/kept-plan.h"
#include "core/engine/engine.h"
#include "core/io/read-study.h"
#include "core/store/database.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Each file of commands/ that is named after a subcommand adds it.
void AddExplore(CommandLine& program);
void AddRun(CommandLine& program);
void AddCompare(CommandLine& program);
void AddMerge(CommandLine& program);
void AddExport(CommandLine& program);
void AddSlurm(CommandLine& program);
void AddShow(CommandLine& program);
void AddList(CommandLine& program);
void AddBench(CommandLine& program);
void AddFairness(CommandLine& program);
void AddCalibrate(CommandLine& program);
void AddCollective(CommandLine& program);
void AddSchedule(CommandLine& program);
void AddIterations(CommandLine& program);
void AddRequire(CommandLine& program);
void AddSensitivity(CommandLine& program);

/// Options that mean the same everywhere.
struct CommonOptions
{
    std::string study;
    KeptPlanName kept; //!< whose plan takes the place of a study
    std::string db;    //!< empty: <name of the study>.db in the current folder
    unsigned jobs{0};  //!< 0: one per core
    std::optional<uint32_t> seed;
    bool json{false};
    std::vector<std::string> set;
};

/// Adds STUDY.
void AddStudy(Command command, CommonOptions& options);

/// Adds STUDY, and --from, --search and --rank, which name a plan in place of it.
void AddStudyOrKept(Command command, CommonOptions& options);

/// Adds --set.
Option AddSet(Command command, CommonOptions& options);

/// Adds --json and --set.
void AddSetAndJson(Command command, CommonOptions& options);

/// Adds --db.
void AddDatabase(Command command, CommonOptions& options);

/// Adds --jobs.
void AddJobs(Command command, CommonOptions& options);

/// Adds --seed.
void AddSeed(Command command, CommonOptions& options);

/// Adds STUDY, --seed, --json and --set.
void AddStudyOptions(Command command, CommonOptions& options);

/// The same, --db and --jobs.
void AddCommonOptions(Command command, CommonOptions& options);

/// Adds --warmup and --iterations.
void AddRunOptions(Command command, RunOptions& options);

/// --set and --seed as overrides of the study. Throws ConfigError for "--set" without "=".
Overrides OverridesOf(const CommonOptions& options);

/// A study that has been read, once its ns-3 attributes and engines are known to be right.
Study Checked(Study study);

/// The file that the options name: a study, or a database that keeps its plan.
const std::string& SourceOf(const CommonOptions& options);

/// Tells on stderr what to know of the file that a study's model was read from. For commands whose
/// output has no place for warnings.
void WarnOfModel(const Study& study);

/// Reads the study that the options name.
Study StudyOf(const CommonOptions& options, StudyScope scope = StudyScope::Training);

/// The same without Study::settings, which takes further readings.
Study StudyWithoutSettings(const CommonOptions& options, StudyScope scope = StudyScope::Training);

/// A study's name as that of a file in the current folder: a slash becomes "-", and dots and dashes
/// that it begins with "_".
std::string FileNameOf(const std::string& name);

/// The database that the options name, that the plan is from, or that belongs to the study.
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
