// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/interrupt.h"

#include "cli/command-line.h"
#include "cli/engines.h"

#include <csignal>
#include <unistd.h>

namespace scaleacross
{

namespace
{

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

void
OnSignal(int /* signal */)
{
    g_interrupted = true;
}

template <size_t size>
[[noreturn]] void
EndWith(const char (&text)[size])
{
    // Whether it can be told or not.
    [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, text, size - 1);
    _exit(static_cast<int>(Exit::Interrupted));
}

void
EndOnSignal(int /* signal */)
{
    EndWith("scaleacross: interrupted; nothing is kept of what was found so far\n");
}

void
EndOnEarlySignal(int /* signal */)
{
    EndWith("scaleacross: interrupted before anything has run\n");
}

void
HandleSignals(void (*handler)(int))
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

} // namespace

const std::atomic<bool>&
CatchInterrupts()
{
    HandleSignals(OnSignal);
    return g_interrupted;
}

void
EndOnInterrupts()
{
    HandleSignals(EndOnSignal);
}

void
EndBeforeAnythingRuns()
{
    HandleSignals(EndOnEarlySignal);
}

const std::atomic<bool>*
StopFor(const std::string& engine)
{
    if (FindEngine(engine).row->starts)
    {
        return &CatchInterrupts();
    }
    EndOnInterrupts();
    return nullptr;
}

} // namespace scaleacross
