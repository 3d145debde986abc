// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_INTERRUPT_H
#define SCALEACROSS_INTERRUPT_H

#include <atomic>
#include <string>

namespace scaleacross
{

/**
 * From now on the first SIGINT or SIGTERM only sets the flag that is returned; the second one ends
 * the program as if this had never been called.
 */
const std::atomic<bool>& CatchInterrupts();

/// From now on SIGINT and SIGTERM end the program at once, with Exit::Interrupted and a word of it:
/// for what keeps nothing of what it has begun.
void EndOnInterrupts();

/// The same for what has not begun yet, until one of the others is called.
void EndBeforeAnythingRuns();

/// That flag for an engine that has processes of its own, which shall end with this one; nullptr
/// for others, for which EndOnInterrupts().
const std::atomic<bool>* StopFor(const std::string& engine);

} // namespace scaleacross

#endif // SCALEACROSS_INTERRUPT_H
