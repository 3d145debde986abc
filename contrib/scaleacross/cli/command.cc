// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"

#include "cli/engines.h"
#include "cli/output-file.h"
#include "cli/placed-error.h"
#include "cli/study-settings.h"
#include "core/base/errors.h"
#include "core/explore/crew.h"
#include "core/io/wildcard-path.h"
#include "helper/engine/study-attributes.h"

#include <algorithm>
#include <iostream>

namespace scaleacross
{

void
AddStudy(Command command, CommonOptions& options)
{
    command.Add("STUDY", options.study, "study file (YAML or JSON), - for standard input")
        .Required();
}

void
AddStudyOrKept(Command command, CommonOptions& options)
{
    command.Add(
        "STUDY",
        options.study,
        "YAML or JSON file that describes model, buildings and plan; - reads standard input");
    command.Add("--from", options.kept.db, "in place of STUDY: a database that keeps the plan")
        .Named("DB")
        .Excludes("STUDY");
    command
        .Add("--search",
             options.kept.search,
             "number of the search in it; default: the only one, or that of the study as its file "
             "says "
             "it")
        .Between(1, std::numeric_limits<int64_t>::max())
        .Needs("--from");
    command.Add("--rank", options.kept.rank, "which of its plans, 1 being the best")
        .Between(1, 1000000)
        .ShowDefault()
        .Needs("--from");
}

Option
AddSet(Command command, CommonOptions& options)
{
    return command
        .Add("--set",
             options.set,
             "set a value of the study, such as cluster.cross.distance=30km; repeatable")
        .Named("KEY=VALUE")
        .Repeatable();
}

void
AddSetAndJson(Command command, CommonOptions& options)
{
    command.Flag("--json", options.json, "print JSON instead of tables");
    AddSet(command, options);
}

void
AddSeed(Command command, CommonOptions& options)
{
    command.Add("--seed", options.seed, "seed of engines that draw; default: the study's")
        .Between(1, 4294967295);
}

void
AddJobs(Command command, CommonOptions& options)
{
    command.Add("--jobs", options.jobs, "runs at the same time; default: one per core")
        .Between(1, 4096);
}

void
AddStudyOptions(Command command, CommonOptions& options)
{
    AddStudy(command, options);
    AddSeed(command, options);
    AddSetAndJson(command, options);
}

void
AddDatabase(Command command, CommonOptions& options)
{
    command.Add("--db",
                options.db,
                "database for the results; default: <name of the study>.db in the current "
                "folder");
}

void
AddCommonOptions(Command command, CommonOptions& options)
{
    AddStudyOptions(command, options);
    AddDatabase(command, options);
    AddJobs(command, options);
}

void
AddRunOptions(Command command, RunOptions& options)
{
    command.Add("--warmup", options.warmup, "iterations before the measured ones")
        .Between(0, 1000)
        .ShowDefault();
    command
        .Add("--iterations",
             options.iterations,
             "iterations to average over; the analytical engine takes more, up to 512, "
             "where so few are not steady yet")
        .Between(1, 1000)
        .ShowDefault();
}

Overrides
OverridesOf(const CommonOptions& options)
{
    Overrides overrides;
    for (const auto& text : options.set)
    {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
        {
            throw ConfigError("--set " + text,
                              "this is not KEY=VALUE",
                              "a path and a value, such as plan.tp=8",
                              "");
        }
        const std::string key = text.substr(0, equals);
        const bool twice = std::any_of(overrides.begin(), overrides.end(), [&key](const auto& one) {
            return one.first == key;
        });
        if (twice && HasWildcard(key)) // of factors the last would not be all
        {
            throw ConfigError("--set " + text,
                              "another --set is of " + key,
                              "every path with * once",
                              "leave one of them out; factors give their product");
        }
        overrides.emplace_back(key, text.substr(equals + 1));
    }
    if (options.seed)
    {
        overrides.emplace_back("seed", std::to_string(*options.seed));
    }
    return overrides;
}

Study
Checked(Study study)
{
    // Whatever engine runs it: only that of packets would look.
    ns3::CheckAttributes(study.scenario.network);
    for (size_t i = 0; i < study.enginesAt.size(); i++)
    {
        FindEngine(study.engines[i], study.enginesAt[i]);
    }
    return study;
}

void
WarnOfModel(const Study& study)
{
    for (const std::string& warning : study.scenario.Job().model.warnings)
    {
        std::cerr << "scaleacross: warning: " << warning << "\n";
    }
}

const std::string&
SourceOf(const CommonOptions& options)
{
    return options.kept.db.empty() ? options.study : options.kept.db;
}

namespace
{

/// What was set of the study that was read by these options.
std::vector<StudySetting>
SettingsOf(const CommonOptions& options, StudyScope scope, const Study& study)
{
    if (options.kept.db.empty() && (scope == StudyScope::Training || scope == StudyScope::Replay))
    {
        return SettingsFinder(scope).Find(options, study);
    }
    // On top of what a search has set, or of a part of a study, which has no meaning by itself.
    std::vector<StudySetting> settings = study.settings;
    for (const auto& [key, value] : GivenSettings(options))
    {
        settings.erase(
            std::remove_if(settings.begin(),
                           settings.end(),
                           [&key = key](const StudySetting& one) { return one.key == key; }),
            settings.end());
        settings.push_back({key, value});
    }
    return settings;
}

} // namespace

Study
StudyOf(const CommonOptions& options, StudyScope scope)
{
    Study study = StudyWithoutSettings(options, scope);
    study.settings = options.set.empty() ? study.settings : SettingsOf(options, scope, study);
    return study;
}

Study
StudyWithoutSettings(const CommonOptions& options, StudyScope scope)
{
    if (!options.kept.db.empty())
    {
        return Checked(StudyOfKept(options.kept, OverridesOf(options)));
    }
    if (options.study.empty())
    {
        throw ConfigError("STUDY",
                          "no plan is named",
                          "a study, or --from with a database that explore has filled",
                          "");
    }
    if (Database::IsDatabase(options.study))
    {
        throw ConfigError(options.study,
                          "this is a database, and no study",
                          "a study file",
                          "name it with --from for a plan that it keeps");
    }
    const Study study = ReadStudy(options.study, OverridesOf(options), scope);
    return WithPlaces(study, [&study] { return Checked(study); });
}

std::string
FileNameOf(const std::string& name)
{
    std::string file = name;
    std::replace(file.begin(), file.end(), '/', '-');
    // No hidden file, nor one that reads as an option.
    const size_t begin = std::min(file.find_first_not_of(".-"), file.size());
    std::fill_n(file.begin(), begin, '_');
    return file;
}

std::string
DatabasePathOf(const CommonOptions& options, const Study& study)
{
    return !options.db.empty()        ? options.db
           : !options.kept.db.empty() ? options.kept.db
                                      : FileNameOf(study.name) + ".db";
}

Exit
WithDatabase(const CommonOptions& options,
             const Study& study,
             const std::function<Exit(Database&)>& work)
{
    ExpectDatabase(DatabasePathOf(options, study));
    Database database(DatabasePathOf(options, study), Database::Access::Write);
    Exit end = Exit::Failed;
    database.Explained([&] { end = work(database); });
    return end;
}

unsigned
JobsOf(const CommonOptions& options)
{
    return Crew::ThreadsOf(options.jobs);
}

} // namespace scaleacross
