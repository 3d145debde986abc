// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SEND_PROGRESS_H
#define SCALEACROSS_SEND_PROGRESS_H

#include <cstdint>

namespace scaleacross
{

/// How far one direction of a queue pair has come, by packet sequence number, and what holds it.
struct SendProgress
{
    uint64_t sent{0};    //!< before it all have been sent
    uint64_t arrived{0}; //!< before it all have arrived
    uint64_t acked{0};   //!< before it all are acknowledged
    /// Repetitions, timeouts, refusals for want of a receive, and CNPs so far: while it changes,
    /// nothing is steady.
    uint64_t troubles{0};
    uint64_t window{0};   //!< bytes or packets that may be unacknowledged, to see it change
    uint64_t rate{0};     //!< bit/s that it may send by
    bool bounded{false};  //!< the window is less than what sequence numbers bear
    bool restless{false}; //!< a congestion control may change what it may send
};

} // namespace scaleacross

#endif // SCALEACROSS_SEND_PROGRESS_H
