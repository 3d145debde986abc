// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHILD_PROCESS_H
#define SCALEACROSS_CHILD_PROCESS_H

#include "core/engine/engine.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// A program as a process of its own.
struct ChildProgram
{
    std::string file;                   //!< its path, which no PATH is searched for
    std::vector<std::string> arguments; //!< the name that it is called by included
    std::vector<std::string> variables; //!< "NAME=VALUE", in front of this program's environment
    size_t mostOutput{SIZE_MAX};        //!< bytes on standard output, after which it is killed
    size_t keptError{SIZE_MAX};         //!< the last bytes of standard error that are kept
};

/// How a process ended.
struct ChildEnd
{
    enum class How
    {
        Exited,
        Signalled,
        TimedOut,
        Stopped, //!< on request
        TooLong  //!< its output
    };

    How how{How::Exited};
    int code{0}; //!< exit code or signal
    std::string out;
    std::string err;
};

/**
 * Runs a program with `input` on its standard input, and collects what it prints.
 *
 * The input is a file in memory: a child that reads none of it, or ends before it is through, holds
 * nobody up. The child has its own process group, so that ctrl-C reaches this program only, and is
 * killed when the calling thread ends. Killed with its group: past the wall time, once `stop` (if
 * given) is set, beyond mostOutput, and what of the group is left when the child itself has ended:
 * that may hold the pipes open for ever. Several threads may call this.
 *
 * Throws std::system_error if no process can be started; a file that cannot be executed is one that
 * exits with 127.
 */
ChildEnd RunChild(const ChildProgram& program,
                  const std::string& input,
                  const RunLimits& limits,
                  const std::atomic<bool>* stop);

} // namespace scaleacross

#endif // SCALEACROSS_CHILD_PROCESS_H
