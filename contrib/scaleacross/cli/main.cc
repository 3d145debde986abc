// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/workers/worker-process.h"
#include "core/base/version.h"

#include <string>

int
main(int argc, char** argv)
{
    using namespace scaleacross;

    SayStarted();
    CommandLine program("How should this model be trained over these buildings, and why?",
                        "scaleacross",
                        std::string("scaleacross ") + Version() + " (" + GitCommit() + ")");
    AddExplore(program);
    AddRequire(program);
    AddSensitivity(program);
    AddRun(program);
    AddCompare(program);
    AddShow(program);
    AddMerge(program);
    AddExport(program);
    AddSlurm(program);
    AddList(program);
    AddCollective(program);
    AddSchedule(program);
    AddBench(program);
    AddFairness(program);
    AddCalibrate(program);
    AddIterations(program);
    program.AddElsewhere({"test", "build", "script", "report"},
                         "the script ./scaleacross of a checkout has it");
    return static_cast<int>(program.Run(argc, argv));
}
