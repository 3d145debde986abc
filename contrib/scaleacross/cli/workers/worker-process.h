// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORKER_PROCESS_H
#define SCALEACROSS_WORKER_PROCESS_H

#include "core/engine/engine.h"

#include <atomic>
#include <string>
#include <vector>

namespace scaleacross
{

/// How a worker process ended.
struct WorkerEnd
{
    enum class How
    {
        Exited,
        Signalled,
        TimedOut,
        Stopped //!< on request
    };

    How how{How::Exited};
    int code{0};         //!< exit code or signal
    bool started{false}; //!< the program was reached: before, loader or kernel may have had no room
    std::string out;
    std::string err;
};

/**
 * Runs this same program with other arguments, and `input` on its standard input, and collects what
 * it prints.
 *
 * The child has its own process group, so that ctrl-C reaches this program only, and is killed when
 * the calling thread ends. Killed as well: past the wall time, and once `stop` (if given) is set.
 * Throws std::system_error if no process can be started.
 */
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
