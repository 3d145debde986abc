// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOSS_WARNINGS_H
#define SCALEACROSS_LOSS_WARNINGS_H

#include "core/spec/scenario.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Returns what to know of a scenario whose losses are taken as an expected value (loss-delay.h):
 * where packets may overtake, a receiver tells of a loss only when more than
 * NetworkPlan::reorderTolerance later packets of the queue pair have come. Messages that too few
 * others follow wait for the timeout instead, which the expected value does not have.
 */
std::vector<std::string> WarningsOfMeanLosses(const Scenario& scenario);

/**
 * Returns what makes the packets of a network be dropped or sent again, which every engine but
 * `packet` leaves out: go-back-n where a flowlet may overtake the one before, and switches without
 * pauses where nothing limits what is under way.
 */
std::vector<std::string> WarningsOfRepeats(const Scenario& scenario);

/**
 * The longest time that a packet may wait at a lane of a span behind a full buffer:
 *
 *     min(network.spine_buffer, GPUs x qps x network.window where there is one) / rate of the lane
 *
 * Worked case: 512 MiB behind a lane of 0.83 Gb/s are 4.29e9 bits, 5.17 s. None without spans, and
 * where receivers grant what is sent (credits, admission) or switches cut packets short.
 */
std::optional<Duration> LongestWait(const Scenario& scenario);

/// Returns what to know where LongestWait() is longer than a queue pair waits for an answer,
/// (network.retries + 1) x NetworkPlan::Timeout(): packets of a lossless network fail by it.
std::vector<std::string> WarningsOfLongWaits(const Scenario& scenario);

/// Returns why a queue pair may have had no answer until it gave up, and what to do about it.
std::string RetryLimitRemedy(const Scenario& scenario);

} // namespace scaleacross

#endif // SCALEACROSS_LOSS_WARNINGS_H
