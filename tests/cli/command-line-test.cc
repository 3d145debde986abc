// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Options of a command with a value of any text, by its help.
std::vector<std::string>
TextOptions(const std::string& help)
{
    const std::regex line("  (-[a-z],)?(--[a-z0-9-]+) (TEXT(?!:)|KEY=).*");
    std::vector<std::string> options;
    std::istringstream lines(help);
    std::smatch found;
    for (std::string text; std::getline(lines, text);)
    {
        if (std::regex_match(text, found, line))
        {
            options.push_back(found[2]);
        }
    }
    return options;
}

TEST_F(Commands, EveryCommandHasHelp)
{
    EXPECT_EQ(Run("--help").code, 0);
    for (const char* command : {"explore", "run", "compare", "show", "list"})
    {
        const Call call = Run(std::string(command) + " --help");
        EXPECT_EQ(call.code, 0);
        EXPECT_THAT(call.out, HasSubstr("--json"));
    }
    EXPECT_EQ(Run("--version").code, 0);
}

TEST_F(Commands, WrongArgumentsAreBadInput)
{
    for (const char* arguments : {"",
                                  "explode study.yaml",
                                  "run",
                                  "run study.yaml --engine",
                                  "run study.yaml --jobs 0",
                                  "run study.yaml --set plan.tp",
                                  "run study.yaml --set plan.tq=1",
                                  "run study.yaml --seed 0",
                                  "run study.yaml --engine flows",
                                  "run study.yaml --engine packets",
                                  "run study.yaml --set plan.tp=1 plan.pp=2",
                                  "run study.yaml --no-store --db a.db",
                                  "run study.yaml --db=",
                                  "run study.yaml --time-limit 0s",
                                  "compare study.yaml --time-limit soon",
                                  "compare study.yaml --memory-limit 0B",
                                  "compare study.yaml --engines packet,packet",
                                  "compare study.yaml --engines analytical,,packet",
                                  "compare study.yaml --engines=,packet",
                                  "compare study.yaml --csv -",
                                  "compare study.yaml --sweep study=a,b",
                                  "compare study.yaml --sweep network.qps=1,2 --set network.qps=3",
                                  "compare study.yaml --sweep 'network={qps: 1},{qps: 2}' "
                                  "--set network.qps=3",
                                  "show study.yaml --topology -o -",
                                  "bench permutation --hosts 0",
                                  "run study.yaml --iterations 010",
                                  "run study.yaml --iterations 0x10",
                                  "run study.yaml --jobs 2",
                                  "explore study.yaml --sweep=",
                                  "explore study.yaml --sweep plan.tp=1,2",
                                  "explore study.yaml --sweep network.qps=1,,2",
                                  "explore study.yaml --sweep network.qps=1,1",
                                  "explore study.yaml --sweep network.qps=1,2 --top 3",
                                  "fairness --control dcqcn,dcqcn",
                                  "show study.yaml --topology --top 3 -o a.svg",
                                  "show study.yaml --search 0",
                                  "show study.yaml --search 1",
                                  "show study.yaml --search first",
                                  "schedule --name 1f1b --stages 2 --microbatches 2 --forward 1ms "
                                  "--input-grad 1ms --weight-grad 1ms --cross 1ms",
                                  "show missing.db"})
    {
        const Call call = Run(arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_THAT(call.err, testing::StartsWith("scaleacross: error: ")) << arguments;
        EXPECT_EQ(call.out, "") << arguments;
    }
    EXPECT_THAT(Run("run study.yaml --engine flows").err, HasSubstr("did you mean flow?"));
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

/// Numbers that are none, and those that no double holds, of every option that takes one.
/// README has them beside the program's, as ./scaleacross COMMAND.
TEST_F(Commands, ThoseOfTheScriptAreToldOf)
{
    for (const std::string command : {"test", "build", "script", "report"})
    {
        const Call call = Run(command);
        EXPECT_EQ(call.code, 2);
        EXPECT_THAT(call.err, HasSubstr("the script ./scaleacross of a checkout has it"));
        EXPECT_THAT(call.err, Not(HasSubstr("did you mean")));
    }
}

TEST_F(Commands, NumbersThatAreNoneAreRefused)
{
    for (const std::string option : {"explore study.yaml --gap",
                                     "explore study.yaml --keep",
                                     "explore study.yaml --top",
                                     "explore study.yaml --verify",
                                     "explore study.yaml --jobs",
                                     "explore study.yaml --seed",
                                     "explore study.yaml --time-limit",
                                     "explore study.yaml --memory-limit",
                                     "explore study.yaml --sweep cluster.cross.oversubscription",
                                     "explore study.yaml --set workload.sequence",
                                     "explore study.yaml --set cluster.cross.loss",
                                     "explore study.yaml --set prices.gpu_hour",
                                     "require study.yaml --loss",
                                     "sensitivity study.yaml --by",
                                     "slurm study.yaml --shards",
                                     "slurm study.yaml --shards 2 --cpus",
                                     "slurm study.yaml --shards 2 --time",
                                     "show study.yaml --search",
                                     "run study.yaml --warmup",
                                     "run study.yaml --iterations",
                                     "collective study.yaml -b",
                                     "collective study.yaml -f",
                                     "bench permutation --hosts",
                                     "fairness --control dcqcn --senders",
                                     "fairness --control dcqcn --rate",
                                     "fairness --control dcqcn --delay"})
    {
        for (const std::string value : {"nan", "inf", "-1", "1e400", "1e400%", "", "1e-400x"})
        {
            const Call call = Run(option + "='" + value + "'");
            EXPECT_EQ(call.code, 2) << option << "=" << value << "\n" << call.out << call.err;
            EXPECT_THAT(call.err, testing::StartsWith("scaleacross: error: ")) << option << value;
            EXPECT_EQ(call.out, "") << option << "=" << value;
        }
    }
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

/// None counts as not given, and none takes the next argument for its value.
TEST_F(Commands, EmptyValuesAreRefused)
{
    const std::string times = "--stages 2 --microbatches 2 --forward 1ms --input-grad 1ms "
                              "--weight-grad 1ms ";
    size_t options = 0;
    for (const std::string call : {"run study.yaml ",
                                   "explore study.yaml ",
                                   "compare study.yaml ",
                                   "show study.yaml --topology ",
                                   "bench permutation ",
                                   "fairness --control dcqcn ",
                                   "collective study.yaml ",
                                   "iterations rows.csv "})
    {
        const std::string command = call.substr(0, call.find(' '));
        for (const std::string& option : TextOptions(Run(command + " --help").out))
        {
            // fairness has its --control already.
            const bool given = call.find(option + " ") != std::string::npos;
            for (const std::string& empty : {option + "= --json", option + " ''"})
            {
                if (given && empty.back() == '\'')
                {
                    continue;
                }
                const Call end = Run(call + empty);
                EXPECT_EQ(end.code, 2) << call << empty;
                EXPECT_THAT(end.err, HasSubstr(": the value is empty\n  allowed: "))
                    << call << empty;
                EXPECT_THAT(end.err, HasSubstr("\n  remedy: give one")) << call << empty;
                EXPECT_EQ(end.out, "") << call << empty;
            }
            options++;
        }
    }
    // What has to be given, and arguments without a name.
    for (const std::string& call : {"schedule --name '' " + times,
                                    std::string("schedule --name= ") + times,
                                    std::string("run ''"),
                                    std::string("collective '' --machine dgx-h100")})
    {
        const Call end = Run(call);
        EXPECT_EQ(end.code, 2) << call;
        EXPECT_THAT(end.err, HasSubstr(": the value is empty\n")) << call;
    }
    EXPECT_THAT(Run("explore ''").err, Not(HasSubstr("leave")));
    // --from DB stands in its place.
    EXPECT_THAT(Run("run ''").err, HasSubstr("give one, or leave STUDY out"));
    EXPECT_THAT(Run("collective study.yaml --like ''").err,
                HasSubstr("error: --like: the value is empty"));
    EXPECT_THAT(Run("show study.yaml --topology -o ''").err,
                HasSubstr("error: -o: the value is empty"));
    // collective alone has twelve.
    EXPECT_GT(options, 24U);
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

} // namespace

} // namespace scaleacross
