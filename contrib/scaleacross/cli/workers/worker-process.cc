// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/worker-process.h"

#include <cstdlib>
#include <iostream>

namespace scaleacross
{

namespace
{

/// What a worker has in its environment, and what it says on standard error for it.
const char* const g_workerVariable = "SCALEACROSS_WORKER";
const char g_started = '\n';

bool g_isWorker = false;

} // namespace

WorkerEnd
RunWorker(const std::vector<std::string>& arguments,
          const std::string& input,
          const RunLimits& limits,
          const std::atomic<bool>* stop)
{
    ChildProgram program;
    program.file = "/proc/self/exe";
    program.arguments = {"scaleacross"};
    program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
    program.variables = {std::string(g_workerVariable) + "=1"};
    WorkerEnd end;
    static_cast<ChildEnd&>(end) = RunChild(program, input, limits, stop);
    end.started = !end.err.empty() && end.err.front() == g_started;
    end.err.erase(0, end.started ? 1 : 0);
    return end;
}

void
SayStarted()
{
    if (std::getenv(g_workerVariable) != nullptr)
    {
        g_isWorker = true;
        unsetenv(g_workerVariable);
        std::cerr << g_started << std::flush;
    }
}

bool
IsWorker()
{
    return g_isWorker;
}

} // namespace scaleacross
