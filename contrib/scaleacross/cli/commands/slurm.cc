// SPDX-License-Identifier: GPL-2.0-only

#include "cli/explore-study.h"
#include "cli/output-file.h"
#include "cli/shell-text.h"
#include "core/base/errors.h"
#include "core/base/text.h"

#include <filesystem>
#include <fmt/core.h>
#include <iostream>
#include <memory>
#include <regex>

namespace scaleacross
{

namespace
{

struct SlurmOptions
{
    ExploreOptions explore;
    std::string searched; //!< what is passed on to every explore, as text for a shell
    std::string answered; //!< and to the one that answers
    uint64_t shards{0};
    uint64_t maxArraySize{1001}; //!< of the cluster: Slurm's usual one
    unsigned cpus{1};
    std::string time;
    std::string partition;
    std::string output;
};

/// What it does, once its variables are set. sbatch copies the script to where only its text
/// arrives, so that nothing here may depend on its own place but `submit`.
const char* const g_body = R"bash(
script=$(realpath -- "$0")
cd -- "$folder"
database_of() { printf '%s.shard-%s-of-%s.db' "$prefix" "$1" "$shards"; }

case ${1:-} in
    submit)
        job=$(sbatch --parsable "$script")
        sbatch "${options[@]}" --job-name="$name-merge" --dependency="afterok:${job%%;*}" \
            --wrap "bash $(printf %q "$script") merge"
        ;;
    merge)
        files=()
        for ((shard = 1; shard <= shards; shard++)); do
            files+=("$(database_of "$shard")")
        done
        "$program" merge "$database" "${files[@]}"
        "$program" explore "$study" "${arguments[@]}" "${answered[@]}" \
            --jobs "${SLURM_CPUS_PER_TASK:-1}" --db "$database"
        ;;
    "")
        if [[ -z ${SLURM_ARRAY_TASK_ID:-} ]]; then
            echo "usage: bash $0 submit, or sbatch $0 and then, on a node, bash $0 merge" >&2
            exit 2
        fi
        "$program" explore "$study" "${arguments[@]}" \
            --shard "$SLURM_ARRAY_TASK_ID/$shards" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
            --db "$(database_of "$SLURM_ARRAY_TASK_ID")"
        ;;
    *)
        echo "$0: $1 is neither submit nor merge" >&2
        exit 2
        ;;
esac
)bash";

/// A study's name as that of a job, which has no quotes.
std::string
JobNameOf(const Study& study)
{
    std::string name = "scaleacross-" + FileNameOf(study.name);
    for (char& c : name)
    {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        c = plain ? c : '-';
    }
    return name;
}

std::string
Absolute(const std::string& path)
{
    return std::filesystem::absolute(path).lexically_normal().string();
}

/// Arguments for a shell.
std::string
ShellTexts(const std::vector<std::string>& arguments)
{
    std::string text;
    for (const std::string& argument : arguments)
    {
        text += (text.empty() ? "" : " ") + ShellText(argument);
    }
    return text;
}

std::string
ScriptOf(const SlurmOptions& options, const Study& study)
{
    const std::string name = JobNameOf(study);
    std::string resources = "--cpus-per-task=" + std::to_string(options.cpus);
    std::string script = "#!/bin/bash\n#SBATCH --job-name=" + name + "\n" +
                         fmt::format("#SBATCH --array=1-{}\n", options.shards) +
                         "#SBATCH --cpus-per-task=" + std::to_string(options.cpus) + "\n";
    for (const auto& [key, value] : {std::pair<std::string, std::string>("--time", options.time),
                                     {"--partition", options.partition}})
    {
        if (!value.empty())
        {
            script += "#SBATCH " + key + "=" + value + "\n";
            resources += " " + key + "=" + value;
        }
    }
    script += "#\n"
              "# Searches a study in shards, one per task of the array, and puts them together:\n"
              "#\n"
              "#     bash FILE submit    submits the array, and a job that merges what it leaves\n"
              "#     sbatch FILE         the array alone; submitted again it goes on\n"
              "#     bash FILE merge     merges, and prints the answer\n\n"
              "set -euo pipefail\n";
    script += "program=" + ShellText(std::filesystem::read_symlink("/proc/self/exe").string());
    script += "\nstudy=" + ShellText(Absolute(options.explore.common.study));
    script += "\nfolder=" + ShellText(std::filesystem::current_path().string());
    script += "\nprefix=" + ShellPath(FileNameOf(study.name));
    script += "\ndatabase=" + ShellText(Absolute(DatabasePathOf(options.explore.common, study)));
    script += "\nname=" + name;
    script += fmt::format("\nshards={}", options.shards);
    script += "\noptions=(" + resources + ")";
    script += "\narguments=(" + options.searched + ")";
    return script + "\nanswered=(" + options.answered + ")\n" + g_body;
}

void
ExpectWord(const std::string& option,
           const std::string& value,
           const char* pattern,
           const std::string& allowed)
{
    if (!value.empty() && !std::regex_match(value, std::regex(pattern)))
    {
        throw ConfigError(option, Quoted(value) + " is none", allowed, "");
    }
}

/// As Slurm reads it: minutes, minutes:seconds, hours:minutes:seconds, days-hours, and so on. What
/// stands behind a larger unit is less than one of these, which Slurm itself does not ask for.
void
ExpectTime(const std::string& time)
{
    const std::regex shape(
        "(?:UNLIMITED|([0-9]+)|([0-9]+):([0-9]{1,2})|([0-9]+):([0-9]{1,2}):([0-9]{1,2})|"
        "([0-9]+)-([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2}))?)?)");
    std::smatch parts;
    const bool isTime = std::regex_match(time, parts, shape);
    const auto isBelow = [&parts](size_t part, unsigned long most) {
        return parts[part].length() == 0 || std::stoul(parts[part].str()) < most;
    };
    if (!time.empty() && !(isTime && isBelow(3, 60) && isBelow(5, 60) && isBelow(6, 60) &&
                           isBelow(8, 24) && isBelow(9, 60) && isBelow(10, 60)))
    {
        throw ConfigError("--time",
                          Quoted(time) + (isTime ? " has more than 59 minutes or seconds, or 23 "
                                                   "hours, behind a larger unit"
                                                 : " is none"),
                          "minutes, minutes:seconds, hours:minutes:seconds or "
                          "days-hours:minutes:seconds, such as 02:00:00, or UNLIMITED",
                          isTime ? "write the larger unit greater" : "");
    }
}

/// Slurm takes an array whose largest index is below its MaxArraySize (slurm.conf), and refuses the
/// whole otherwise. Indices are shards, from 1.
void
ExpectArray(const SlurmOptions& options)
{
    if (options.shards >= options.maxArraySize)
    {
        throw ConfigError("--shards",
                          fmt::format("{} shards are an array with the largest index {}, and Slurm "
                                      "takes indices below MaxArraySize, here {}",
                                      options.shards,
                                      options.shards,
                                      options.maxArraySize),
                          fmt::format("1 to {}", options.maxArraySize - 1),
                          "ask for fewer, or give the cluster's MaxArraySize, which `scontrol show "
                          "config` shows, with --max-array-size");
    }
}

Exit
Slurm(const SlurmOptions& options)
{
    ExpectArray(options);
    if (options.explore.common.study == "-")
    {
        throw ConfigError("STUDY",
                          "a study from standard input is not there when the jobs run",
                          "a file that the nodes can read",
                          "write it to a file");
    }
    ExpectTime(options.time);
    ExpectWord("--partition",
               options.partition,
               "[A-Za-z0-9_.][A-Za-z0-9_.,-]*",
               "names of partitions, separated by commas");
    const Study study = StudyOf(options.explore.common);
    WarnOfModel(study);
    ExpectExplorable(options.explore, study);
    const std::string script = ScriptOf(options, study);
    ExpectDatabase(DatabasePathOf(options.explore.common, study));
    if (options.output.empty())
    {
        std::cout << script;
        return Exit::Done;
    }
    WriteOutput(options.output, script);
    std::cout << "Written to " << options.output << ". To submit it:\n    bash "
              << ShellPath(options.output) << " submit\n";
    return Exit::Done;
}

} // namespace

void
AddSlurm(CommandLine& program)
{
    auto options = std::make_shared<SlurmOptions>();
    Command command =
        program.Add("slurm", "write a job array for Slurm that searches a study in shards");
    AddSearchOptions(command, options->explore);
    const auto searched = command.OptionNames();
    AddAnswerOptions(command, options->explore);
    auto answered = command.OptionNames();
    answered.erase(answered.begin(),
                   answered.begin() + static_cast<std::ptrdiff_t>(searched.size()));
    command.Add("--shards", options->shards, "tasks of the array, each of which searches a part")
        .Between(1, kMostShards)
        .Required();
    command
        .Add("--max-array-size",
             options->maxArraySize,
             "the cluster's MaxArraySize, which is above the number of shards")
        .Between(2, 4000001)
        .ShowDefault();
    command.Add("--cpus", options->cpus, "processors of each task").Between(1, 4096).ShowDefault();
    command.Add("--time", options->time, "time limit of each task, such as 02:00:00; default: none")
        .Named("TIME");
    command.Add("--partition", options->partition, "where to run; default: the cluster's");
    AddDatabase(command, options->explore.common);
    command.Add("-o,--output", options->output, "script to write; default: standard output");
    command.Does([options, command, searched, answered] {
        options->searched = ShellTexts(command.Given(searched));
        options->answered = ShellTexts(command.Given(answered));
        return Slurm(*options);
    });
}

} // namespace scaleacross
