// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_REORDERING_H
#define SCALEACROSS_REORDERING_H

#include <cstdint>
#include <string>

namespace scaleacross
{

/// What the ends of a queue pair make of packets that overtake each other (RdmaQueuePair has the
/// attributes).
struct Reordering
{
    bool selective{false};       //!< RetransmissionMode is SelectiveRepeat
    uint64_t tolerance{0};       //!< ReorderTolerance, packets
    uint64_t outOfOrderLimit{0}; //!< OutOfOrderLimit, packets
};

/**
 * Throws ConfigError(where, ...) unless a queue pair bears packets that take several paths: with
 * go-back-N, or a tolerance of 0, each one that is overtaken counts as lost; with a limit below the
 * tolerance the receiver throws away what is ahead, which is then repeated. `cause` says what makes
 * them overtake: "random spray lets packets overtake each other".
 */
void CheckTolerates(const std::string& where,
                    const std::string& cause,
                    const Reordering& reordering);

} // namespace scaleacross

#endif // SCALEACROSS_REORDERING_H
