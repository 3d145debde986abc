// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"

#include "core/base/errors.h"
#include "helper/engine/study-attributes.h"

#include <algorithm>
#include <iostream>
#include <thread>

namespace scaleacross
{

void
PrintError(const std::string& message)
{
    std::cout.flush();
    std::cerr << "scaleacross: error: " << message << "\n";
}

void
AddSetAndJson(CLI::App& command, CommonOptions& options)
{
    command.add_flag("--json", options.json, "print JSON instead of tables");
    command
        .add_option("--set",
                    options.set,
                    "set a value of the study, such as cluster.cross.distance=30km; repeatable")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
}

void
AddStudyOptions(CLI::App& command, CommonOptions& options)
{
    command.add_option("STUDY", options.study, "study file (YAML or JSON), - for standard input")
        ->required();
    command.add_option("--seed", options.seed, "seed of engines that draw; default: the study's")
        ->check(CLI::Range(1U, 4294967295U));
    AddSetAndJson(command, options);
}

void
AddDatabase(CLI::App& command, CommonOptions& options)
{
    command
        .add_option("--db",
                    options.db,
                    "database for the results; default: <name of the study>.db in the current "
                    "folder")
        ->check([](const std::string& path) {
            return path.empty() ? std::string("a file has a name") : std::string();
        });
}

void
AddCommonOptions(CLI::App& command, CommonOptions& options)
{
    AddStudyOptions(command, options);
    AddDatabase(command, options);
    command.add_option("--jobs", options.jobs, "runs at the same time; default: one per core")
        ->check(CLI::Range(1U, 4096U));
}

void
AddRunOptions(CLI::App& command, RunOptions& options)
{
    command.add_option("--warmup", options.warmup, "iterations before the measured ones")
        ->check(CLI::Range(0U, 1000U))
        ->capture_default_str();
    command
        .add_option("--iterations",
                    options.iterations,
                    "iterations to average over; the analytical engine takes more, up to 512, "
                    "where so few are not steady yet")
        ->check(CLI::Range(1U, 1000U))
        ->capture_default_str();
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
        overrides.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    if (options.seed)
    {
        overrides.emplace_back("seed", std::to_string(*options.seed));
    }
    return overrides;
}

Study
StudyOf(const CommonOptions& options, StudyScope scope)
{
    Study study = ReadStudy(options.study, OverridesOf(options), scope);
    // Whatever engine runs it: only that of packets would look.
    ns3::CheckAttributes(study.scenario.network);
    return study;
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
    return options.db.empty() ? FileNameOf(study.name) + ".db" : options.db;
}

Exit
WithDatabase(const CommonOptions& options,
             const Study& study,
             const std::function<Exit(Database&)>& work)
{
    Database database(DatabasePathOf(options, study), Database::Access::Write);
    Exit end = Exit::Failed;
    database.Explained([&] { end = work(database); });
    return end;
}

unsigned
JobsOf(const CommonOptions& options)
{
    return options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

} // namespace scaleacross
