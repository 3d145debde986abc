// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOSS_WARNINGS_H
#define SCALEACROSS_LOSS_WARNINGS_H

#include "core/engine/run-report.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Returns a scenario without the losses of spans over which a run of it sends nothing, so that what
 * is said of losses is of those that the run meets. Of a run that does not tell of its links it is
 * the scenario as it is.
 */
Scenario WithoutIdleLosses(Scenario scenario, const RunReport& report);

/**
 * Returns what to know of a scenario whose losses are taken as an expected value (loss-delay.h):
 * where packets may overtake, a receiver tells of a loss only when more than
 * NetworkPlan::reorderTolerance later packets of the queue pair have come. Messages that too few
 * others follow wait for the timeout instead, which the expected value does not have.
 */
std::vector<std::string> WarningsOfMeanLosses(const Scenario& scenario);

/**
 * Returns what makes the packets of a network be dropped or sent again, which every engine but
 * `packet` leaves out: go-back-n where a flowlet may overtake the one before, and switches or spans
 * without pauses where, in a tier that the cluster has, nothing limits what is under way: neither
 * a control, admission, window, slots of staged copies nor outstanding writes.
 */
std::vector<std::string> WarningsOfRepeats(const Scenario& scenario);

/**
 * The longest time that a packet may wait at a lane of a span behind a full buffer:
 *
 *     min(network.spine_buffer, GPUs x what a connection may have under way) / rate of the lane
 *
 * A connection may have the least of qps x window, qps x outstanding x segment (where messages go
 * by segments) and the slots of staged copies under way, of what there is.
 *
 * Worked case: 512 MiB behind a lane of 0.83 Gb/s are 4.29e9 bits, 5.17 s. None without spans,
 * where receivers grant what is sent (credits, admission) or switches cut packets short, and with a
 * congestion control, which keeps queues far below the buffer.
 */
std::optional<Duration> LongestWait(const Scenario& scenario);

/**
 * Returns what to know where packets of a lossless network fail, or are sent again, by their
 * timeouts: NetworkPlan::Timeout() is shorter than an answer takes between the farthest GPUs, or
 * LongestWait() is longer than a queue pair waits for one, (network.retries + 1) x Timeout().
 */
std::vector<std::string> WarningsOfLongWaits(const Scenario& scenario);

/// What a network has seen until a queue pair had no answer for too long.
struct UnansweredPair
{
    uint32_t from{0}; //!< GPU that sent
    uint32_t to{0};
    Duration now;        //!< when it gave up
    uint64_t lost{0};    //!< packets that wires lost by chance
    uint64_t dropped{0}; //!< packets that found a buffer full
    Bytes peak;          //!< the most that the buffer of a switch has held
};

/**
 * Returns why a queue pair had no answer until it gave up, and what to do about it, by what has
 * happened: an event cuts NICs off for longer than it waits; else, a line for each, a timeout that
 * is shorter than an answer takes on an empty way, packets that waited behind a buffer for as long
 * as it waits (LongestWait() of what buffers have held), found one full, or were lost.
 */
std::string RetryLimitRemedy(const Scenario& scenario, const UnansweredPair& pair);

} // namespace scaleacross

#endif // SCALEACROSS_LOSS_WARNINGS_H
