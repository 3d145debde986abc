// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEND_PROGRESS_H
#define SCALEACROSS_SEND_PROGRESS_H

#include <cstdint>

namespace scaleacross
{

/// How far one direction of a queue pair has come, by packet sequence number.
struct SendProgress
{
    uint64_t sent{0};         //!< before it all have been sent
    uint64_t arrived{0};      //!< before it all have arrived
    uint64_t acknowledged{0}; //!< before it all are known to have arrived
    /// Repetitions, timeouts and refusals for want of a receive so far: while it changes, nothing
    /// is steady.
    uint64_t troubles{0};
    int64_t waitsUntil{0}; //!< ps: what it does until then depends on the clock
    bool bounded{false};   //!< a window or a congestion control may hold it back
};

} // namespace scaleacross

#endif // SCALEACROSS_SEND_PROGRESS_H
