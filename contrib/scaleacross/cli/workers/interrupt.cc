// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/interrupt.h"

#include "cli/engines.h"

#include <csignal>

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

} // namespace

const std::atomic<bool>&
CatchInterrupts()
{
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return g_interrupted;
}

const std::atomic<bool>*
StopFor(const std::string& engine)
{
    return FindEngine(engine).row->starts ? &CatchInterrupts() : nullptr;
}

} // namespace scaleacross
