// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_INTERRUPT_H
#define SCALEACROSS_INTERRUPT_H

#include <atomic>

namespace scaleacross
{

/**
 * From now on the first SIGINT or SIGTERM only sets the flag that is returned; the second one ends
 * the program as if this had never been called.
 */
const std::atomic<bool>& CatchInterrupts();

} // namespace scaleacross

#endif // SCALEACROSS_INTERRUPT_H
