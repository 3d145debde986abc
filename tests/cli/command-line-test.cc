// SPDX-License-Identifier: GPL-2.0-only

#include "commands.h"

#include <gmock/gmock.h>
#include <string>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

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
                                  "run study.yaml --engine flow",
                                  "run study.yaml --engine packets",
                                  "run study.yaml --set plan.tp=1 plan.pp=2",
                                  "run study.yaml --no-store --db a.db",
                                  "run study.yaml --db=",
                                  "run study.yaml --time-limit 0s",
                                  "compare study.yaml --time-limit soon",
                                  "compare study.yaml --memory-limit 0B",
                                  "compare study.yaml --engines packet,packet",
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
    EXPECT_THAT(Run("run study.yaml --engine flow").err, HasSubstr("reserved"));
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

} // namespace

} // namespace scaleacross
