// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKER_PROCESS_H
#define SCALEACROSS_WORKER_PROCESS_H

#include "cli/workers/child-process.h"
#include "core/engine/engine.h"

#include <atomic>
#include <string>
#include <vector>

namespace scaleacross
{

/// How a worker process ended.
struct WorkerEnd : ChildEnd
{
    bool started{false}; //!< the program was reached: before, loader or kernel may have had no room
};

/// Runs this same program with other arguments as RunChild() does, and throws as that.
WorkerEnd RunWorker(const std::vector<std::string>& arguments,
                    const std::string& input,
                    const RunLimits& limits,
                    const std::atomic<bool>* stop);

/// To be called first of all: in a process that RunWorker has made, tells it so.
void SayStarted();

/// Whether SayStarted() has found that RunWorker has made this process.
bool IsWorker();

} // namespace scaleacross

#endif // SCALEACROSS_WORKER_PROCESS_H
